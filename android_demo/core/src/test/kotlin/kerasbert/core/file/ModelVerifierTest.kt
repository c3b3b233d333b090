package kerasbert.core.file

import java.nio.ByteBuffer
import java.nio.ByteOrder
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test

class ModelVerifierTest {
    /** A model of some subgraphs that are one table, whose operators are one table as well. */
    private fun shared(subgraphs: Int, operators: Int): ByteBuffer {
        val bytes = ByteBuffer.allocate(64 + 4 * (subgraphs + operators)).order(ByteOrder.LITTLE_ENDIAN)
        fun shorts(place: Int, vararg values: Int) = values.forEachIndexed { number, value -> bytes.putShort(place + 2 * number, value.toShort()) }
        shorts(8, 10, 8, 0, 0, 4) // the vtable of the model, with the slot 8: subgraphs
        shorts(20, 12, 8, 0, 0, 0, 4) // of a subgraph, with the slot 10: operators
        shorts(32, 4, 4) // of an operator without fields
        bytes.putInt(0, 36)
        table(bytes, 36, vtable = 8)
        val subgraph = vector(bytes, 44, subgraphs)
        table(bytes, subgraph, vtable = 20)
        val operator = vector(bytes, subgraph + 8, operators)
        bytes.putInt(operator, operator - 32)
        return bytes
    }

    /** Writes a table with an offset to what follows it. */
    private fun table(bytes: ByteBuffer, place: Int, vtable: Int) {
        bytes.putInt(place, place - vtable)
        bytes.putInt(place + 4, 4)
    }

    /** Writes a vector whose entries are all the table behind it, and returns the place of that. */
    private fun vector(bytes: ByteBuffer, place: Int, count: Int): Int {
        val end = place + 4 + 4 * count
        bytes.putInt(place, count)
        for (entry in 0 until count) bytes.putInt(place + 4 + 4 * entry, end - (place + 4 + 4 * entry))
        return end
    }

    @Test
    fun `a table may be named twice`() = ModelVerifier(FlatBuffer(shared(2, 2))).verify()

    @Test(timeout = 5000)
    fun `tables that are named millions of times are refused at once`() {
        val error = assertThrows(DamagedException::class.java) { ModelVerifier(FlatBuffer(shared(100_000, 100_000))).verify() }
        assertTrue(error.message.orEmpty(), "more tables than fit" in error.message.orEmpty())
    }
}
