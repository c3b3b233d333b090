package kerasbert.core.model

import kerasbert.core.file.Metadata
import kerasbert.core.file.ModelFile
import kerasbert.core.file.Port
import kerasbert.core.file.Signature
import kerasbert.core.file.TaskType

/** One run of a fake engine. */
internal class Run(val signature: String, val inputs: Map<String, IntArray>, val vectors: Map<String, FloatArray>) {
    /** The ids without padding. */
    val ids: List<Int> get() = inputs.getValue("input_ids").take(inputs.getValue("attention_mask").sum())

    /** The length, padding included. */
    val length: Int get() = inputs.getValue("input_ids").size
}

/** Returns what a function makes of each run, and remembers the runs. */
internal class FakeEngine(private val outputs: (Run) -> Map<String, FloatArray>) : Engine {
    val runs = ArrayList<Run>()
    var isClosed = false

    override val title = "a fake"

    override fun run(signature: String, inputs: Map<String, IntArray>, vectors: Map<String, FloatArray>): Map<String, FloatArray> {
        val run = Run(signature, inputs, vectors)
        runs += run
        return outputs(run)
    }

    override fun close() {
        isClosed = true
    }
}

/** Words of a tiny vocabulary; a text of them has one token a word. */
internal val WORDS: List<String> =
    "[PAD] [UNK] [CLS] [SEP] [MASK] a b c d e who where . \uD83D\uDE00 ##s 10 x y z".split(' ')

internal fun idOf(word: String): Int = WORDS.indexOf(word).also { check(it >= 0) { "no word $word" } }

internal fun metadataOf(
    type: TaskType,
    settings: Map<String, Any?> = emptyMap(),
    lengths: List<Int>? = null,
    length: Int? = 8,
    labels: List<String>? = null,
    inputs: String = Metadata.IDS,
    exits: List<Int>? = null,
    exitThreshold: Double? = null,
) = Metadata(
    task = "Fake", type = type, settings = settings, lengths = lengths, sequenceLength = lengths?.last() ?: length, rowLength = 32,
    signature = lengths?.let { "serve_${it.last()}" } ?: "serve", labels = labels, vocabulary = WORDS, vocabularySize = WORDS.size,
    tokenizer = mapOf("kind" to "wordpiece", "lowercase" to true), inputs = inputs,
    exits = exits, exitThreshold = exitThreshold,
)

/** A file whose signatures fit its metadata. */
internal fun fileOf(metadata: Metadata, width: Int = metadata.labels?.size ?: 2): ModelFile {
    val names = Lengths(metadata, null).signatures.flatten()
    val signatures = names.map { name ->
        val length = name.substringAfter("serve_", "").toIntOrNull() ?: metadata.sequenceLength ?: -1
        val inputs = listOf("attention_mask", "input_ids", "token_type_ids").map { Port(it, "int32", listOf(1, length)) }
        val outputs = metadata.type.outputs.map { output ->
            val tokens = if (metadata.type.perToken) listOf(length) else emptyList()
            val values = if (metadata.type.perToken && metadata.type.rank == 2) emptyList() else listOf(width)
            Port(output, "float32", listOf(1) + tokens + values)
        }
        Signature(name, inputs.associateBy { it.name }, outputs.associateBy { it.name })
    }
    return ModelFile("fake.tflite", 1, metadata, signatures, null)
}

internal fun modelOf(metadata: Metadata, engine: Engine): TextModel = TextModel.open(fileOf(metadata)) { engine }
