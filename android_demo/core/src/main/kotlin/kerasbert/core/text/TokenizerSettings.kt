package kerasbert.core.text

import kerasbert.core.KerasBertException

private const val UNLIMITED = 1_000_000_000.0 // Python writes a larger number for "no limit"
private const val EXCERPT = 100

private val COMMON = SPECIAL_NAMES.keys + setOf("kind", "added_tokens", "model_max_length")
private val ADDED_TOKEN_FIELDS = setOf("content", "lstrip", "rstrip", "single_word", "normalized", "special")

/**
 * The vocabulary and the checked settings of a tokenizer that all kinds share.
 *
 * @property vocabulary the tokens in the order of their ids.
 * @param values the settings of a file.
 */
internal class TokenizerSettings(val vocabulary: List<String>, private val values: Map<String, Any?>) {
    private val ids = HashMap<String, Int>(vocabulary.size * 2)

    /** The name of the kind. */
    val kind: String = when (val kind = values["kind"]) {
        null -> "wordpiece"
        is String -> kind
        else -> throw fault("kind", "a text", kind)
    }

    /** The special tokens by role. */
    val specialTokens: Map<String, String>

    /** The tokens that the settings add. */
    val addedTokens: List<AddedToken>

    /** The longest sequence, or null. */
    val maxLength: Int?

    init {
        if (vocabulary.isEmpty()) throw KerasBertException("expected a vocabulary, received none; the file has no vocab.txt")
        for ((id, token) in vocabulary.withIndex()) {
            val other = ids.put(token, id)
            if (other != null) throw KerasBertException("expected distinct tokens, received '$token' as tokens $other and $id")
        }
        specialTokens = SPECIAL_NAMES.mapValues { (role, name) -> text(role) ?: name }
        for ((role, token) in specialTokens) {
            if (token !in ids) throw missing("the $role", token)
        }
        addedTokens = (values["added_tokens"] ?: emptyList<Any>()).let(::readAddedTokens)
        maxLength = readMaxLength()
    }

    /** The id of a token of the vocabulary. */
    fun id(token: String): Int = ids.getValue(token)

    /** The id of a special token. */
    fun specialId(role: String): Int = id(specialTokens.getValue(role))

    /** The tokens that are found in a text before it is split, with their ids, in the order of these: special and added ones. */
    fun foundTokens(): List<Pair<AddedToken, Int>> {
        val byContent = specialTokens.values.associateWith { AddedToken(it) } + addedTokens.associateBy { it.content }
        return byContent.values.filter { it.content.isNotEmpty() }.map { Pair(it, id(it.content)) }.sortedBy { it.second }
    }

    /** The number of tokens that texts are split into: all but the added tokens at the end of the vocabulary. */
    fun modelSize(): Int {
        val added = addedTokens.map { it.content }.toSet() - specialTokens.values.toSet()
        var size = vocabulary.size
        while (size > 0 && vocabulary[size - 1] in added) size--
        return size
    }

    /** A setting that is true or false. */
    fun flag(name: String, default: Boolean): Boolean = optionalFlag(name) ?: default

    /** A setting that is true, false or absent. */
    fun optionalFlag(name: String): Boolean? = when (val value = values[name]) {
        null -> null
        is Boolean -> value
        else -> throw fault(name, "true or false", value)
    }

    /** A setting that is a text. */
    fun text(name: String): String? = when (val value = values[name]) {
        null, "" -> null
        is String -> value
        else -> throw fault(name, "a text", value)
    }

    /** Checks that there are no settings but those that all kinds share and [own]. */
    fun checkNames(vararg own: String) {
        val unknown = values.keys.filter { it !in COMMON && it !in own }.minOrNull() ?: return
        throw KerasBertException("expected settings of a $kind tokenizer, received '$unknown'; a newer app may know it")
    }

    private fun readMaxLength(): Int? {
        val value = values["model_max_length"] ?: return null
        if (value !is Number || !(value.toDouble() > 0)) throw fault("model_max_length", "a positive number", value)
        return if (value.toDouble() < UNLIMITED) value.toInt() else null
    }

    private fun readAddedTokens(value: Any): List<AddedToken> {
        val expected = "a list of objects with content"
        if (value !is List<*>) throw fault("added_tokens", expected, value)
        return value.map { entry ->
            val content = (entry as? Map<*, *>)?.get("content")
            if (entry !is Map<*, *> || content !is String) throw fault("added_tokens", expected, entry)
            val wrong = entry.any { (name, flag) -> name != "content" && (flag !is Boolean || name !in ADDED_TOKEN_FIELDS) }
            if (wrong) throw fault("added_tokens", expected, entry)
            if (content !in ids) throw missing("every added token", content)
            AddedToken(
                content,
                entry["lstrip"] == true,
                entry["rstrip"] == true,
                entry["single_word"] == true,
                entry["normalized"] == true,
            )
        }
    }

    private fun missing(what: String, token: String) =
        KerasBertException("expected $what in the vocabulary, received ${vocabulary.size} tokens without '$token'")

    private fun fault(name: String, expected: String, received: Any?) =
        KerasBertException("expected $name of a tokenizer as $expected, received ${received.toString().take(EXCERPT)}")
}
