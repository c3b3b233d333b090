package kerasbert.core.tasks

import kerasbert.core.assertRefused
import kerasbert.core.file.Base64Bytes
import kerasbert.core.file.TaskType
import kerasbert.core.model.FakeEngine
import kerasbert.core.model.TextModel
import kerasbert.core.model.fileOf
import kerasbert.core.model.idOf
import kerasbert.core.model.metadataOf
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test

private const val LAYER = "AACAPwAAAAAAAAA/AAAAAAAAAEAAAAAA" // the kernel (1, 0), (0, 2) with the biases 0.5 and 0
private const val NAN_LAYER = "AACAPwAAAAAAAMB/AAAAAAAAAEAAAAAA"

class FewShotTest {
    private val engine = FakeEngine { mapOf("embedding" to floatArrayOf(3f, 4f)) }

    private fun model(vararg changes: Pair<String, Any?>, labels: List<String>? = listOf("x", "y"), width: Int = 2): TextModel {
        val settings = mapOf("width" to 2L, "layer" to LAYER, "method" to "logistic", "prompt" to "", "fallback" to "", "fallback_below" to 0.0)
        return TextModel.open(fileOf(metadataOf(TaskType.FEW_SHOT, settings + changes, labels = labels), width)) { engine }
    }

    @Test
    fun `the layer classifies the vector of length 1`() {
        val prediction = taskOf(model()).predict(Example.Single("a b")) as ClassPrediction
        assertEquals("y", prediction.label)
        assertEquals(0.6224593f, prediction.score, 1e-7f)
        assertEquals(0.37754067f, prediction.classes[0].probability, 1e-7f)
    }

    @Test
    fun `a text that belongs to no class has the label of these`() {
        val prediction = FewShotClassification(model("fallback" to "oos", "fallback_below" to 0.63)).classify("a")
        assertEquals("oos", prediction.label)
        assertEquals(prediction.classes.maxOf { it.probability }, prediction.score, 0f)
        assertEquals("y", FewShotClassification(model("fallback" to "oos", "fallback_below" to 0.62)).classify("a").label)
    }

    @Test
    fun `the prompt stands before the text`() {
        val prediction = FewShotClassification(model("prompt" to "a ")).classify("b")
        assertEquals(listOf("[CLS]", "a", "b", "[SEP]").map(::idOf), engine.runs.last().ids)
        assertEquals("b", prediction.record()["text"])
    }

    @Test
    fun `layers, labels and thresholds that do not fit are refused`() {
        fun refused(message: String, vararg changes: Pair<String, Any?>, labels: List<String>? = listOf("x", "y")) =
            assertRefused(message) { FewShotClassification(model(*changes, labels = labels)) }
        refused("the layer of 2 classes and vectors of 2 numbers in base64 in fake.tflite, received 0 bytes", "layer" to "")
        refused("in base64 in fake.tflite, received another text", "layer" to "%%%%")
        refused("a layer of finite numbers", "layer" to NAN_LAYER)
        refused("the layer of 3 classes", labels = listOf("x", "y", "z"))
        refused("two labels or more", labels = null)
        refused("a fallback of another name than the labels", "fallback" to "x", "fallback_below" to 0.5)
        refused("fallback_below from 0 to 1, with a fallback", "fallback_below" to 0.5)
        refused("fallback_below from 0 to 1, with a fallback", "fallback" to "oos", "fallback_below" to 2.0)
        assertRefused("vectors of 2 numbers") { model(width = 3) }
    }

    @Test
    fun `a pair is refused`() {
        assertRefused("expected a text, received") { FewShotClassification(model()).predict(Example.Pair("a", "b")) }
    }

    @Test
    fun `base64 is that of RFC 4648`() {
        for (size in 0..9) {
            val bytes = ByteArray(size) { (it * 71 - 100).toByte() }
            assertArrayEquals(bytes, Base64Bytes.decode(java.util.Base64.getEncoder().encodeToString(bytes)))
        }
        for (text in listOf("A", "AAA", "A===", "AA=A", "AAA\n", "\u00e4AAA")) assertNull(Base64Bytes.decode(text))
        assertTrue(Base64Bytes.decode("")!!.isEmpty())
    }
}
