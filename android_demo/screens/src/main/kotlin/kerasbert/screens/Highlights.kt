package kerasbert.screens

import kerasbert.core.tasks.TagPrediction

private val PREFIX = Regex("^[BIESLUMW]-")
private const val OUTSIDE = "O"

/** The entities of a text; where tags mark no entities, such as parts of speech, the tagged words. */
internal fun highlightsOf(prediction: TagPrediction, labels: List<String>): List<Highlight> {
    val kinds = labels.map { it.replace(PREFIX, "") }.filter { it != OUTSIDE }.distinct()
    if (OUTSIDE in labels || prediction.entities.isNotEmpty()) {
        return prediction.entities.map { Highlight(it.start, it.end, it.label, it.score.toFloat(), maxOf(kinds.indexOf(it.label), 0)) }
    }
    return prediction.words.map { Highlight(it.start, it.end, it.tag, it.score.toFloat(), maxOf(kinds.indexOf(it.tag), 0)) }
}
