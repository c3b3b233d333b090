package kerasbert.core.tasks

import kerasbert.core.assertRefused
import kerasbert.core.file.Json
import kerasbert.core.file.TaskType
import kerasbert.core.model.FakeEngine
import kerasbert.core.model.WORDS
import kerasbert.core.model.fileOf
import kerasbert.core.model.idOf
import kerasbert.core.model.metadataOf
import kerasbert.core.model.TextModel
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Test

class MaskedWordsTest {
    /** Logits that favour the token before each one, then `x`. */
    private val engine = FakeEngine { run ->
        val logits = FloatArray(run.length * WORDS.size)
        for (token in 1 until run.ids.size) {
            logits[token * WORDS.size + run.ids[token - 1]] = 3f
            logits[token * WORDS.size + idOf("x")] = 2f
        }
        mapOf("logits" to logits)
    }
    private val task = MaskedWords(
        TextModel.open(fileOf(metadataOf(TaskType.MASKED_LM, settings = mapOf("top" to 2L)), width = WORDS.size)) { engine },
    )

    @Test
    fun `the words of each mask, best first`() {
        val prediction = task.fill("a [MASK] b [MASK] .")
        assertEquals(listOf(2 to 8, 11 to 17), prediction.masks.map { it.start to it.end })
        assertEquals(listOf(listOf("a", "x"), listOf("b", "x")), prediction.masks.map { mask -> mask.words.map { it.word } })
        val total = Math.exp(3.0) + Math.exp(2.0) + WORDS.size - 2
        assertEquals(Math.exp(3.0) / total, prediction.masks[0].words[0].probability.toDouble(), 1e-6)
        assertFalse(prediction.isCut)
    }

    @Test
    fun `positions are UTF-16 units, and code points in the record`() {
        val prediction = task.fill("\uD83D\uDE00 [MASK]")
        assertEquals(3, prediction.masks[0].start)
        val record = Json.write(prediction.record())
        assertTrue(record, record.startsWith("{\"text\": \"\uD83D\uDE00 [MASK]\", \"masks\": [{\"start\": 2, \"end\": 8, \"words\": [{"))
    }

    @Test
    fun `a long text is read around its masks`() {
        // Rows have room for six tokens. The masks at 9 and 11 share a row, in its middle; those at 0 and 14 have their own.
        val words = MutableList(20) { WORDS[5 + it % 5] }
        for (place in listOf(0, 9, 11, 14)) words[place] = "[MASK]"
        val prediction = task.fill(words.joinToString(" "))
        assertTrue(prediction.isCut)
        assertEquals(4, prediction.masks.size)
        assertEquals(3, engine.runs.size)
        fun row(start: Int) = listOf(idOf("[CLS]")) + words.subList(start, start + 6).map(::idOf) + idOf("[SEP]")
        assertEquals(listOf(row(0), row(7), row(11)), engine.runs.map { it.ids })
        assertEquals(listOf("[CLS]", words[8], words[10], words[13]), prediction.masks.map { it.words[0].word })
    }

    @Test
    fun `a text without a mask is refused`() {
        assertRefused("expected a text with [MASK], received none in 'a b'") { task.fill("a b") }
        assertRefused("an empty one") { task.fill(" \u00a0\n") }
    }
}
