package kerasbert.core.model

import kerasbert.core.KerasBertException
import kerasbert.core.file.ModelFile
import kerasbert.core.text.Tokenizer
import kerasbert.core.text.tokenizerOf

/**
 * A model file with its tokenizer and an engine that runs it. It is used by one thread at a time.
 *
 * @property file the file.
 * @property tokenizer the file's tokenizer.
 */
class TextModel(val file: ModelFile, val tokenizer: Tokenizer, private val engine: Engine) : AutoCloseable {
    private val lengths = Lengths(file.metadata, tokenizer.maxLength)

    init {
        PortCheck(file).check(lengths)
    }

    /** Tokens of the longest row; longer texts are cut, or have several windows. */
    val length: Int get() = lengths.longest

    /** What runs the model. */
    val engineTitle: String get() = engine.title

    /** The length at which a row of some tokens runs, padding included. */
    fun lengthOf(tokens: Int): Int = lengths.of(tokens)

    /**
     * Runs the model on one row, at the shortest length of the file that it fits. A file with exits runs them in turn, until one is
     * confident.
     *
     * @throws KerasBertException when the row is too long, or the runtime fails.
     */
    fun run(row: Row): Outputs {
        val length = lengths.of(row.size)
        if (row.size > length) throw KerasBertException("expected at most $length tokens, received ${row.size}; cut the text")
        val metadata = file.metadata
        val stages = lengths.stages(length)
        var outputs = emptyMap<String, FloatArray>()
        var layers: Int? = null
        for ((number, stage) in stages.withIndex()) {
            outputs = run(stage, row, length, outputs)
            layers = metadata.exits?.get(number)
            if (number < stages.lastIndex && isConfident(outputs)) break
        }
        for (name in metadata.type.outputs) check(name, outputs[name], length)
        return Outputs(outputs, length, layers)
    }

    /** Frees the engine. */
    override fun close() = engine.close()

    /** Runs a signature on what the one before it returned, and on the row. */
    private fun run(stage: String, row: Row, length: Int, before: Map<String, FloatArray>): Map<String, FloatArray> {
        val (vectors, ids) = file.signatures.first { it.name == stage }.inputs.keys.partition { it in before }
        return engine.run(stage, ids.associateWith { input(it, row, length) }, vectors.associateWith(before::getValue))
    }

    private fun isConfident(outputs: Map<String, FloatArray>): Boolean {
        val threshold = file.metadata.exitThreshold ?: return false
        val confidence = outputs[CONFIDENCE]?.firstOrNull() ?: return false
        return confidence >= threshold // in double, as in Python
    }

    private fun input(name: String, row: Row, length: Int): IntArray = when (name) {
        IDS -> IntArray(length) { if (it < row.size) row.ids[it] else tokenizer.padId }
        MASK -> IntArray(length) { if (it < row.size) 1 else 0 }
        else -> row.types.copyOf(length)
    }

    private fun check(name: String, values: FloatArray?, length: Int) {
        val type = file.metadata.type
        val isWhole = values != null && values.isNotEmpty() && (!type.perToken || values.size % length == 0)
        val expected = file.metadata.outputWidth
        val width = if (type.perToken) (values?.size ?: 0) / length else values?.size
        if (!isWhole || (expected != null && width != expected)) {
            throw KerasBertException(
                "expected $name of ${file.name} for $length tokens, received ${values?.size ?: "no"} values; convert the model again",
            )
        }
    }

    companion object {
        /**
         * Opens a file with the tokenizer that it describes.
         *
         * @throws KerasBertException when the tokenizer is of a kind that is not supported here, or the runtime refuses the file.
         */
        fun open(file: ModelFile, engines: EngineFactory): TextModel {
            val tokenizer = tokenizerOf(file.metadata.tokenizer, file.metadata.vocabulary ?: emptyList())
            PortCheck(file).check(Lengths(file.metadata, tokenizer.maxLength))
            return TextModel(file, tokenizer, engines.open(file))
        }
    }
}
