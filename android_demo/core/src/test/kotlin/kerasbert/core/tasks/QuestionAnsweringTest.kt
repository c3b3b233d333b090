package kerasbert.core.tasks

import kerasbert.core.assertRefused
import kerasbert.core.file.Json
import kerasbert.core.file.TaskType
import kerasbert.core.model.FakeEngine
import kerasbert.core.model.Run
import kerasbert.core.model.idOf
import kerasbert.core.model.metadataOf
import kerasbert.core.model.modelOf
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test

class QuestionAnsweringTest {
    private var noAnswer = -5f

    /** Answers start with `x` and end with `y`; `z` is a little less likely an end. */
    private val engine = FakeEngine { run ->
        mapOf("start_logits" to logits(run, mapOf("x" to 4f)), "end_logits" to logits(run, mapOf("y" to 3f, "z" to 2f)))
    }

    private fun logits(run: Run, scores: Map<String, Float>) = FloatArray(run.length) { place ->
        if (place == 0) noAnswer else if (place >= run.ids.size) 99f else scores.entries.firstOrNull { idOf(it.key) == run.ids[place] }?.value ?: 0f
    }

    private fun task(vararg settings: Pair<String, Any?>, length: Int = 12) =
        QuestionAnswering(modelOf(metadataOf(TaskType.QUESTION_ANSWERING, settings = settings.toMap(), length = length), engine))

    @Test
    fun `the best span and further ones`() {
        val prediction = task("n_best" to 3L).answer("who", "a x b y c z")
        assertEquals(Answer("x b y", 2, 7, 7.0, prediction.answer.probability), prediction.answer)
        assertEquals(listOf("x b y", "x b y c z", "x"), prediction.best.map { it.text })
        assertEquals(listOf(7.0, 6.0, 4.0), prediction.best.map { it.score })
        val total = 1 + Math.exp(-1.0) + Math.exp(-3.0)
        assertEquals(1 / total, prediction.answer.probability, 1e-12)
        assertEquals(-10.0, prediction.noAnswerScore, 0.0)
        assertEquals(1, prediction.windows)
        assertEquals(listOf("[CLS]", "who", "[SEP]", "a", "x", "b", "y", "c", "z", "[SEP]").map(::idOf), engine.runs.last().ids)
        assertEquals(listOf(0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0), engine.runs.last().inputs.getValue("token_type_ids").toList())
    }

    @Test
    fun `the record has Python's fields, and code points`() {
        val record = Json.write(task("n_best" to 1L).answer("who", "\uD83D\uDE00 x y").record())
        assertEquals(
            "{\"question\": \"who\", \"context\": \"\uD83D\uDE00 x y\", \"answer\": \"x y\", \"start\": 2, \"end\": 5, \"score\": 7.0, " +
                "\"probability\": 1.0, \"no_answer_score\": -10.0, \"best\": [{\"answer\": \"x y\", \"start\": 2, \"end\": 5, \"score\": 7.0, " +
                "\"probability\": 1.0}]}",
            record,
        )
        assertEquals(3 to 6, task().answer("who", "\uD83D\uDE00 x y").answer.let { it.start to it.end })
    }

    @Test
    fun `a span is no longer than the longest answer`() {
        assertEquals("x", task("longest_answer" to 2L, "n_best" to 1L).answer("who", "a x b y").answer.text)
        assertEquals("x b y", task("longest_answer" to 3L, "n_best" to 1L).answer("who", "a x b y").answer.text)
    }

    @Test
    fun `no answer, where the model knows it`() {
        noAnswer = 4f
        val prediction = task("no_answer" to true, "n_best" to 2L).answer("who", "a x y")
        assertEquals("", prediction.answer.text)
        assertNull(prediction.answer.start)
        assertEquals(8.0, prediction.noAnswerScore, 0.0)
        assertEquals(listOf("", "x y", "x"), prediction.best.map { it.text })
        assertEquals(prediction.best[0].probability, prediction.answer.probability, 0.0)
        assertTrue("\"answer\": \"\", \"start\": null, \"end\": null, \"score\": 8.0" in Json.write(prediction.record()))
        assertEquals("x y", task("n_best" to 2L).answer("who", "a x y").answer.text)
    }

