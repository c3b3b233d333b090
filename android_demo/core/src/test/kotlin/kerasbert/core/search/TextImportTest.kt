package kerasbert.core.search

import kerasbert.core.assertRefused
import org.junit.Assert.assertEquals
import org.junit.Test

class TextImportTest {
    private fun read(text: String, name: String) = TextImport.read(text.toByteArray(), name)

    @Test
    fun `a text file has one text a line`() {
        val import = read("\uFEFFone\r\n\n  two, \"2\"  \n\u00e9\u6771\uD83D\uDE00\nlast", "a.txt")
        assertEquals(emptyList<String>(), import.columns)
        assertEquals(listOf("one", "two, \"2\"", "\u00e9\u6771\uD83D\uDE00", "last"), import.texts())
    }

    @Test
    fun `a table has columns, and cells in quotes`() {
        val import = read("id,text,\"note, long\"\n1,\"a \"\"b\"\", c\nd\",x\r\n2,plain,\n\n3,\"\",y\n", "a.CSV")
        assertEquals(listOf("id", "text", "note, long"), import.columns)
        assertEquals(listOf("1", "2", "3"), import.texts(0))
        assertEquals(listOf("a \"b\", c\nd", "plain"), import.texts(1))
        assertEquals(1, import.likeliestColumn)
    }

    @Test
    fun `the delimiter is the one of the header`() {
        assertEquals(listOf("b, c"), read("x;y\na;b, c", "a.csv").texts(1))
        assertEquals(listOf("b"), read("x\ty\na\tb", "a.tsv").texts(1))
        assertEquals(listOf("a b"), read("text\na b\n", "a.csv").texts(0))
    }

    @Test
    fun `rows may lack cells, and quotes may be misplaced`() {
        val import = read("x,y\na\nb,\"c\"d\ne,f\"g\n", "a.csv")
        assertEquals(listOf("a", "b", "e"), import.texts(0))
        assertEquals(listOf("cd", "f\"g"), import.texts(1))
    }

    @Test
    fun `files that hold no texts are refused`() {
        assertRefused("expected texts in a.txt") { read("\n \n", "a.txt") }
        assertRefused("expected texts in a.csv") { read("x,y\n", "a.csv") }
        assertRefused("in the column 'y'") { read("x,y\na,\n", "a.csv").texts(1) }
        assertRefused("expected UTF-8 in a.txt") { TextImport.read(byteArrayOf(97, -1, 98), "a.txt") }
        assertRefused("a quote at the end of a cell, received none in a.csv, line 2") { read("x\n\"a\nb\nc", "a.csv") }
        assertRefused("at most 200000 texts") { read("a\n".repeat(200_001), "a.txt") }
        assertRefused("at most 64 MB") { TextImport.read(ByteArray((64 shl 20) + 1), "a.txt") }
    }
}
