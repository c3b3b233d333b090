package kerasbert.core.file

import java.nio.ByteBuffer
import java.nio.ByteOrder
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test

class FlatBufferTest {
    private val bytes = ByteBuffer.allocate(48).order(ByteOrder.LITTLE_ENDIAN).apply {
        putInt(0, 20) // the root
        for ((slot, value) in listOf(12, 20, 4, 0, 8, 12).withIndex()) putShort(4 + 2 * slot, value.toShort()) // its vtable: slots 4, 8 and 10
        putInt(20, 20 - 4) // back to the vtable
        putInt(24, -7) // slot 4
        putInt(28, 8) // slot 8: a vector at 36
        putInt(32, 4) // slot 10: a table at 36, which is none
        putInt(36, 2)
        putInt(40, 11)
        putInt(44, 12)
    }

    private fun root() = FlatBuffer(bytes).root

    private fun fault(block: () -> Unit): String = assertThrows(DamagedException::class.java, block).message.orEmpty()

    @Test
    fun `fields are read by their slot, and missing ones have defaults`() {
        assertEquals(-7, root().int32(4))
        assertEquals(0xFFFF_FFF9L, root().uint32(4))
        assertEquals(0, root().int32(6))
        assertEquals(0, root().int32(40))
        assertArrayEquals(intArrayOf(11, 12), root().int32s(8))
        assertEquals(0, root().int32s(6).size)
        assertNull(root().vector(6, 4))
        assertEquals("", root().text(6))
        assertEquals(0, root().tables(6).size)
        assertNull(root().table(6))
    }

    @Test
    fun `places outside of the file are refused`() {
        val buffer = FlatBuffer(bytes)
        for (place in listOf(-1L, 48L, 1L shl 32, Long.MAX_VALUE)) assertTrue("outside the file" in fault { buffer.inside(place) })
        assertEquals(47, buffer.inside(47))
        for (place in listOf(-1, 45, 48, Int.MAX_VALUE)) assertTrue("outside the file" in fault { buffer.int32(place) })
        assertTrue("outside the file" in fault { buffer.byte(48) })
        assertTrue("past the end" in fault { buffer.text(40, 9) })
        assertTrue("past the end" in fault { buffer.text(40, -1) })
        bytes.putInt(0, -4)
        assertTrue("an offset to byte 4294967292" in fault { FlatBuffer(bytes).root })
    }

    @Test
    fun `a vector that is longer than the file is refused`() {
        for (count in listOf(3, 1 shl 20, Int.MAX_VALUE, -1)) {
            bytes.putInt(36, count)
            assertTrue("past the end" in fault { root().int32s(8) })
        }
        bytes.putInt(36, 2)
        assertTrue("entry 2 of 2" in fault { root().tables(8)[2] })
        assertTrue("entry -1 of 2" in fault { root().tables(8)[-1] })
        bytes.putInt(40, 1 shl 30)
        assertTrue("an offset to byte 1073741864" in fault { root().tables(8)[0] })
    }

    @Test
    fun `a long name is refused before it is read`() {
        val large = ByteBuffer.allocate(1 shl 18).order(ByteOrder.LITTLE_ENDIAN)
        for (place in 0 until 36 step 4) large.putInt(place, bytes.getInt(place))
        large.putInt(36, (1 shl 16) + 1)
        assertTrue("a name of 65537 bytes" in fault { FlatBuffer(large).root.text(8) })
    }
}
