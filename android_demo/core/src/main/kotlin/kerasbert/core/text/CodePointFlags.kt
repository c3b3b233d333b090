package kerasbert.core.text

import java.nio.ByteBuffer

private const val BLOCK_BITS = 8
private const val BLOCK = 1 shl BLOCK_BITS
private const val BLOCKS = 0x110000 shr BLOCK_BITS

/** Up to eight flags for each code point, in blocks that are shared where they are equal. */
internal class CodePointFlags private constructor(private val blocks: Array<ByteArray>) {
    /** The flags of a code point, one bit each. */
    operator fun get(codePoint: Int): Int = blocks[codePoint shr BLOCK_BITS][codePoint and BLOCK - 1].toInt()

    /** Collects the flags. */
    class Builder {
        private val blocks = arrayOfNulls<ByteArray>(BLOCKS)

        fun add(flag: Int, codePoint: Int) {
            val number = codePoint shr BLOCK_BITS
            val block = blocks[number] ?: ByteArray(BLOCK).also { blocks[number] = it }
            val place = codePoint and BLOCK - 1
            block[place] = (block[place].toInt() or flag).toByte()
        }

        fun addRanges(flag: Int, table: String): Builder {
            forEachRange(table) { first, end -> for (codePoint in first until end) add(flag, codePoint) }
            return this
        }

        fun build(): CodePointFlags {
            val distinct = HashMap<ByteBuffer, ByteArray>()
            val empty = ByteArray(BLOCK)
            return CodePointFlags(
                Array(BLOCKS) { number ->
                    val block = blocks[number] ?: empty
                    distinct.getOrPut(ByteBuffer.wrap(block)) { block }
                },
            )
        }
    }
}
