package kerasbert.screens

/** Where work runs. Models run one after the other, and states change on one thread only. */
interface Threads {
    /** Runs work on the one background thread that models run on. */
    fun background(work: () -> Unit)

    /** Runs work on the thread that the screen belongs to. */
    fun screen(work: () -> Unit)
}
