package kerasbert.core.text

/** The tokens of a text while it is split. */
internal class TokenBuffer(capacity: Int) {
    private val ids = IntList(capacity)
    private val starts = IntList(capacity)
    private val ends = IntList(capacity)

    val size: Int get() = ids.size

    fun add(id: Int, start: Int, end: Int) {
        ids.add(id)
        starts.add(start)
        ends.add(end)
    }

    /** Removes all tokens from [count] on. */
    fun truncate(count: Int) {
        ids.truncate(count)
        starts.truncate(count)
        ends.truncate(count)
    }

    fun toTokens(): Tokens = Tokens(ids.toArray(), starts.toArray(), ends.toArray())
}
