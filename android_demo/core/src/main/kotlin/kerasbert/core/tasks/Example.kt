package kerasbert.core.tasks

/** What a model predicts for. */
sealed class Example {
    /** A text. */
    data class Single(val text: String) : Example()

    /** A pair of texts. */
    data class Pair(val text: String, val pair: String) : Example()

    /** A question about a text. */
    data class Question(val question: String, val context: String) : Example()

    /** A prompt with several choices. */
    data class Prompt(val prompt: String, val choices: List<String>) : Example()

    /** The fields of the example in a record. */
    internal fun fields(): Map<String, Any?> = when (this) {
        is Single -> mapOf("text" to text)
        is Pair -> mapOf("text" to text, "pair" to pair)
        is Question -> mapOf("question" to question, "context" to context)
        is Prompt -> mapOf("prompt" to prompt, "choices" to choices)
    }
}
