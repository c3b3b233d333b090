package kerasbert.core.tasks

import kerasbert.core.assertRefused
import kerasbert.core.file.Json
import kerasbert.core.file.TaskType
import kerasbert.core.model.FakeEngine
import kerasbert.core.model.idOf
import kerasbert.core.model.metadataOf
import kerasbert.core.model.modelOf
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Test

class TextTasksTest {
    private fun record(prediction: Prediction) = Json.write(prediction.record())

    @Test
    fun `the likeliest class of a text`() {
        val engine = FakeEngine { mapOf("probabilities" to floatArrayOf(0.25f, 0.5f, 0.25f)) }
        val task = Classification(modelOf(metadataOf(TaskType.SINGLE_LABEL, labels = listOf("n", "p", "o")), engine))
        val prediction = task.classify("a b")
        assertEquals("p", prediction.label)
        assertEquals(0.5f, prediction.score, 0f)
        assertEquals(ClassProbability("o", 0.25f), prediction.classes[2])
        assertFalse(prediction.isCut)
        assertEquals(
            "{\"text\": \"a b\", \"label\": \"p\", \"score\": 0.5, \"probabilities\": {\"n\": 0.25, \"p\": 0.5, \"o\": 0.25}}",
            record(prediction),
        )
        assertEquals(listOf("[CLS]", "a", "b", "[SEP]").map(::idOf), engine.runs.last().ids)
    }

    @Test
    fun `of equal classes the first one, and numbers where there are no labels`() {
        val engine = FakeEngine { mapOf("probabilities" to floatArrayOf(0.25f, 0.375f, 0.375f)) }
        assertEquals("1", Classification(modelOf(metadataOf(TaskType.SINGLE_LABEL), engine)).classify("a").label)
    }

    @Test
    fun `a text whose best class is not likely enough gets the fallback`() {
        val engine = FakeEngine { mapOf("probabilities" to floatArrayOf(0.5f, 0.5f)) }
        fun classify(below: Double): ClassPrediction {
            val settings = mapOf("fallback" to "oos", "fallback_below" to below)
            return Classification(modelOf(metadataOf(TaskType.SINGLE_LABEL, labels = listOf("n", "p"), settings = settings), engine)).classify("a")
        }
        assertEquals("n", classify(0.5).label)
        val prediction = classify(0.51)
        assertEquals(listOf("oos", 0.5f, 2), listOf(prediction.label, prediction.score, prediction.classes.size))
    }

    @Test
    fun `a pair is one row with two types`() {
        val engine = FakeEngine { mapOf("probabilities" to floatArrayOf(1f, 0f)) }
        val task = Classification(modelOf(metadataOf(TaskType.SINGLE_LABEL, labels = listOf("n", "p")), engine))
        val prediction = task.predict(Example.Pair("a", "b c"))
        assertTrue(record(prediction).startsWith("{\"text\": \"a\", \"pair\": \"b c\", \"label\": \"n\""))
        assertEquals(listOf("[CLS]", "a", "[SEP]", "b", "c", "[SEP]").map(::idOf), engine.runs.last().ids)
        assertArrayEquals(intArrayOf(0, 0, 0, 1, 1, 1, 0, 0), engine.runs.last().inputs["token_type_ids"])
    }

    @Test
    fun `a long text is cut`() {
        val engine = FakeEngine { mapOf("probabilities" to floatArrayOf(1f, 0f)) }
        val task = Classification(modelOf(metadataOf(TaskType.SINGLE_LABEL), engine))
        assertTrue(task.classify("a b c d e a b c").isCut)
        assertEquals(8, engine.runs.last().ids.size)
        assertTrue(task.classify("a b c d e", "a b c d").isCut)
        assertFalse(task.classify("a b c d e a").isCut)
    }

    @Test
    fun `classes of at least one half`() {
        val engine = FakeEngine { mapOf("probabilities" to floatArrayOf(0.5f, 0.49f, 0.75f)) }
        val task = LabelSetClassification(modelOf(metadataOf(TaskType.MULTI_LABEL, labels = listOf("x", "y", "z")), engine))
        assertEquals(listOf("x", "z"), task.classify("a").labels)
        assertTrue(record(task.classify("a")).startsWith("{\"text\": \"a\", \"labels\": [\"x\", \"z\"], \"probabilities\": {\"x\": 0.5"))
    }

    @Test
    fun `a score`() {
        val engine = FakeEngine { mapOf("score" to floatArrayOf(3.25f)) }
        val task = Regression(modelOf(metadataOf(TaskType.REGRESSION), engine))
        assertEquals("{\"text\": \"a\", \"pair\": \"b\", \"score\": 3.25}", record(task.score("a", "b")))
    }

    @Test
    fun `vectors, and the cosine of two`() {
        val engine = FakeEngine { run -> mapOf("embedding" to if (idOf("a") in run.ids) floatArrayOf(3f, 4f) else floatArrayOf(0f, 2f)) }
        val task = SentenceEncoding(modelOf(metadataOf(TaskType.EMBEDDING), engine))
        assertEquals("{\"text\": \"a\", \"vector\": [3.0, 4.0]}", record(task.encode("a")))
        val similarity = task.compare("a", "b")
        assertEquals(0.8, similarity.cosine, 1e-12)
        assertTrue(record(task.predict(Example.Pair("a", "b"))).endsWith("\"vectors\": [[3.0, 4.0], [0.0, 2.0]]}"))
        assertEquals(2, engine.runs.takeLast(2).map { it.ids.size }.count { it == 3 })
    }

