package kerasbert.screens

/**
 * Holds the state of a screen, and tells one observer when it changes.
 *
 * It outlives the screen: a rotated screen observes the same presenter again, and misses nothing. All members are for the screen's thread.
 */
abstract class Presenter<S : Any>(initial: S, private val threads: Threads) {
    /** What the screen shows. Immutable. */
    var state: S = initial
        private set

    private var observer: ((S) -> Unit)? = null

    /** Calls `observer` with the present state and with each new one; null ends that. */
    fun observe(observer: ((S) -> Unit)?) {
        this.observer = observer
        observer?.invoke(state)
    }

    /** Shows another state. */
    protected fun show(next: S) {
        state = next
        observer?.invoke(next)
    }

    /**
     * Runs work on the background thread, and then one of the callbacks on the screen's thread.
     *
     * Newer work of the same lane replaces it: work that has not begun is left out, and a result that comes too late is dropped. So each
     * letter that a person types may start work.
     */
    protected fun <R> run(
        lane: Lane,
        kind: FailureKind,
        work: (Progress) -> R,
        done: (R) -> Unit,
        failed: (Failure) -> Unit,
        progressed: (Int, Int) -> Unit = { _, _ -> },
    ) {
        val number = lane.next()
        val progress = Progress(
            { completed, total -> threads.screen { if (lane.isNewest(number)) progressed(completed, total) } },
            { !lane.isNewest(number) },
        )
        threads.background {
            if (lane.isNewest(number)) {
                val outcome = attempt(kind) { work(progress) }
                threads.screen {
                    if (lane.isNewest(number)) {
                        when (outcome) {
                            is Outcome.Done -> done(outcome.value)
                            is Outcome.Failed -> failed(outcome.failure)
                        }
                    }
                }
            }
        }
    }
}

/** Work of one kind, of which only the newest counts. */
class Lane {
    @Volatile
    private var newest = 0

    internal fun next(): Int {
        newest += 1
        return newest
    }

    internal fun isNewest(number: Int) = number == newest

    /** Drops the work in progress and its result. */
    fun drop() {
        newest += 1
    }
}

/**
 * What long work tells and asks.
 *
 * @property report called with the steps done and all steps.
 * @property isStale whether newer work has replaced this one, so that it may end early.
 */
class Progress(val report: (Int, Int) -> Unit, val isStale: () -> Boolean)

private sealed class Outcome<out R> {
    class Done<R>(val value: R) : Outcome<R>()

    class Failed(val failure: Failure) : Outcome<Nothing>()
}

// Whatever fails, the person reads one sentence and the app goes on. A runtime without its native library is a LinkageError.
private fun <R> attempt(kind: FailureKind, work: () -> R): Outcome<R> = try {
    Outcome.Done(work())
} catch (error: Exception) {
    Outcome.Failed(failureOf(error, kind))
} catch (error: OutOfMemoryError) {
    Outcome.Failed(failureOf(error, kind))
} catch (error: LinkageError) {
    Outcome.Failed(failureOf(error, kind))
}
