package kerasbert.core.tasks

import kerasbert.core.KerasBertException
import kerasbert.core.file.TaskType
import kerasbert.core.model.TextModel

/**
 * A model that predicts for examples. It is used by one thread at a time.
 *
 * @property model the model.
 */
abstract class Task internal constructor(val model: TextModel, type: TaskType) : AutoCloseable {
    init {
        val found = model.file.metadata.type
        if (found != type) {
            throw KerasBertException("expected a model of the task type ${type.key}, received ${model.file.name} of ${found.key}; open another")
        }
    }

    /** The names of the classes or tags; null for a task without them. */
    val labels: List<String>? get() = model.file.metadata.labels

    /**
     * Predicts for one example.
     *
     * @throws KerasBertException when the task does not take such examples, or the runtime fails.
     */
    abstract fun predict(example: Example): Prediction

    /** Frees the model. */
    override fun close() = model.close()

    /** The names of some outputs: the labels, or else their numbers. */
    internal fun classNames(width: Int): List<String> = labels ?: List(width) { it.toString() }

    internal fun unexpected(expected: String, example: Example) =
        KerasBertException("expected $expected, received ${kindOf(example)}; pass another example, or use another model")

    private fun kindOf(example: Example) = when (example) {
        is Example.Single -> "a single text"
        is Example.Pair -> "a pair of texts"
        is Example.Question -> "a question with a context"
        is Example.Prompt -> "a prompt with choices"
    }
}

/** Returns the task of a model. */
fun taskOf(model: TextModel): Task = when (model.file.metadata.type) {
    TaskType.SINGLE_LABEL -> Classification(model)
    TaskType.MULTI_LABEL -> LabelSetClassification(model)
    TaskType.REGRESSION -> Regression(model)
    TaskType.EMBEDDING -> SentenceEncoding(model)
    TaskType.TAGGING -> Tagging(model)
    TaskType.QUESTION_ANSWERING -> QuestionAnswering(model)
    TaskType.MULTIPLE_CHOICE -> MultipleChoice(model)
    TaskType.MASKED_LM -> MaskedWords(model)
    TaskType.FEW_SHOT -> FewShotClassification(model)
}
