package kerasbert.desktop.commands

import kerasbert.core.file.ModelFile
import kerasbert.core.file.TaskType
import kerasbert.core.model.Lengths
import kerasbert.core.tasks.Example
import kerasbert.core.text.CodePoints
import kerasbert.core.text.Encoded
import kerasbert.core.text.encode
import kerasbert.core.text.tokenizerOf

private val PAIR_ROWS = setOf(TaskType.SINGLE_LABEL, TaskType.MULTI_LABEL, TaskType.REGRESSION)

/** Prints the tokens of each line as the model reads them at its longest length, without padding. */
internal fun tokenize(arguments: Arguments): Int {
    val metadata = ModelFile.open(arguments.model()).metadata
    val tokenizer = tokenizerOf(metadata.tokenizer, metadata.vocabulary.orEmpty())
    val length = Lengths(metadata, tokenizer.maxLength).longest
    // A line is a text for every task, and may be a pair where both texts are one row.
    val reader = ExampleLines(if (metadata.type in PAIR_ROWS) metadata.type else TaskType.TAGGING)
    Output().use { output ->
        inputLines().forEachIndexed { number, line ->
            val (text, pair) = when (val example = reader.example(line, number)) {
                is Example.Pair -> example.text to example.pair
                else -> line to null
            }
            val encoded = tokenizer.encode(text, pair, length)
            output.write(mapOf("input_ids" to encoded.ids, "offsets" to offsets(encoded, text, pair)))
        }
    }
    return 0
}

/** First and end of each token in code points of its text; 0 and 0 for special tokens around the texts. */
private fun offsets(encoded: Encoded, text: String, pair: String?): List<IntArray> {
    val places = listOf(CodePoints(text), CodePoints(pair.orEmpty()))
    return List(encoded.size) { token ->
        val own = places.getOrNull(encoded.texts[token])
        if (own == null) intArrayOf(0, 0) else intArrayOf(own.ofUnit(encoded.starts[token]), own.ofUnit(encoded.ends[token]))
    }
}
