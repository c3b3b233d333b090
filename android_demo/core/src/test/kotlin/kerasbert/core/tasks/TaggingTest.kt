package kerasbert.core.tasks

import kerasbert.core.file.Json
import kerasbert.core.file.TaskType
import kerasbert.core.model.FakeEngine
import kerasbert.core.model.WORDS
import kerasbert.core.model.idOf
import kerasbert.core.model.metadataOf
import kerasbert.core.model.modelOf
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test

private val LABELS = listOf("O", "B-X", "I-X", "B-Y", "I-Y")

class TaggingTest {
    /** Tags that depend on the token alone. */
    private val tagOf = mapOf("a" to "B-X", "b" to "I-X", "c" to "B-Y", "10" to "B-Y", "\uD83D\uDE00" to "B-X")
    private var probability = { _: Int, _: Int -> 0.75f } // of the tag, by position in the row and token id
    private val engine = FakeEngine { run ->
        val values = FloatArray(run.length * LABELS.size)
        run.ids.forEachIndexed { place, id ->
            val tag = LABELS.indexOf(tagOf[WORDS[id]] ?: "O")
            values[place * LABELS.size + tag] = probability(place, id)
        }
        mapOf("probabilities" to values)
    }

    private fun task(settings: Map<String, Any?> = emptyMap(), labels: List<String> = LABELS) =
        Tagging(modelOf(metadataOf(TaskType.TAGGING, settings = settings, labels = labels), engine))

    @Test
    fun `words, tags and entities`() {
        val prediction = task().tag("e a b, c")
        assertEquals(listOf("e", "a", "b", ",", "c"), prediction.words.map { it.text })
        assertEquals(listOf("O", "B-X", "I-X", "O", "B-Y"), prediction.words.map { it.tag })
        assertEquals(listOf(Entity("X", "a b", 2, 5, 0.75), Entity("Y", "c", 7, 8, 0.75)), prediction.entities)
        assertEquals(
            "{\"text\": \"c\", \"words\": [\"c\"], \"tags\": [\"B-Y\"], \"entities\": [{\"label\": \"Y\", \"text\": \"c\", \"start\": 0, \"end\": 1, " +
                "\"score\": 0.75}]}",
            Json.write(task().tag("c").record()),
        )
    }

    @Test
    fun `entities are UTF-16 units, and code points in the record`() {
        val prediction = task().tag("\uD83D\uDE00\uD83D\uDE00 \uD83D\uDE00 c") // the first word is unknown, the second is not
        assertEquals(listOf(5 to 7, 8 to 9), prediction.entities.map { it.start to it.end })
        val record = Json.write(prediction.record())
        assertTrue(record, "\"start\": 3, \"end\": 4" in record && "\"start\": 5, \"end\": 6" in record)
    }

    @Test
    fun `a word is classified on its first token`() {
        assertEquals(listOf("B-X"), task().tag("as").words.map { it.tag })
        assertEquals(listOf("[CLS]", "a", "##s", "[SEP]").map(::idOf), engine.runs.last().ids)
    }

    @Test
    fun `each word of a long text has the tag of the window with most context`() {
        // Rows have room for six tokens, and start every three: the words 0..5, 3..8, 6..11 and 9..11.
        probability = { place, _ -> place / 10f } // shows the position in the row
        val words = List(12) { if (it % 2 == 0) "a" else "e" }
        val done = ArrayList<Pair<Int, Int>>()
        val prediction = task(mapOf("stride" to 3L)).tag(words.joinToString(" ")) { one, all -> done += one to all }
        assertEquals(listOf(1 to 3, 2 to 3, 3 to 3), done)
        assertEquals(words.map { if (it == "a") "B-X" else "O" }, prediction.words.map { it.tag })
        // Words 0 to 4 are tagged in the first window (4 has one word behind it in both, the first of equals counts), 5 to 7 in the second.
        val places = listOf(1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5, 6)
        assertEquals(places.map { it / 10f.toDouble() }, prediction.words.map { Math.round(it.score * 10) / 10.0 })
    }

    @Test
    fun `words that share a token share its tag`() {
        val tags = Tags(LABELS)
        assertEquals(listOf("B-X", "I-X", "I-X"), tags.expand("B-X", 3))
        assertEquals(listOf("O", "O"), tags.expand("O", 2))
        assertEquals(listOf("B-X", "I-X", "E-X"), Tags(listOf("O", "S-X", "E-X")).expand("S-X", 3))
        assertEquals(listOf("NN", "NN"), Tags(listOf("NN", "VB")).expand("NN", 2))
        val bmes = Tags(listOf("0", "B-X", "M-X", "E-X", "S-X"))
        assertEquals(listOf("B-X", "M-X", "E-X"), bmes.expand("S-X", 3))
        assertEquals("0", bmes.outside)
        assertEquals(listOf(0 to 3, 4 to 5), bmes.spans(listOf("B-X", "M-X", "E-X", "0", "S-X")).map { it.first to it.end })
    }

    @Test
    fun `entities of all schemes, and of invalid tags`() {
        fun spans(vararg tags: String) = Tags(LABELS).spans(tags.toList()).map { "${it.label} ${it.first}-${it.end}" }
        assertEquals(listOf("X 0-2", "X 2-3"), spans("B-X", "I-X", "B-X", "O"))
        assertEquals(listOf("X 1-3"), spans("O", "I-X", "I-X", "O"))
        assertEquals(listOf("X 0-1", "Y 1-2"), spans("B-X", "I-Y"))
        assertEquals(listOf("X 0-3", "X 3-4", "X 4-5"), spans("B-X", "I-X", "E-X", "S-X", "S-X"))
        assertEquals(listOf("X 0-2", "Y 2-3"), spans("B-X", "L-X", "U-Y"))
        assertEquals(listOf("_ 0-2"), spans("B", "I"))
        assertEquals(listOf("NN 0-2"), spans("NN", "NN"))
        assertEquals(listOf("X 0-1", "X 1-2"), spans("E-X", "I-X"))
        assertEquals(emptyList<String>(), spans("O", "O"))
    }

    @Test
    fun `tags that mark no entities`() {
        val prediction = task(labels = listOf("N", "V", "P", "Q", "R")).tag("a e")
        assertEquals(listOf("V", "N"), prediction.words.map { it.tag })
        assertEquals(emptyList<Entity>(), prediction.entities)
    }

    @Test
    fun `a text without words, and words without tokens`() {
        assertEquals(emptyList<TaggedWord>(), task().tag(" \n").words)
        // A variation selector is a word to the splitter, and nothing to the tokenizer, which drops marks.
        val word = task().tag("a \u0301").words.last()
        assertEquals("O", word.tag)
        assertEquals(1.0, word.score, 0.0)
    }
}
