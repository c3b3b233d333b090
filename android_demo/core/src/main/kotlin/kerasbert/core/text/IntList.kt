package kerasbert.core.text

/** A growing list of whole numbers. */
internal class IntList(capacity: Int = 16) {
    private var values = IntArray(capacity)

    var size = 0
        private set

    operator fun get(index: Int): Int = values[index]

    operator fun set(index: Int, value: Int) {
        values[index] = value
    }

    fun add(value: Int) {
        if (size == values.size) values = values.copyOf(maxOf(16, 2 * size))
        values[size++] = value
    }

    /** Removes all values from [count] on. */
    fun truncate(count: Int) {
        size = count
    }

    fun toArray(): IntArray = values.copyOf(size)
}
