package kerasbert.core.file

import kerasbert.core.KerasBertException

private const val FORMAT = 1L
private const val MOST_LENGTHS = 256
private const val MOST_TOKENS = 1L shl 20
private const val MOST_LAYERS = 1 shl 12
private const val LARGEST_SETTING = 1 shl 20
private const val MOST_ROWS_WITHOUT_TOKEN = 1024 // no padding of an embedding table adds as many
private const val MOST_PROMPTS = 1000
private const val MOST_PROMPT_CHARACTERS = 10_000
private val UNITS = listOf("word", "character")

/** Reads the packed files of a model, and checks what `kerasbert.export.tflite.metadata_format` checks in Python. */
internal class MetadataReader(private val texts: Map<String, String>, private val name: String) {
    private val fields: Map<String, Any?> = description()

    fun read(): Metadata {
        val vocabulary = lines(VOCABULARY)
        val labels = lines(LABELS)
        if (vocabulary != null && vocabulary.lastOrNull() == "") throw error("an empty last token in $VOCABULARY")
        if (labels != null && labels.isEmpty()) throw error("an empty $LABELS")
        val type = text("problem").let { key ->
            TaskType.entries.firstOrNull { it.key == key }
                ?: throw error("problem '${key.take(60)}' in $DESCRIPTION, not one of ${TaskType.entries.joinToString(", ") { it.key }}")
        }
        val metadata = Metadata(
            task = text("task"),
            type = type,
            settings = settings(type),
            signature = text("signature"),
            sequenceLength = length("sequence_length"),
            rowLength = length("row_length"),
            lengths = rising("lengths", MOST_LENGTHS, MOST_TOKENS),
            exits = rising("exits", MOST_LAYERS, MOST_LAYERS.toLong()),
            exitThreshold = probability("exit_threshold"),
            inputs = inputs(),
            recipe = text("recipe"),
            integerOnly = flag("integer_only"),
            target = text("target"),
            parameters = number("parameters") ?: throw wrong("parameters"),
            weights = text("weights", default = ""),
            vocabularySize = number("vocab_size")?.let { if (it in 0..Int.MAX_VALUE) it.toInt() else throw wrong("vocab_size") },
            tokenizer = objectOf("tokenizer", null),
            version = text("kerasbert"),
            vocabulary = vocabulary,
            labels = labels,
        )
        checkVocabulary(metadata)
        return metadata
    }

    private fun description(): Map<String, Any?> {
        val value = try {
            Json.parse(texts.getValue(DESCRIPTION), DESCRIPTION)
        } catch (failure: KerasBertException) {
            throw error("a $DESCRIPTION that is not JSON (${failure.message})")
        }
        val entries = asObject(value) ?: throw error("a $DESCRIPTION that is not a JSON object")
        if (entries["format"] != FORMAT) {
            throw error("metadata of format ${shown(entries["format"])}, where this version reads $FORMAT")
        }
        return entries
    }

    private fun text(key: String, default: String? = null): String =
        value(key, default) as? String ?: throw wrong(key)

    private fun flag(key: String): Boolean = value(key, false) as? Boolean ?: throw wrong(key)

    private fun number(key: String): Long? = when (val value = fields[key]) {
        null -> null
        is Long -> value
        else -> throw wrong(key)
    }

    private fun objectOf(key: String, default: Map<String, Any?>?): Map<String, Any?> = asObject(value(key, default)) ?: throw wrong(key)

    private fun value(key: String, default: Any?): Any? = if (key in fields) fields[key] else default

    private fun length(key: String): Int? {
        val value = number(key) ?: return null
        if (value !in 1..MOST_TOKENS) throw error("$key $value in $DESCRIPTION")
        return value.toInt()
    }

    /** Two or more rising numbers, or null. */
    private fun rising(key: String, mostNumbers: Int, most: Long): List<Int>? {
        val value = fields[key] ?: return null
        val numbers = (value as? List<*>)?.map { each -> (each as? Long)?.takeIf { it in 1..most }?.toInt() }
        val isRising = numbers != null && numbers.size in 2..mostNumbers && null !in numbers &&
            numbers.filterNotNull().zipWithNext().all { (one, next) -> one < next }
        if (!isRising) throw error("$key ${shown(value)} in $DESCRIPTION")
        return numbers.filterNotNull()
    }

