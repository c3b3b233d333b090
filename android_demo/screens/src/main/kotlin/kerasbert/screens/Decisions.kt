package kerasbert.screens

import kerasbert.core.search.VectorIndex
import kerasbert.core.tasks.AnswerPrediction
import kerasbert.core.tasks.ChoicePrediction
import kerasbert.core.tasks.ClassPrediction
import kerasbert.core.tasks.Example
import kerasbert.core.tasks.LabelSetPrediction
import kerasbert.core.tasks.MaskedPrediction
import kerasbert.core.tasks.MaskedWords
import kerasbert.core.tasks.MultipleChoice
import kerasbert.core.tasks.Prediction
import kerasbert.core.tasks.QuestionAnswering
import kerasbert.core.tasks.ScorePrediction
import kerasbert.core.tasks.SentenceEncoding
import kerasbert.core.tasks.TagPrediction
import kerasbert.core.tasks.Task

/**
 * The decisions of a model for some texts, each as a text, so that two ways to run the model can be compared.
 *
 * A decision is a label, tags, an answer or a word. For sentence vectors it is the most similar one of the other texts.
 */
internal fun decisionsOf(task: Task, texts: List<String>): List<String> = when (task) {
    is SentenceEncoding -> nearest(texts.map { task.encode(it).vector })
    is QuestionAnswering -> texts.mapIndexed { number, text -> decision(task.answer(text, texts[(number + 1) % texts.size])) }
    is MultipleChoice -> texts.mapIndexed { number, text ->
        decision(task.predict(Example.Prompt(text, listOf(texts[(number + 1) % texts.size], texts[(number + 2) % texts.size]))))
    }
    is MaskedWords -> texts.map { decision(task.predict(Example.Single("$it ${task.model.tokenizer.vocabulary[task.model.tokenizer.maskId]}"))) }
    else -> texts.map { decision(task.predict(Example.Single(it))) }
}

private fun decision(prediction: Prediction): String = when (prediction) {
    is ClassPrediction -> prediction.label
    is LabelSetPrediction -> prediction.labels.joinToString("|")
    is ScorePrediction -> "%.2f".format(java.util.Locale.ROOT, prediction.score)
    is TagPrediction -> prediction.words.joinToString(" ") { it.tag }
    is AnswerPrediction -> "${prediction.answer.start} ${prediction.answer.end}"
    is ChoicePrediction -> prediction.choice.toString()
    is MaskedPrediction -> prediction.masks.joinToString(" ") { it.words.first().word }
    else -> throw FailedException(Failure(FailureKind.OTHER_TASK))
}

private fun nearest(vectors: List<FloatArray>): List<String> {
    val index = VectorIndex(vectors.firstOrNull()?.size ?: 1)
    vectors.forEach(index::add)
    return vectors.mapIndexed { number, vector -> index.search(vector, 2).first { it.index != number || vectors.size == 1 }.index.toString() }
}
