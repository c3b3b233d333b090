package kerasbert.core.file

/** The kinds of values that a setting may have. */
internal enum class SettingKind { COUNT, COUNT_OR_NULL, NUMBER, FLAG, TEXT, PROMPTS, PROMPT_NAME }

/** What an example has beside its text. */
enum class SecondInput { NONE, PAIR, CONTEXT, CHOICES }

/** The form of a type of task; see [TaskType]. */
internal class TaskForm(
    val second: SecondInput,
    val outputs: List<String>,
    val rank: Int,
    val perToken: Boolean,
    val settings: Map<String, SettingKind>,
)

/**
 * The type of a task, which says what a model's outputs mean.
 *
 * @property key its name in files and in JSON.
 */
enum class TaskType(val key: String) {
    SINGLE_LABEL("single_label"),
    MULTI_LABEL("multi_label"),
    REGRESSION("regression"),
    EMBEDDING("embedding"),
    TAGGING("tagging"),
    QUESTION_ANSWERING("question_answering"),
    MULTIPLE_CHOICE("multiple_choice"),
    MASKED_LM("masked_lm"),
    FEW_SHOT("few_shot"),
    ;

    private val form = TASK_FORMS.getValue(key)

    /** What an example has beside its text. */
    val second: SecondInput = form.second

    /** The names of the model's outputs. */
    val outputs: List<String> = form.outputs

    /** The axes of each output, the batch included. */
    val rank: Int = form.rank

    /** Whether outputs have an axis of tokens. */
    val perToken: Boolean = form.perToken

    /** The kind of each setting. */
    internal val settings: Map<String, SettingKind> = form.settings
}