    @Test
    fun `prompts stand before texts, as Python chooses them`() {
        fun ids(settings: Map<String, Any?>, encode: SentenceEncoding.() -> VectorPrediction): List<Int> {
            val engine = FakeEngine { mapOf("embedding" to floatArrayOf(3f, 4f)) }
            val prediction = SentenceEncoding(modelOf(metadataOf(TaskType.EMBEDDING, settings = settings), engine)).encode()
            assertEquals(Example.Single("a"), prediction.example)
            return engine.runs.single().ids.drop(1).dropLast(1)
        }
        val e5 = mapOf("prompts" to mapOf("query" to "b ", "document" to "", "passage" to "c "), "default_prompt_name" to "query")
        assertEquals(listOf("b", "a").map(::idOf), ids(e5) { encode("a") })
        assertEquals(listOf("b", "a").map(::idOf), ids(e5) { encodeQuery("a") })
        assertEquals(listOf("c", "a").map(::idOf), ids(e5) { encodeDocument("a") })
        val query = mapOf("prompts" to mapOf("query" to "b "))
        assertEquals(listOf("a").map(::idOf), ids(query) { encode("a") })
        assertEquals(listOf("b", "a").map(::idOf), ids(query) { encodeQuery("a") })
        assertEquals(listOf("a").map(::idOf), ids(query) { encodeDocument("a") })
        val other = mapOf("prompts" to mapOf("sts" to "d ", "query" to ""), "default_prompt_name" to "sts")
        for (encode in listOf(SentenceEncoding::encode, SentenceEncoding::encodeQuery, SentenceEncoding::encodeDocument)) {
            assertEquals(listOf("d", "a").map(::idOf), ids(other) { encode(this, "a") })
            assertEquals(listOf("a").map(::idOf), ids(emptyMap()) { encode(this, "a") })
        }
    }

    @Test
    fun `vectors of texts with another prompt have another name`() {
        fun name(vararg prompts: Pair<String, String>) =
            SentenceEncoding(modelOf(metadataOf(TaskType.EMBEDDING, settings = mapOf("prompts" to mapOf(*prompts))), FakeEngine { emptyMap() }))
                .vectorsName
        assertEquals("", name())
        assertEquals("", name("query" to "b ")) // nothing stands before the texts
        assertEquals(3, setOf(name(), name("passage" to "c "), name("passage" to "d ")).size)
    }

    @Test
    fun `cosines of zero and of huge vectors`() {
        assertEquals(1.0, cosine(FloatArray(2), FloatArray(2)), 0.0)
        assertEquals(0.0, cosine(FloatArray(2), floatArrayOf(1f, 0f)), 0.0)
        assertEquals(-1.0, cosine(floatArrayOf(3e38f, 3e38f), floatArrayOf(-1e-38f, -1e-38f)), 1e-9)
    }

    @Test
    fun `the likeliest choice`() {
        val engine = FakeEngine { run -> mapOf("logits" to floatArrayOf(if (idOf("c") in run.ids) 2f else 1f)) }
        val task = MultipleChoice(modelOf(metadataOf(TaskType.MULTIPLE_CHOICE), engine))
        val prediction = task.choose("a", listOf("b", "c", "d"))
        assertEquals(1, prediction.choice)
        assertEquals("c", prediction.text)
        assertEquals(Math.E / (Math.E + 2), prediction.probabilities[1].toDouble(), 1e-6)
        val start = "{\"prompt\": \"a\", \"choices\": [\"b\", \"c\", \"d\"], \"choice\": 1, \"text\": \"c\", \"probabilities\": [0.2"
        assertTrue(record(prediction).startsWith(start))
        assertEquals(listOf("[CLS]", "a", "[SEP]", "b", "[SEP]").map(::idOf), engine.runs[0].ids)
        assertRefused("received none") { task.choose("a", emptyList()) }
    }

    @Test
    fun `numbers that are not finite are told`() {
        val engine = FakeEngine { mapOf("probabilities" to floatArrayOf(Float.NaN, 1f)) }
        val task = Classification(modelOf(metadataOf(TaskType.SINGLE_LABEL), engine))
        assertFalse(task.classify("a").isFinite)
        assertEquals("0", task.classify("a").label) // as NumPy's argmax
        assertTrue("null" in record(task.classify("a")))
    }

    @Test
    fun `a task refuses models and examples of another one`() {
        val engine = FakeEngine { mapOf("probabilities" to floatArrayOf(1f, 0f)) }
        val model = modelOf(metadataOf(TaskType.SINGLE_LABEL), engine)
        assertRefused("task type embedding") { SentenceEncoding(model) }
        assertRefused("received a question with a context") { taskOf(model).predict(Example.Question("a", "b")) }
        assertRefused("received a prompt with choices") { taskOf(model).predict(Example.Prompt("a", listOf("b"))) }
    }
}
