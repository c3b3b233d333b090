package kerasbert.desktop.window

import java.io.File
import java.nio.file.Path
import kerasbert.screens.AskPresenter
import kerasbert.screens.ClassifyPresenter
import kerasbert.screens.Destination
import kerasbert.screens.Models
import kerasbert.screens.SearchPresenter
import kerasbert.screens.SpeedPresenter
import kerasbert.screens.TeachPresenter

/**
 * The models and the presenters of a window, as the app's process has them.
 *
 * @param files the models to begin with.
 * @param threadCount CPU threads of a model.
 * @param library the path of LiteRT's library; null for none.
 * @param folder where taught labels and imported texts are kept.
 * @param phrases reads the phrases that are searched at first.
 */
internal class Demo(files: List<File>, threadCount: Int, library: String?, folder: Path, phrases: () -> List<String>) : AutoCloseable {
    /** The models by name. */
    val source = FileModels(files)

    /** Where work runs. */
    val threads = SwingThreads()

    private val models = Models(source, CpuEngines(source, threadCount, library))
    private val store = FileStore(folder)

    val classify = ClassifyPresenter(threads, models)
    val ask = AskPresenter(threads, models)
    val search = SearchPresenter(threads, models, store, phrases)
    val teach = TeachPresenter(threads, models, store, sampleLabels())
    val speed = SpeedPresenter(threads, models, phrases) { chosen -> listOf(classify, ask, search, teach).forEach { it.accelerate(chosen) } }

    /** A file that the person chose to save to, and agreed to replace where it is there. */
    fun destination(file: File): Destination = SavedFile(file, file.exists(), source, models)

    /** Ends what takes long, waits for what is being saved, and closes the models. For Swing's thread. */
    override fun close() {
        search.cancel()
        speed.stop()
        threads.background(models::close)
        threads.end()
    }
}
