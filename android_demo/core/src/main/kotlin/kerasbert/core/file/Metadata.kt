package kerasbert.core.file

import kerasbert.core.KerasBertException

/**
 * What a `.tflite` file of kerasbert says about itself; the fields of `kerasbert.json`, with the vocabulary and the labels.
 *
 * @property task the class name of the task that was converted.
 * @property type the type of the task.
 * @property settings the task's own settings, such as `stride`; those that are missing have their defaults.
 * @property signature the signature's name; the longest one's where there are several.
 * @property sequenceLength tokens of the inputs, of the longest signature where there are several; null for a resizable length.
 * @property rowLength the task's longest row, to which texts are cut if the file is resizable; null in files of the first versions.
 * @property lengths the lengths of a file with a signature `serve_N` for each; null for a file with one signature.
 * @property exits the layers before each exit of a file with early exits, which has a signature for each; null for a file without.
 * @property exitThreshold the confidence from which on a text ends at an exit; null: at the last one.
 * @property inputs `ids`, or `text` for a file with the tokenizer in its graph.
 * @property recipe the recipe of the conversion.
 * @property integerOnly whether no operator computes in float.
 * @property target the deployment target.
 * @property parameters trained parameters of the model.
 * @property weights the fingerprint of the task that was converted, "" if unknown.
 * @property vocabularySize rows of the token embedding table, which may be more than the vocabulary has tokens.
 * @property tokenizer the tokenizer's settings without the vocabulary.
 * @property version the version of kerasbert that wrote the file.
 * @property vocabulary the tokens in the order of their ids.
 * @property labels the names of the classes in the order of the outputs.
 */
class Metadata(
    val task: String,
    val type: TaskType,
    val settings: Map<String, Any?> = emptyMap(),
    val signature: String = "serve",
    val sequenceLength: Int? = null,
    val rowLength: Int? = null,
    val lengths: List<Int>? = null,
    val exits: List<Int>? = null,
    val exitThreshold: Double? = null,
    val inputs: String = IDS,
    val recipe: String = "",
    val integerOnly: Boolean = false,
    val target: String = "cpu",
    val parameters: Long = 0,
    val weights: String = "",
    val vocabularySize: Int? = null,
    val tokenizer: Map<String, Any?> = emptyMap(),
    val version: String = "",
    val vocabulary: List<String>? = null,
    val labels: List<String>? = null,
) {
    /** The numbers that the first output has for a row or a token: as many as there are labels, or null for any. */
    internal val outputWidth: Int?
        get() = if (type == TaskType.FEW_SHOT) (settings["width"] as? Long ?: 1).toInt() else labels?.size

    companion object {
        /** The inputs of a file that takes token ids. */
        const val IDS = "ids"

        /** The inputs of a file that takes texts. */
        const val TEXT = "text"
    }
}

internal fun metadataError(name: String, received: String) =
    KerasBertException("expected kerasbert metadata in $name, received $received; convert the model again")