    /** A number from 0 to 1, or null. */
    private fun probability(key: String): Double? {
        val value = fields[key] ?: return null
        val number = (value as? Number)?.toDouble() ?: throw wrong(key)
        return if (number in 0.0..1.0) number else throw wrong(key)
    }

    private fun inputs(): String {
        val kind = text("inputs", default = Metadata.IDS)
        if (kind != Metadata.IDS && kind != Metadata.TEXT) {
            throw error("inputs '${kind.take(60)}' in $DESCRIPTION, not ${Metadata.IDS} or ${Metadata.TEXT}")
        }
        return kind
    }

    private fun settings(type: TaskType): Map<String, Any?> {
        val settings = objectOf("settings", emptyMap())
        for ((key, value) in settings) {
            val kind = type.settings[key] ?: throw settingError(type, "the setting '${key.take(60)}'")
            if (!isValid(key, value, kind, settings)) throw settingError(type, "${shown(value)} as '$key'")
        }
        return settings
    }

    private fun settingError(type: TaskType, received: String) =
        error("settings of another task type than ${type.key} in $DESCRIPTION ($received)")

    private fun isValid(key: String, value: Any?, kind: SettingKind, settings: Map<String, Any?>): Boolean = when (kind) {
        SettingKind.COUNT -> value is Long && value in 1..LARGEST_SETTING
        SettingKind.COUNT_OR_NULL -> value == null || (value is Long && value in 1..LARGEST_SETTING)
        SettingKind.FLAG -> value is Boolean
        SettingKind.TEXT -> if (key == "unit") value in UNITS else value is String
        SettingKind.PROMPTS -> value == null || isPrompts(value)
        SettingKind.PROMPT_NAME -> value == null || value == "" || (value is String && value in (asObject(settings["prompts"]) ?: emptyMap()))
        SettingKind.NUMBER -> {
            val number = (value as? Number)?.toDouble() ?: Double.NaN
            if (key == "share") number > 0 && number < 1 else Math.abs(number) <= LARGEST_SETTING
        }
    }

    private fun isPrompts(value: Any?): Boolean {
        val prompts = asObject(value) ?: return false
        return prompts.size <= MOST_PROMPTS && prompts.all { (name, text) ->
            text is String && text.characters() <= MOST_PROMPT_CHARACTERS && name.characters() <= MOST_PROMPT_CHARACTERS
        }
    }

    private fun String.characters(): Int = codePointCount(0, length)

    private fun lines(member: String): List<String>? {
        // Not lines(): vocabularies hold characters that Unicode counts as line breaks.
        val pieces = (texts[member] ?: return null).split('\n')
        val lines = if (pieces.last().isEmpty()) pieces.dropLast(1) else pieces
        return lines.map { line ->
            line.removeSuffix("\r").also { if ('\r' in it) throw error("an entry with a line break in $member") }
        }
    }

    private fun checkVocabulary(metadata: Metadata) {
        val tokens = metadata.vocabulary?.size ?: return
        val rows = metadata.vocabularySize ?: return
        if (tokens == 0 || (tokens <= rows && rows - tokens < MOST_ROWS_WITHOUT_TOKEN)) return
        throw error("a vocabulary of $tokens tokens for $rows rows of token embeddings, which belongs to another checkpoint")
    }

    private fun wrong(key: String) = error("'$key' = ${shown(fields[key])} in $DESCRIPTION")

    private fun shown(value: Any?): String = Json.write(value).take(60)

    private fun error(received: String) = metadataError(name, received)
}

/** The value as a map with the names of an object of JSON; null where it is none. */
@Suppress("UNCHECKED_CAST")
private fun asObject(value: Any?): Map<String, Any?>? = value as? Map<String, Any?>
