package kerasbert.desktop

import java.io.File
import kerasbert.core.file.Json
import kerasbert.core.file.ModelFile
import kerasbert.core.model.TextModel
import kerasbert.core.tasks.taskOf
import kerasbert.desktop.commands.ExampleLines
import kerasbert.desktop.litert.JnaEngine
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test

private const val TOLERANCE = 1e-5

/** Each tiny model on LiteRT predicts what Python predicted, field by field. */
class TinyModelsTest {
    private val expected = Json.parse(File(modelsFolder, "predictions.json").readText(), "predictions.json") as Map<*, *>

    @Test
    fun `every kind of task`() {
        val library = libraryOrSkip()
        assertEquals(11, expected.size)
        for ((name, records) in expected) {
            val path = File(modelsFolder, name.toString())
            val file = ModelFile.open(path)
            val reader = ExampleLines(file.metadata.type)
            taskOf(TextModel.open(file) { JnaEngine.open(path, 1, library) }).use { task ->
                for (record in records as List<*>) {
                    val fields = record as Map<*, *>
                    val received = Json.write(task.predict(reader.example(lineOf(fields), 0)).record())
                    assertSame(fields, Json.parse(received, "a record"), "$name, ${Json.write(fields).take(60)}")
                }
            }
        }
    }

    /** The line of the standard input that asks for a record. */
    private fun lineOf(fields: Map<*, *>): String {
        val keys = listOf(listOf("question", "context"), listOf("prompt", "choices"), listOf("text", "pair")).firstOrNull { fields.keys.containsAll(it) }
        return if (keys == null) fields["text"] as String else Json.write(keys.associateWith { fields[it] })
    }

    private fun assertSame(expected: Any?, received: Any?, where: String) {
        when (expected) {
            is Map<*, *> -> {
                assertEquals(where, expected.keys.toList(), (received as Map<*, *>).keys.toList())
                for (key in expected.keys) assertSame(expected[key], received[key], "$where.$key")
            }
            is List<*> -> {
                assertEquals(where, expected.size, (received as List<*>).size)
                expected.forEachIndexed { number, each -> assertSame(each, received[number], "$where[$number]") }
            }
            is Double -> assertEquals(where, expected, received as Double, TOLERANCE)
            else -> assertEquals(where, expected, received)
        }
    }

    @Test
    fun `long texts are among the rows`() {
        val answers = expected["answer.tflite"] as List<*>
        assertTrue((answers[1] as Map<*, *>)["context"].toString().length > 150)
        assertEquals("", (answers[2] as Map<*, *>)["context"])
    }
}
