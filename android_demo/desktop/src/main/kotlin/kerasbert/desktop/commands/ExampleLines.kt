package kerasbert.desktop.commands

import kerasbert.core.KerasBertException
import kerasbert.core.file.Json
import kerasbert.core.file.SecondInput
import kerasbert.core.file.TaskType
import kerasbert.core.tasks.Example

/** Reads lines as examples of a task: texts, or JSON objects where an example has several texts. */
internal class ExampleLines(private val type: TaskType) {
    /**
     * Reads one line.
     *
     * @param number the number of the text, from 0 on, for messages.
     */
    fun example(line: String, number: Int): Example = when (type.second) {
        SecondInput.NONE -> Example.Single(line)
        SecondInput.PAIR -> pair(line) ?: Example.Single(line)
        SecondInput.CONTEXT -> question(fields(line, number, "{\"question\": ..., \"context\": ...}"), number)
        SecondInput.CHOICES -> prompt(fields(line, number, "{\"prompt\": ..., \"choices\": [...]}"), number)
    }

    /** A pair of texts; null for a text, which may look like JSON. */
    private fun pair(line: String): Example? {
        if (!line.startsWith("{")) return null
        val fields = try {
            Json.parse(line, "a line") as? Map<*, *>
        } catch (_: KerasBertException) {
            return null
        }
        if (fields?.keys != setOf("text", "pair")) return null
        return Example.Pair(fields["text"] as? String ?: return null, fields["pair"] as? String ?: return null)
    }

    private fun question(fields: Map<*, *>, number: Int): Example =
        Example.Question(text(fields, "question", number), text(fields, "context", number))

    private fun prompt(fields: Map<*, *>, number: Int): Example {
        val key = if ("prompt" in fields) "prompt" else "question"
        val choices = (fields["choices"] as? List<*>)?.map { it as? String }
        if (choices.isNullOrEmpty() || null in choices) {
            throw KerasBertException("row $number: expected a list of choices, received ${Json.write(fields["choices"]).take(40)}")
        }
        return Example.Prompt(text(fields, key, number), choices.filterNotNull())
    }

    private fun text(fields: Map<*, *>, key: String, number: Int): String = fields[key] as? String
        ?: throw KerasBertException("row $number: expected a $key that is a text, received ${Json.write(fields[key]).take(40)}")

    private fun fields(line: String, number: Int, form: String): Map<*, *> {
        val fields = try {
            Json.parse(line, "a line") as? Map<*, *>
        } catch (_: KerasBertException) {
            null
        }
        return fields ?: throw KerasBertException("row $number: expected $form on a line, received ${line.take(40)}; write each example so")
    }
}
