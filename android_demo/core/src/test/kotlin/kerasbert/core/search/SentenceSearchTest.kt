package kerasbert.core.search

import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.File
import java.util.Base64
import java.util.Random
import kerasbert.core.KerasBertException
import kerasbert.core.assertRefused
import kerasbert.core.file.Json
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test

class SentenceSearchTest {
    private val texts = List(20) { "text $it \uD83D\uDE00" }

    private val file = File(System.getProperty("kerasbert.testdata") ?: "../testdata", "index.json")
    private val cases get() = (Json.parse(file.readText(), file.name) as List<*>).map { it as Map<*, *> }

    private fun floats(numbers: Any?) = (numbers as List<*>).map { (it as Number).toFloat() }.toFloatArray()

    private fun encode(text: String): FloatArray = Random(text.hashCode().toLong()).let { draw -> FloatArray(16) { draw.nextGaussian().toFloat() } }

    private fun built(): SentenceSearch = SentenceSearch.build("model", texts, ::encode)!!

    private fun bytes(search: SentenceSearch) = ByteArrayOutputStream().also { IndexFile.write(search, it) }.toByteArray()

    private fun read(bytes: ByteArray, model: String = "model") = IndexFile.read(ByteArrayInputStream(bytes), model)

    @Test
    fun `texts are found, and progress is told`() {
        val done = ArrayList<Pair<Int, Int>>()
        val search = SentenceSearch.build("model", texts, ::encode) { one, all -> done.add(one to all) }!!
        assertEquals((1..20).map { it to 20 }, done)
        assertEquals(20L * (16 + 4), search.vectorBytes)
        val matches = search.search(encode("text 7 \uD83D\uDE00"), 3)
        assertEquals(7, matches[0].index)
        assertEquals(texts[7], matches[0].text)
        assertEquals(1.0, matches[0].score.toDouble(), 0.01)
        assertEquals(3, matches.size)
    }

    @Test
    fun `building can be stopped`() {
        var done = 0
        assertNull(SentenceSearch.build("model", texts, ::encode) { one, _ -> (one < 5).also { done = one } })
        assertEquals(5, done)
        assertRefused("at least one text") { SentenceSearch.build("model", emptyList(), ::encode) }
    }

    @Test
    fun `texts are added and removed`() {
        val search = built()
        search.add("new", encode("new"))
        search.removeAt(0)
        assertEquals(20, search.size)
        val found = search.search(encode("new"), 1).single()
        assertEquals(Match(19, "new", found.score, "20", 0), found)
        assertTrue(search.search(encode("text 0 \uD83D\uDE00"), 20).none { it.text == "text 0 \uD83D\uDE00" })
    }

    @Test
    fun `a saved index finds the same`() {
        val search = built()
        val read = read(bytes(search))
        assertEquals(search.texts, read.texts)
        for (text in texts) assertEquals(search.search(encode(text), 5), read.search(encode(text), 5))
        read.add("more", encode("more"))
        assertEquals(21, read(bytes(read)).size)
    }

    @Test
    fun `an index of another model, version or kind is refused`() {
        val bytes = bytes(built())
        assertRefused("one of another model") { read(bytes, "other") }
        assertRefused("another file") { read("PK\u0003\u0004 and more".toByteArray()) }
        assertRefused("one of version 7") { read(bytes.clone().also { it[4] = 7 }) }
        assertRefused("cut short") { read(ByteArray(0)) }
    }

    @Test
    fun `every damaged index is refused`() {
        val bytes = bytes(built())
        for (size in bytes.indices) assertRefused("build the index again") { read(bytes.copyOf(size)) }
        val draw = Random(2)
        for (place in bytes.indices) {
            val changed = bytes.clone().also { it[place] = (it[place] + 1 + draw.nextInt(255)).toByte() }
            try {
                read(changed)
                throw AssertionError("a change of byte $place was not seen")
            } catch (_: KerasBertException) {
                // as it should be
            }
        }
    }

    @Test
    fun `a length of 4 GB takes no memory`() {
        val bytes = bytes(built())
        for (place in listOf(16, 20)) {
            val changed = bytes.clone()
            for (offset in 0..3) changed[place + offset] = if (offset == 3) 0x7F else -1
            assertRefused("cut short") { read(changed) }
        }
    }

    @Test
    fun `indexes of Python are read, searched, added to and written as there`() {
        for (golden in cases) {
            val file = Base64.getDecoder().decode(golden["file"] as String)
            val search = read(file, "0123456789abcdef")
            assertArrayEquals(file, bytes(search))
            val expected = (golden["found"] as List<*>).map { it as List<*> }
            (golden["queries"] as List<*>).forEachIndexed { number, query ->
                val found = search.search(floats(query), 5)
                assertEquals(expected[number].size, found.size)
                for ((match, wanted) in found.zip(expected[number].map { it as List<*> })) {
                    val (index, score, text, document, start) = wanted
                    assertEquals(listOf((index as Number).toInt(), text, document), listOf(match.index, match.text, match.document))
                    assertEquals((start as Number).toInt(), match.start)
                    assertEquals((score as Number).toDouble(), match.score.toDouble(), 1e-7)
                }
            }
            val (text, vector) = golden["added"] as List<*>
            search.add(text as String, floats(vector))
            assertArrayEquals(Base64.getDecoder().decode(golden["file_after"] as String), bytes(search))
        }
    }
}
