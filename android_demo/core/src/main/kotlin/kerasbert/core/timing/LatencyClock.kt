package kerasbert.core.timing

private const val NANOSECONDS = 1e6 // of a millisecond

/**
 * Times in milliseconds.
 *
 * @property load the time to load the model.
 * @property first the first run, which sets up what later ones share.
 * @property p50 the median of the runs after the first.
 * @property p95 the time that 95 of 100 of these runs do not exceed.
 * @property runs the number of these runs.
 */
data class Latency(val load: Double?, val first: Double?, val p50: Double?, val p95: Double?, val runs: Int)

/** Measures how long a model takes to load and to run. */
class LatencyClock(private val now: () -> Long = System::nanoTime) {
    private var load: Long? = null
    private var first: Long? = null
    private var times = LongArray(64)
    private var count = 0

    /** Runs a block that loads the model. */
    fun <T> load(block: () -> T): T = timed(block) { load = it }

    /** Runs a block that runs the model once. */
    fun <T> run(block: () -> T): T = timed(block) { nanoseconds -> if (first == null) first = nanoseconds else add(nanoseconds) }

    /** What was measured so far. */
    fun latency(): Latency {
        val sorted = times.copyOf(count).also { it.sort() }
        return Latency(load?.milliseconds(), first?.milliseconds(), quantile(sorted, 0.5), quantile(sorted, 0.95), count)
    }

    private fun <T> timed(block: () -> T, record: (Long) -> Unit): T {
        val start = now()
        return block().also { record(now() - start) }
    }

    private fun add(nanoseconds: Long) {
        if (count == times.size) times = times.copyOf(2 * count)
        times[count++] = nanoseconds
    }

    /** A quantile between two neighbours, as `numpy.quantile`. */
    private fun quantile(sorted: LongArray, share: Double): Double? {
        if (sorted.isEmpty()) return null
        val place = share * (sorted.size - 1)
        val below = place.toInt()
        val above = minOf(below + 1, sorted.size - 1)
        return (sorted[below] + (place - below) * (sorted[above] - sorted[below])) / NANOSECONDS
    }

    private fun Long.milliseconds() = this / NANOSECONDS
}
