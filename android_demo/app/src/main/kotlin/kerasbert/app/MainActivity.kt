package kerasbert.app

import android.app.Activity
import android.app.AlertDialog
import android.content.Intent
import android.net.Uri
import android.os.Bundle
import android.provider.OpenableColumns
import android.view.View
import android.view.ViewGroup
import android.widget.Button
import android.widget.TextView
import kerasbert.core.KerasBertException
import kerasbert.screens.ModelEntry
import kerasbert.screens.ModelState
import java.io.FileNotFoundException
import java.io.IOException
import java.io.InputStream

/** The app: five screens, of which one is shown. All of them are there from the start, so that Android keeps what was typed in each. */
class MainActivity : Activity() {
    private val app get() = application as DemoApplication
    private lateinit var screens: List<Screen>
    private lateinit var tabs: List<Button>
    private var current = 0
    private var dialog: AlertDialog? = null

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        setContentView(R.layout.main)
        keepClearOfBars(window.decorView.child(R.id.main))
        screens = makeScreens(window.decorView.child(R.id.content))
        tabs = TABS.map { window.decorView.child<Button>(it) }
        tabs.forEachIndexed { number, tab -> tab.setOnClickListener { choose(number) } }
        window.decorView.child<View>(R.id.model).setOnClickListener { offerModels() }
        choose(savedInstanceState?.getInt(CURRENT) ?: 0)
    }

    // After the texts of the screens were restored, which presenters that were not there before read now.
    override fun onPostCreate(savedInstanceState: Bundle?) {
        super.onPostCreate(savedInstanceState)
        screens.forEach { screen -> screen.attach { if (screen === screens[current]) showModel(screen.model) } }
    }

    override fun onSaveInstanceState(outState: Bundle) {
        super.onSaveInstanceState(outState)
        outState.putInt(CURRENT, current)
    }

    override fun onDestroy() {
        dialog?.dismiss()
        screens.forEach { it.detach() }
        super.onDestroy()
    }

    private fun makeScreens(content: ViewGroup): List<Screen> = listOf(
        ClassifyScreen(inflate(R.layout.screen_classify, content), app.classify),
        AskScreen(inflate(R.layout.screen_ask, content), app.ask),
        SearchScreen(inflate(R.layout.screen_search, content), app.search) { chooseFile(TEXTS, TEXT_TYPES) },
        TeachScreen(inflate(R.layout.screen_teach, content), app.teach) { chooseDestination(TAUGHT, TAUGHT_NAME) },
        SpeedScreen(inflate(R.layout.screen_speed, content), app.speed),
    )

    private fun inflate(layout: Int, content: ViewGroup): View =
        layoutInflater.inflate(layout, content, false).also(content::addView)

    private fun choose(number: Int) {
        current = number
        screens.forEachIndexed { place, screen -> screen.root.isVisible = place == number }
        tabs.forEachIndexed { place, tab -> tab.isSelected = place == number }
        window.decorView.child<TextView>(R.id.title).text = tabs[number].text
        screens[number].presenter.start()
        showModel(screens[number].model)
    }

    private fun showModel(model: ModelState) {
        val button = window.decorView.child<Button>(R.id.model)
        val name = when (model) {
            is ModelState.Ready -> model.entry.name.removeSuffix(SUFFIX)
            is ModelState.Loading -> model.name.removeSuffix(SUFFIX)
            is ModelState.Failed -> model.name.removeSuffix(SUFFIX).ifEmpty { getString(R.string.model_none) }
            ModelState.None -> getString(R.string.model_none)
        }
        button.setTextIfChanged(name)
        button.contentDescription = getString(R.string.model_chosen, name)
    }

    private fun offerModels() {
        val screen = screens[current]
        app.threads.background {
            val entries = screen.presenter.choices()
            app.threads.screen { if (!isDestroyed) offer(screen, entries) }
        }
    }

    private fun offer(screen: Screen, entries: List<ModelEntry>) {
        val numbers = this.numbers
        val lines = entries.map {
            getString(R.string.model_facts, it.name.removeSuffix(SUFFIX), nameOf(it.type), numbers.bytes(it.bytes.toLong()))
        }
        val chosen = entries.indexOfFirst { it.name == (screen.model as? ModelState.Ready)?.entry?.name }
        dialog = AlertDialog.Builder(this)
            .setTitle(R.string.model_choose)
            .setSingleChoiceItems(lines.toTypedArray(), chosen) { shown, which ->
                screen.presenter.choose(entries[which].name)
                shown.dismiss()
            }
            .setNeutralButton(R.string.model_open_file) { _, _ -> chooseFile(MODEL, arrayOf(ANY_TYPE)) }
            .setNegativeButton(android.R.string.cancel, null)
            .show()
    }

    private fun chooseFile(request: Int, types: Array<String>) {
        val intent = Intent(Intent.ACTION_OPEN_DOCUMENT)
            .addCategory(Intent.CATEGORY_OPENABLE)
            .setType(ANY_TYPE)
            .putExtra(Intent.EXTRA_MIME_TYPES, types)
        startActivityForResult(intent, request)
    }

    private fun chooseDestination(request: Int, name: String) {
        val intent = Intent(Intent.ACTION_CREATE_DOCUMENT)
            .addCategory(Intent.CATEGORY_OPENABLE)
            .setType(BYTES_TYPE)
            .putExtra(Intent.EXTRA_TITLE, name)
        startActivityForResult(intent, request)
    }

    @Deprecated("Deprecated in Java; its successor is a part of androidx.")
    override fun onActivityResult(requestCode: Int, resultCode: Int, data: Intent?) {
        val file = data?.data
        if (resultCode != RESULT_OK || file == null) return
        if (requestCode == TEXTS) app.search.import(nameOf(file)) { read(file) }
        if (requestCode == MODEL) screens[current].presenter.add(nameOf(file)) { app.source.add(nameOf(file), stream(file)) }
        if (requestCode == TAUGHT) app.teach.save(ChosenDocument(app.contentResolver, file, nameOf(file)))
    }

    private fun nameOf(file: Uri): String = contentResolver.query(file, arrayOf(OpenableColumns.DISPLAY_NAME), null, null, null)
        ?.use { if (it.moveToFirst()) it.getString(0) else null }
        ?: file.lastPathSegment.orEmpty()

    private fun read(file: Uri): ByteArray = stream(file).use { content ->
        val bytes = content.readNBytesOrFewer(MOST_TEXT)
        if (bytes.size > MOST_TEXT) throw KerasBertException("expected a file of at most ${MOST_TEXT shr 20} MB, received a larger one; split it")
        bytes
    }

    private fun stream(file: Uri): InputStream = try {
        contentResolver.openInputStream(file) ?: throw IOException("expected a file, received none")
    } catch (error: SecurityException) {
        throw IOException("expected leave to read the file, received none", error)
    } catch (error: FileNotFoundException) {
        throw IOException("expected the file to be there, received: ${error.message}", error)
    }

    private companion object {
        const val CURRENT = "screen"
        const val SUFFIX = ".tflite"
        const val MODEL = 1
        const val TEXTS = 2
        const val TAUGHT = 3
        const val TAUGHT_NAME = "taught.tflite"
        const val ANY_TYPE = "*/*"
        const val BYTES_TYPE = "application/octet-stream"
        const val MOST_TEXT = 64 shl 20
        val TEXT_TYPES = arrayOf("text/*", "application/csv", BYTES_TYPE)
        val TABS = listOf(R.id.tab_classify, R.id.tab_ask, R.id.tab_search, R.id.tab_teach, R.id.tab_speed)
    }
}
