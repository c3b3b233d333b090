package kerasbert.desktop.window

import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit
import javax.swing.SwingUtilities
import kerasbert.screens.Threads

/** One background thread for the models, and Swing's thread for the window. */
internal class SwingThreads : Threads {
    // Work that comes after the end is left out: the window that would show it is gone.
    private val models = ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, LinkedBlockingQueue(), ::thread, ThreadPoolExecutor.DiscardPolicy())

    override fun background(work: () -> Unit) = models.execute(work)

    override fun screen(work: () -> Unit) = SwingUtilities.invokeLater(work)

    /** Ends the background thread when its work is done, such as to save a label; not later than after some seconds. */
    fun end() {
        models.shutdown()
        models.awaitTermination(LONGEST_END, TimeUnit.SECONDS)
    }

    private fun thread(work: Runnable) = Thread(work, "models").apply {
        isDaemon = true
        priority = Thread.NORM_PRIORITY - 1 // the window comes first
    }

    private companion object {
        const val LONGEST_END = 5L
    }
}
