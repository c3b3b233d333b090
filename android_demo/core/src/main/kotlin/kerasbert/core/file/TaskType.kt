package kerasbert.core.file

/** The kinds of values that a setting may have. */
internal enum class SettingKind { COUNT, COUNT_OR_NULL, NUMBER, FLAG, TEXT, PROMPTS, PROMPT_NAME }

/** What an example has beside its text. */
enum class SecondInput { NONE, PAIR, CONTEXT, CHOICES }

/** The setting whether the training data was pairs of texts. */
private val PAIRED = mapOf("paired" to SettingKind.FLAG)

/**
 * The type of a task, which says what a model's outputs mean.
 *
 * @property key its name in files and in JSON.
 * @property second what an example has beside its text.
 * @property outputs the names of the model's outputs.
 * @property rank the axes of each output, the batch included.
 * @property perToken whether outputs have an axis of tokens.
 */
enum class TaskType(
    val key: String,
    val second: SecondInput,
    val outputs: List<String>,
    val rank: Int = 2,
    val perToken: Boolean = false,
    internal val settings: Map<String, SettingKind> = emptyMap(),
) {
    SINGLE_LABEL("single_label", SecondInput.PAIR, listOf("probabilities"), settings = PAIRED),
    MULTI_LABEL("multi_label", SecondInput.PAIR, listOf("probabilities"), settings = PAIRED),
    REGRESSION("regression", SecondInput.PAIR, listOf("score"), settings = PAIRED),
    EMBEDDING(
        "embedding", SecondInput.PAIR, listOf("embedding"),
        settings = mapOf(
            "width" to SettingKind.COUNT_OR_NULL, "prompts" to SettingKind.PROMPTS, "default_prompt_name" to SettingKind.PROMPT_NAME,
        ),
    ),
    TAGGING(
        "tagging", SecondInput.NONE, listOf("probabilities"), rank = 3, perToken = true,
        settings = mapOf("stride" to SettingKind.COUNT_OR_NULL),
    ),
    QUESTION_ANSWERING(
        "question_answering", SecondInput.CONTEXT, listOf("start_logits", "end_logits"), perToken = true,
        settings = mapOf(
            "stride" to SettingKind.COUNT_OR_NULL, "longest_answer" to SettingKind.COUNT, "n_best" to SettingKind.COUNT,
            "no_answer" to SettingKind.FLAG, "no_answer_threshold" to SettingKind.NUMBER, "unit" to SettingKind.TEXT,
        ),
    ),
    MULTIPLE_CHOICE("multiple_choice", SecondInput.CHOICES, listOf("logits")),
    MASKED_LM(
        "masked_lm", SecondInput.NONE, listOf("logits"), rank = 3, perToken = true,
        settings = mapOf("share" to SettingKind.NUMBER, "whole_words" to SettingKind.FLAG, "top" to SettingKind.COUNT),
    ),
}
