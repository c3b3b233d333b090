package kerasbert.desktop

import kerasbert.core.KerasBertException
import kerasbert.core.file.TaskType
import kerasbert.core.tasks.Example
import kerasbert.desktop.commands.Arguments
import kerasbert.desktop.commands.ExampleLines
import org.junit.Assert.assertEquals
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test

class CommandLineTest {
    private fun refusal(block: () -> Unit) = assertThrows(KerasBertException::class.java, block).message.orEmpty()

    private fun example(type: TaskType, line: String) = ExampleLines(type).example(line, 3)

    @Test
    fun `lines are texts`() {
        val more = "{\"text\": \"a\", \"pair\": \"b\", \"id\": 1}"
        for (type in listOf(TaskType.SINGLE_LABEL, TaskType.EMBEDDING, TaskType.TAGGING, TaskType.MASKED_LM)) {
            for (line in listOf("a text", " { \"text\": 1 }", "{\"text\": \"a\"}", "{not JSON", "{\"text\": 1, \"pair\": \"b\"}", more)) {
                assertEquals(Example.Single(line), example(type, line))
            }
        }
    }

    @Test
    fun `lines may be pairs, questions and prompts`() {
        assertEquals(Example.Pair("a", "b"), example(TaskType.REGRESSION, "{\"text\": \"a\", \"pair\": \"b\"}"))
        assertEquals(Example.Single("{\"text\": \"a\", \"pair\": \"b\"}"), example(TaskType.TAGGING, "{\"text\": \"a\", \"pair\": \"b\"}"))
        val question = "{\"id\": 7, \"question\": \"q\", \"context\": \"c\"}"
        assertEquals(Example.Question("q", "c"), example(TaskType.QUESTION_ANSWERING, question))
        for (key in listOf("prompt", "question")) {
            val prompt = "{\"$key\": \"p\", \"choices\": [\"a\", \"b\"]}"
            assertEquals(Example.Prompt("p", listOf("a", "b")), example(TaskType.MULTIPLE_CHOICE, prompt))
        }
    }

    @Test
    fun `other lines are refused by their number`() {
        val form = "row 3: expected {\"question\": ..., \"context\": ...} on a line, received"
        for (line in listOf("a question?", "[1]", "\"a\"", "{\"question\": ")) {
            assertTrue("$form $line" in refusal { example(TaskType.QUESTION_ANSWERING, line) })
        }
        assertTrue("row 3: expected a context that is a text, received null" in refusal { example(TaskType.QUESTION_ANSWERING, "{\"question\": \"q\"}") })
        assertTrue("row 3: expected a list of choices" in refusal { example(TaskType.MULTIPLE_CHOICE, "{\"prompt\": \"p\", \"choices\": []}") })
        assertTrue("row 3: expected a list of choices" in refusal { example(TaskType.MULTIPLE_CHOICE, "{\"prompt\": \"p\", \"choices\": [1]}") })
    }

    @Test
    fun `options and their values`() {
        val arguments = Arguments(listOf("search", "m", "--threads", "2", "t", "--column", "text"))
        assertEquals(listOf("search", "m", "t"), List(arguments.size) { arguments[it] })
        assertEquals(2, arguments.count("--threads", 1))
        assertEquals(10, arguments.count("--top", 10))
        assertEquals("text", arguments.text("--column"))
        for ((text, share) in mapOf("0" to 0.0, "1" to 1.0, ".5" to 0.5)) {
            assertEquals(share, Arguments(listOf("--rerank-weight", text)).share("--rerank-weight", 0.5), 0.0)
        }
        for (text in listOf("-0.1", "1.1", "half", "1e-1")) {
            assertTrue("from 0 to 1, received $text" in refusal { Arguments(listOf("--rerank-weight", text)).share("--rerank-weight", 0.5) })
        }
        assertTrue("an option among" in refusal { Arguments(listOf("--fast")) })
        assertTrue("a value after --top" in refusal { Arguments(listOf("--top")) })
        assertTrue("at least 1, received 0" in refusal { Arguments(listOf("--top", "0")).count("--top", 1) })
    }
}
