package kerasbert.desktop.window

import java.awt.Component
import java.awt.Container
import java.awt.GraphicsEnvironment
import java.awt.Window
import java.awt.image.BufferedImage
import java.io.File
import java.nio.file.Path
import java.util.Locale
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import javax.imageio.ImageIO
import javax.swing.JButton
import javax.swing.JFileChooser
import javax.swing.JTabbedPane
import javax.swing.SwingUtilities
import javax.swing.text.JTextComponent
import kerasbert.desktop.libraryOrSkip
import org.junit.Assert.assertTrue
import org.junit.Assume.assumeFalse

private const val LONGEST = 120_000L // milliseconds until a change shows
private const val STEP = 20L

/** A window that a test types into, presses and paints. It is skipped where there is no display. */
internal class WindowForTests(models: List<File>, folder: Path, locale: Locale = Locale.ENGLISH, phrases: List<String>) : AutoCloseable {
    private val library = libraryOrSkip()
    private val closed = CountDownLatch(1)
    private lateinit var window: DemoWindow

    init {
        assumeFalse("needs a display; run it under xvfb-run", GraphicsEnvironment.isHeadless())
        onSwing {
            useLook(locale)
            window = DemoWindow(Demo(models, 1, library, folder) { phrases }, Words.of(locale)) { closed.countDown() }
            window.open()
        }
    }

    /** Turns to a tab. */
    fun turnTo(number: Int) = onSwing { (find("tabs") as JTabbedPane).selectedIndex = number }

    /** Types a text letter by letter. */
    fun type(name: String, text: String) = text.forEach { letter -> onSwing { (shown(name) as JTextComponent).replaceSelection("$letter") } }

    /** Presses a button. */
    fun press(name: String) = onSwing { (shown(name) as JButton).doClick(0) }

    /** Presses a button that asks for a file, and chooses one. */
    fun chooseFile(name: String, file: File) {
        SwingUtilities.invokeLater { (shown(name) as JButton).doClick(0) } // the dialog waits
        inDialog<JFileChooser>("a dialog for files") {
            selectedFile = file
            SwingUtilities.invokeLater { approveSelection() } // a question of its own waits as well
        }
    }

    /** Answers a dialog that comes up. */
    inline fun <reified D : Component> inDialog(what: String, crossinline answer: D.() -> Unit) {
        val dialogs = { Window.getWindows().filter { it.isShowing }.flatMap { all(it) }.filterIsInstance<D>() }
        await(what) { dialogs().isNotEmpty() }
        onSwing { dialogs().first().answer() }
    }

    /** Reads something of a component. */
    fun <C : Component, R> read(name: String, value: C.() -> R): R {
        var result: Result<R>? = null
        @Suppress("UNCHECKED_CAST")
        onSwing { result = runCatching { (shown(name) as C).value() } }
        return result!!.getOrThrow()
    }

    /** The text of a component. */
    fun text(name: String): String = read<JTextComponent, String>(name) { text }

    /** Waits until a component shows what is expected. */
    fun await(what: String, holds: () -> Boolean) {
        val end = System.currentTimeMillis() + LONGEST
        while (!runCatching(holds).getOrDefault(false)) {
            assertTrue("expected $what, received ${onScreen()}", System.currentTimeMillis() < end)
            Thread.sleep(STEP)
        }
    }

    /** Paints the window into a file of target/screenshots. */
    fun paint(name: String): BufferedImage {
        Thread.sleep(SETTLED)
        lateinit var image: BufferedImage
        onSwing {
            val pane = window.frame.rootPane
            image = BufferedImage(pane.width, pane.height, BufferedImage.TYPE_INT_RGB)
            image.createGraphics().let {
                pane.paint(it)
                it.dispose()
            }
        }
        val target = File("target/screenshots/$name.png").also { it.parentFile.mkdirs() }
        ImageIO.write(image, "png", target)
        return image
    }

    /** Closes the window as a person does, and waits for its end. */
    override fun close() {
        onSwing { window.frame.dispose() }
        assertTrue("expected the window to close", closed.await(LONGEST, TimeUnit.MILLISECONDS))
    }

    private fun onScreen(): String {
        val texts = ArrayList<String>()
        onSwing { all(window.frame).filterIsInstance<JTextComponent>().filter { it.isShowing }.mapTo(texts) { "${it.name}: ${it.text}" } }
        return texts.joinToString(" | ")
    }

    fun find(name: String): Component = checkNotNull(all(window.frame).firstOrNull { it.name == name }) { "expected a component $name" }

    private fun shown(name: String): Component =
        checkNotNull(all(window.frame).firstOrNull { it.name == name && it.isShowing }) { "expected a component $name on the screen" }

    /** Whether a component is on the screen. */
    fun shows(name: String): Boolean {
        var isShown = false
        onSwing { isShown = find(name).isShowing }
        return isShown
    }

    fun all(component: Component): Sequence<Component> =
        sequenceOf(component) + (component as? Container)?.components.orEmpty().asSequence().flatMap(::all)

    fun onSwing(action: () -> Unit) = SwingUtilities.invokeAndWait(action)

    private companion object {
        const val SETTLED = 300L // milliseconds in which the layout comes to rest
    }
}
