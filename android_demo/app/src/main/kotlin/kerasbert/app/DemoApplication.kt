package kerasbert.app

import android.app.Application
import android.content.ComponentCallbacks2
import kerasbert.screens.AskPresenter
import kerasbert.screens.ClassifyPresenter
import kerasbert.screens.Engines
import kerasbert.screens.Models
import kerasbert.screens.SearchPresenter
import kerasbert.screens.SpeedPresenter
import kerasbert.screens.Store
import kerasbert.screens.TaughtLabel
import kerasbert.screens.TeachPresenter
import kerasbert.screens.Threads
import java.io.File

/** What lives as long as the app's process: the models and the presenters, which screens come and go before. */
open class DemoApplication : Application() {
    /** The models in the assets, and those that the person opened. */
    open val source by lazy { AppModels(assets, File(filesDir, "models")) }

    /** Where work runs. */
    val threads: Threads by lazy { MainThreads() }

    /** The models that are open. */
    val models by lazy { Models(source, engines()) }

    private val store: Store by lazy { FileStore(File(filesDir, "store")) }

    val classify by lazy { ClassifyPresenter(threads, models) }
    val ask by lazy { AskPresenter(threads, models) }
    val search by lazy { SearchPresenter(threads, models, store, ::samplePhrases) }
    val teach by lazy { TeachPresenter(threads, models, store, sampleLabels()) }
    val speed: SpeedPresenter by lazy {
        SpeedPresenter(threads, models, ::samplePhrases) { chosen -> listOf(classify, ask, search, teach).forEach { it.accelerate(chosen) } }
    }

    /** The runtime. Tests take another one, as LiteRT's library is for phones only. */
    protected open fun engines(): Engines = LiteRtEngines(this, source)

    override fun onTrimMemory(level: Int) {
        super.onTrimMemory(level)
        if (level >= ComponentCallbacks2.TRIM_MEMORY_BACKGROUND) threads.background(models::trim)
    }

    override fun onLowMemory() {
        super.onLowMemory()
        threads.background(models::trim)
    }

    private fun samplePhrases(): List<String> =
        assets.open("phrases.txt").bufferedReader().useLines { lines -> lines.filter { it.isNotBlank() }.toList() }

    private fun sampleLabels(): List<TaughtLabel> = assets.open("labels.txt").bufferedReader().useLines { lines ->
        lines.filter { '\t' in it }.map { it.split('\t', limit = 2) }.groupBy({ it[0] }, { it[1] }).map { (name, examples) -> TaughtLabel(name, examples) }
    }
}