    /** Half the score of no answer, the threshold, and the answer, whose score is 7. Python and JavaScript have the same cases. */
    @Test
    fun `the threshold is a margin, which may be negative`() {
        val margins: List<Triple<Float, Number, String>> = listOf(
            Triple(4f, 1.5, "x y"), Triple(4f, 1L, "x y"), Triple(4f, 0.5, ""), Triple(3f, 0L, "x y"), Triple(3f, -1L, "x y"),
            Triple(3f, -1.5, ""), Triple(-5f, -16.75, "x y"), Triple(-5f, -17.25, ""),
        )
        for ((half, threshold, expected) in margins) {
            noAnswer = half
            val answer = { allowed: Boolean ->
                task("no_answer" to allowed, "no_answer_threshold" to threshold).answer("who", "a x y").answer.text
            }
            assertEquals("$half $threshold", expected, answer(true))
            assertEquals("x y", answer(false))
        }
    }

    @Test
    fun `a long context is read in windows, and an answer of any of them is found`() {
        // [CLS] who [SEP] leaves room for eight tokens, and windows overlap by four.
        val words = List(30) { if (it == 21) "x" else if (it == 23) "y" else "a" }
        val done = ArrayList<Pair<Int, Int>>()
        val prediction = task("n_best" to 1L).answer("who", words.joinToString(" ")) { one, all -> done += one to all }
        assertEquals("x a y", prediction.answer.text)
        assertEquals(42, prediction.answer.start)
        assertEquals(7, prediction.windows)
        assertEquals((1..7).map { it to 7 }, done)
        assertEquals(1, task("stride" to 100L, length = 40).answer("who", words.joinToString(" ")).windows)
        assertEquals(4, task("stride" to 100L).answer("who", words.joinToString(" ")).windows)
    }

    @Test
    fun `no answer has its lowest score over all windows`() {
        val rising = FakeEngine { run ->
            val none = if (idOf("x") in run.ids) -3f else 4f
            mapOf("start_logits" to FloatArray(run.length) { if (it == 0) none else 0f }, "end_logits" to FloatArray(run.length))
        }
        val task = QuestionAnswering(modelOf(metadataOf(TaskType.QUESTION_ANSWERING, length = 12), rising))
        assertEquals(-3.0, task.answer("who", List(20) { if (it == 9) "x" else "a" }.joinToString(" ")).noAnswerScore, 0.0)
    }

    @Test
    fun `a context without tokens has no answer`() {
        val prediction = task().answer("who", "")
        assertEquals("", prediction.answer.text)
        assertEquals(listOf(""), prediction.best.map { it.text })
        assertEquals(1.0, prediction.answer.probability, 0.0)
    }

    @Test
    fun `scores that are not finite are ignored`() {
        val broken = FakeEngine { run ->
            mapOf(
                "start_logits" to FloatArray(run.length) { if (it == 4) 1f else Float.NaN },
                "end_logits" to FloatArray(run.length) { if (it == 4) Float.POSITIVE_INFINITY else 0f },
            )
        }
        val task = QuestionAnswering(modelOf(metadataOf(TaskType.QUESTION_ANSWERING, length = 12), broken))
        val prediction = task.answer("who", "a b c")
        assertEquals("b c", prediction.answer.text)
        assertEquals(0.0, prediction.noAnswerScore, 0.0)
    }

    @Test
    fun `a long question is cut to half of the row`() {
        val prediction = task().answer("a b c d e a b", "x y")
        assertTrue(prediction.isCut)
        assertEquals(listOf("[CLS]", "a", "b", "c", "d", "[SEP]", "x", "y", "[SEP]").map(::idOf), engine.runs.last().ids)
        assertRefused("rows of at least 5 tokens") { task(length = 4).answer("a", "x") }
    }
}
