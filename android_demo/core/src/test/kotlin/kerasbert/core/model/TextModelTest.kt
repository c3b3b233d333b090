package kerasbert.core.model

import kerasbert.core.KerasBertException
import kerasbert.core.assertRefused
import kerasbert.core.file.Metadata
import kerasbert.core.file.ModelFile
import kerasbert.core.file.Port
import kerasbert.core.file.Signature
import kerasbert.core.file.TaskType
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test

class TextModelTest {
    private val engine = FakeEngine { mapOf("probabilities" to floatArrayOf(0.25f, 0.75f)) }

    private fun run(metadata: Metadata, tokens: Int): Run {
        modelOf(metadata, engine).run(Row(IntArray(tokens) { 5 + it }, IntArray(tokens) { it % 2 }))
        return engine.runs.last()
    }

    @Test
    fun `a row is padded and runs at the shortest length of the file`() {
        val metadata = metadataOf(TaskType.SINGLE_LABEL, lengths = listOf(4, 8, 16))
        for ((tokens, length) in listOf(1 to 4, 4 to 4, 5 to 8, 8 to 8, 9 to 16, 16 to 16)) {
            val run = run(metadata, tokens)
            assertEquals("serve_$length", run.signature)
            assertEquals(length, run.length)
        }
        val run = run(metadata, 3)
        assertArrayEquals(intArrayOf(5, 6, 7, 0), run.inputs["input_ids"])
        assertArrayEquals(intArrayOf(1, 1, 1, 0), run.inputs["attention_mask"])
        assertArrayEquals(intArrayOf(0, 1, 0, 0), run.inputs["token_type_ids"])
    }

    @Test
    fun `a resizable file runs at multiples of 16 up to its row length`() {
        val metadata = metadataOf(TaskType.SINGLE_LABEL, length = null)
        for ((tokens, length) in listOf(1 to 16, 16 to 16, 17 to 32, 32 to 32)) {
            val run = run(metadata, tokens)
            assertEquals("serve", run.signature)
            assertEquals(length, run.length)
        }
        assertEquals(32, modelOf(metadata, engine).length)
    }

    @Test
    fun `a file of one length runs at it, and refuses longer rows`() {
        val metadata = metadataOf(TaskType.SINGLE_LABEL)
        assertEquals(8, run(metadata, 2).length)
        assertRefused("at most 8 tokens, received 9") { run(metadata, 9) }
    }

    /** A file with three exits, and an engine whose exits have these confidences. */
    private fun exitsOf(
        confidences: List<Float>,
        threshold: Double?,
        change: (List<Signature>) -> List<Signature> = { it },
    ): Pair<TextModel, FakeEngine> {
        val metadata = metadataOf(TaskType.SINGLE_LABEL, labels = listOf("n", "p"), exits = listOf(2, 4, 6), exitThreshold = threshold)
        val hidden = Port("hidden", "float32", listOf(1, 8, 4))
        val confidence = Port("confidence", "float32", listOf(1))
        val signatures = fileOf(metadata).signatures.mapIndexed { number, each ->
            val later = mapOf("attention_mask" to each.inputs.getValue("attention_mask"), "hidden" to hidden)
            val before = each.outputs + mapOf("confidence" to confidence, "hidden" to hidden)
            Signature(each.name, if (number == 0) each.inputs else later, if (number == 2) each.outputs else before)
        }
        val engine = FakeEngine { run ->
            val number = run.signature.substringAfter("exit_").toInt()
            val answer = mapOf("probabilities" to floatArrayOf(0.1f * number, 1 - 0.1f * number))
            if (number == 3) answer
            else answer + mapOf("confidence" to floatArrayOf(confidences[number - 1]), "hidden" to FloatArray(32) { number.toFloat() })
        }
        return TextModel.open(ModelFile("fake.tflite", 1, metadata, change(signatures), null)) { engine } to engine
    }

    @Test
    fun `exits run in turn until one is confident`() {
        val cases = listOf(
            Triple(listOf(0.5f, 0.9f), 0.8, 2), Triple(listOf(0.8f, 0f), 0.8f.toDouble(), 1), Triple(listOf(0.8f, 0.5f), 0.8000001, 3),
            Triple(listOf(Float.NaN, 0.5f), 0.8, 3), Triple(listOf(1f, 1f), null, 3),
        )
        for ((confidences, threshold, ran) in cases) {
            val (model, engine) = exitsOf(confidences, threshold)
            val outputs = model.run(Row(intArrayOf(5, 6, 7), intArrayOf(0, 1, 0)))
            assertEquals(listOf("exit_1", "exit_2", "exit_3").take(ran), engine.runs.map { it.signature })
            assertEquals(2 * ran, outputs.layers)
            assertEquals(0.1f * ran, outputs["probabilities"][0], 1e-6f)
            if (ran == 1) continue
            assertEquals(setOf("attention_mask"), engine.runs[1].inputs.keys)
            assertEquals(ran - 1f, engine.runs[ran - 1].vectors.getValue("hidden")[0], 0f)
        }
    }

