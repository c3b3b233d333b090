package kerasbert.core.search

import java.io.File
import kerasbert.core.file.Json
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test

/** Layers from examples are those of Python, on golden vectors of `benchmarks.parity.export_layers`. */
class TaughtLayerTest {
    private val file = File(System.getProperty("kerasbert.testdata") ?: "../testdata", "layers.json")
    private val cases = (Json.parse(file.readText(), file.name) as List<*>).map { it as Map<*, *> }

    private fun numbers(values: Any?) = (values as List<*>).map { (it as Number).toDouble() }

    private fun unit(values: List<Double>): FloatArray {
        val vector = FloatArray(values.size) { values[it].toFloat() }
        val norm = Math.sqrt(vector.sumOf { it.toDouble() * it })
        return FloatArray(vector.size) { (vector[it] / norm).toFloat() }
    }

    @Test
    fun `layers are those of Python`() {
        for (case in cases) {
            val vectors = (case["vectors"] as List<*>).map { unit(numbers(it)) }
            val layer = TaughtLayer.fit(vectors, numbers(case["classes"]).map { it.toInt() }, (case["count"] as Number).toInt())
            assertEquals(case["method"], layer.method)
            assertEquals((case["accuracy"] as Map<*, *>).keys, layer.accuracy.keys)
            for ((method, value) in case["accuracy"] as Map<*, *>) assertEquals((value as Number).toDouble(), layer.accuracy.getValue(method as String), 0.0)
            for ((row, expected) in (case["probabilities"] as List<*>).withIndex()) {
                val found = layer.probabilities(vectors[row])
                numbers(expected).forEachIndexed { number, value -> assertEquals("${vectors.size} rows, $row", value, found[number], 1e-5) }
            }
        }
    }

    @Test
    fun `the cases have both methods and all numbers of folds`() {
        assertEquals(setOf("centre", "logistic"), cases.map { it["method"] }.toSet())
        assertTrue(cases.any { (it["classes"] as List<*>).size > 1000 })
    }
}
