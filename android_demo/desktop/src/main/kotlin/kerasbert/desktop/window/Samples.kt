package kerasbert.desktop.window

import java.io.File
import kerasbert.core.KerasBertException
import kerasbert.core.file.Json
import kerasbert.screens.TaughtLabel

private val PARTS = listOf("train", "dev", "test")

/**
 * The phrases of kerasbert's bundled assistant data, each once, in the order of `copy_models.py`.
 *
 * @param folder the folder of the data.
 * @throws KerasBertException when it is not there.
 */
internal fun samplePhrases(folder: File): List<String> = PARTS.flatMap { part ->
    val file = File(folder, "$part.jsonl")
    if (!file.isFile) throw KerasBertException("expected sample phrases in $file, received none; start the window from a checkout, or import texts")
    file.readLines().map { (Json.parse(it, file.name) as Map<*, *>)["text"] as String }
}.distinct()

/** The labels with examples that the app proposes. */
internal fun sampleLabels(): List<TaughtLabel> = AppResources.open("labels.txt").bufferedReader().useLines { lines ->
    lines.filter { '\t' in it }.map { it.split('\t', limit = 2) }.groupBy({ it[0] }, { it[1] }).map { (name, examples) -> TaughtLabel(name, examples) }
}
