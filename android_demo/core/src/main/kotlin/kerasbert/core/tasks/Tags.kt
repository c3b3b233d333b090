package kerasbert.core.tasks

private const val OUTSIDE = "O"
private const val BARE_LABEL = "_" // of a tag that is a prefix alone

/** Words that are one entity: its label, the number of its first word, and that of the word after its last one. */
internal class TagSpan(val label: String, val first: Int, val end: Int)

/** The tags of a model: `O`, or a prefix and a label, such as `B-PER`, of any common scheme (IOB, IOBES, BILOU, BMES); or parts of speech. */
internal class Tags(private val labels: List<String>?) {
    private val hasPrefixes: Boolean = (labels.orEmpty().toSet() - OUTSIDE).let { tags ->
        tags.any { it.getOrNull(1) == '-' && isPrefixed(it) } || (tags.isNotEmpty() && BARE.containsAll(tags))
    }

    /** The tags of words outside of entities. */
    private val outsides: Set<String> =
        setOf(OUTSIDE) + if (hasPrefixes) labels.orEmpty().filter { it in OTHER_OUTSIDE } else emptyList()

    /** The prefix inside of an entity: `M` in BMES and BMEWO, else `I`. */
    private val inside: Char = labels.orEmpty().filter { isPrefixed(it) }.map { it[0] }.toSet().let { prefixes ->
        if (hasPrefixes && prefixes.none { it in "LU" } && prefixes.any { it in "MW" }) 'M' else 'I'
    }

    /** The tag of words without tokens: `O`, or the tag that stands for it, or the first tag. */
    val outside: String = (labels ?: listOf(OUTSIDE)).let { tags ->
        if (OUTSIDE in tags) OUTSIDE else tags.firstOrNull { it in outsides } ?: tags[0]
    }

    /** Whether the tags mark entities. */
    val markEntities: Boolean = OUTSIDE in labels.orEmpty() || hasPrefixes

    /** The tag of an output. */
    fun name(number: Int): String = labels?.get(number) ?: number.toString()

    /** A tag for each of several words that share the token of a tag. */
    fun expand(tag: String, words: Int): List<String> {
        if (!hasPrefixes || words == 1 || !isPrefixed(tag)) return List(words) { tag }
        val prefixes = EXPANDED.getValue(tag[0])
        return List(words) { word ->
            val place = if (word == 0) 0 else if (word == words - 1) 2 else 1
            (if (prefixes[place] == 'I') inside else prefixes[place]) + tag.substring(1)
        }
    }

    /**
     * The entities of one sentence, from tags of any scheme and from invalid ones.
     *
     * The rule is that of CoNLL's own evaluation, and seqeval's default: an entity continues with `I-` or `E-` of its label after `B-` or
     * `I-`. Every other tag but `O` starts an entity.
     */
    fun spans(tags: List<String>): List<TagSpan> {
        val spans = ArrayList<TagSpan>()
        var first = 0
        var before: Pair<Char, String> = 'O' to ""
        (tags + OUTSIDE).forEachIndexed { place, tag ->
            val (prefix, label) = parts(tag)
            val continues = prefix in "IE" && before.first in "BI" && before.second == label
            if (!continues) {
                if (before.first != 'O') spans += TagSpan(before.second, first, place)
                first = place
            }
            before = prefix to label
        }
        return spans
    }

    /** A tag's prefix and label. A tag without a prefix is read as `I-` of that label. */
    private fun parts(tag: String): Pair<Char, String> = when {
        tag in outsides -> 'O' to ""
        isPrefixed(tag) -> LIKE.getValue(tag[0]) to tag.drop(2).ifEmpty { BARE_LABEL }
        else -> 'I' to tag
    }

    private fun isPrefixed(tag: String) = (tag.getOrNull(1) == '-' && tag[0] in LIKE) || tag in BARE
}
