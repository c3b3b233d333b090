package kerasbert.core.timing

import org.junit.Assert.assertEquals
import org.junit.Test

class LatencyClockTest {
    private var time = 0L

    private fun LatencyClock.runs(vararg milliseconds: Int) = milliseconds.forEach { length -> run { time += length * 1_000_000L } }

    @Test
    fun `loading and the first run are apart from the others`() {
        val clock = LatencyClock { time }
        assertEquals("loaded", clock.load { "loaded".also { time += 80_000_000 } })
        clock.runs(50, 4, 1, 3, 2)
        val latency = clock.latency()
        assertEquals(latency.copy(load = 80.0, first = 50.0, p50 = 2.5, runs = 4), latency)
        assertEquals(3.85, latency.p95!!, 1e-9)
    }

    @Test
    fun `quantiles are those of NumPy`() {
        val clock = LatencyClock { time }
        clock.runs(0, *IntArray(200) { (it * 37) % 200 })
        val latency = clock.latency()
        assertEquals(99.5, latency.p50!!, 1e-9)
        assertEquals(189.05, latency.p95!!, 1e-9)
        assertEquals(200, latency.runs)
    }

    @Test
    fun `nothing is measured before a run`() = assertEquals(Latency(null, null, null, null, 0), LatencyClock { time }.latency())
}