    @Test
    fun `exits that do not follow each other are refused`() {
        assertRefused("a signature exit_2") { exitsOf(listOf(1f, 1f), 0.8) { it - it[1] } }
        val wider = Port("hidden", "float32", listOf(1, 8, 5))
        assertRefused("a signature exit_2 of fixed lengths that takes the output hidden of exit_1") {
            exitsOf(listOf(1f, 1f), 0.8) { (first, second, third) ->
                listOf(first, Signature(second.name, second.inputs + ("hidden" to wider), second.outputs), third)
            }
        }
        assertRefused("3 exits, as its metadata say, of fake.tflite, received more: exit_3") {
            exitsOf(listOf(1f, 1f), 0.8) { (first, second, third) ->
                listOf(first, second, Signature(third.name, third.inputs, third.outputs + ("hidden" to wider)))
            }
        }
    }

    @Test
    fun `only the inputs of the signature are passed`() {
        val whole = fileOf(metadataOf(TaskType.SINGLE_LABEL))
        val inputs = whole.signatures[0].inputs - "token_type_ids"
        val file = ModelFile(whole.name, 1, whole.metadata, listOf(Signature("serve", inputs, whole.signatures[0].outputs)), null)
        TextModel.open(file) { engine }.run(Row(intArrayOf(2, 3), intArrayOf(0, 0)))
        assertEquals(setOf("input_ids", "attention_mask"), engine.runs.last().inputs.keys)
    }

    @Test
    fun `outputs are cut into tokens`() {
        val tagger = FakeEngine { run -> mapOf("probabilities" to FloatArray(2 * run.length) { it.toFloat() }) }
        val outputs = modelOf(metadataOf(TaskType.TAGGING), tagger).run(Row(intArrayOf(2, 3), intArrayOf(0, 0)))
        assertArrayEquals(floatArrayOf(2f, 3f), outputs.at("probabilities", 1), 0f)
        assertEquals(16, outputs["probabilities"].size)
    }

    @Test
    fun `files that do not fit are refused before the runtime is asked`() {
        fun refuse(part: String, file: ModelFile) =
            assertRefused(part) { TextModel.open(file) { throw AssertionError("the runtime was asked") } }

        fun changed(inputs: (Map<String, Port>) -> Map<String, Port>, outputs: (Map<String, Port>) -> Map<String, Port> = { it }): ModelFile {
            val file = fileOf(metadataOf(TaskType.SINGLE_LABEL, labels = listOf("n", "p")))
            val signature = file.signatures[0]
            return ModelFile(file.name, 1, file.metadata, listOf(Signature("serve", inputs(signature.inputs), outputs(signature.outputs))), null)
        }

        refuse("takes texts", fileOf(metadataOf(TaskType.SINGLE_LABEL, inputs = Metadata.TEXT)))
        val hidden = Port("hidden", "int8", listOf(1, 8, 4))
        refuse("two files", changed({ mapOf("hidden" to hidden, "attention_bias" to Port("attention_bias", "int8", listOf(1, 8))) }))
        refuse("expected inputs among", changed({ it - "input_ids" }))
        refuse("expected inputs among", changed({ it + ("more" to Port("more", "int32", listOf(1, 8))) }))
        refuse("expected int32 inputs", changed({ it + ("input_ids" to Port("input_ids", "int64", listOf(1, 8))) }))
        refuse("expected outputs probabilities", changed({ it }, { emptyMap() }))
        refuse("expected probabilities in float32", changed({ it }, { mapOf("probabilities" to Port("probabilities", "int8", listOf(1, 2))) }))
        refuse("of 2 axes", changed({ it }, { mapOf("probabilities" to Port("probabilities", "float32", listOf(1, 8, 2))) }))
        refuse("2 labels and 3 classes", changed({ it }, { mapOf("probabilities" to Port("probabilities", "float32", listOf(1, 3))) }))
        val lacking = metadataOf(TaskType.SINGLE_LABEL, lengths = listOf(4, 8))
        refuse("a signature serve_4", ModelFile("fake.tflite", 1, lacking, fileOf(lacking).signatures.drop(1), null))
    }

    @Test
    fun `outputs of another size are refused`() {
        for (values in listOf(null, FloatArray(0), FloatArray(3))) {
            val wrong = FakeEngine { if (values == null) emptyMap() else mapOf("probabilities" to values) }
            val model = modelOf(metadataOf(TaskType.SINGLE_LABEL, labels = listOf("n", "p")), wrong)
            assertRefused("convert the model again") { model.run(Row(intArrayOf(2, 3), intArrayOf(0, 0))) }
        }
    }

    @Test
    fun `closing frees the engine, and failures of the runtime are passed on`() {
        modelOf(metadataOf(TaskType.SINGLE_LABEL), engine).close()
        assertTrue(engine.isClosed)
        val failing = FakeEngine { throw KerasBertException("out of memory") }
        assertRefused("out of memory") { modelOf(metadataOf(TaskType.SINGLE_LABEL), failing).run(Row(intArrayOf(2), intArrayOf(0))) }
    }
}
