package kerasbert.desktop.window

import java.awt.AWTError
import java.awt.GraphicsEnvironment
import java.io.File
import java.lang.reflect.InvocationTargetException
import java.nio.file.InvalidPathException
import java.nio.file.Path
import java.util.Locale
import java.util.concurrent.CountDownLatch
import javax.swing.SwingUtilities
import kerasbert.core.KerasBertException
import kerasbert.core.file.ModelFile
import kerasbert.desktop.commands.Arguments
import kerasbert.desktop.commands.note
import kerasbert.desktop.litert.VARIABLE

/** Opens the window and waits until it is closed. Returns the exit code: 1 on a machine without a display. */
internal fun window(arguments: Arguments): Int {
    val demo = Demo(
        models(arguments),
        arguments.count("--threads", 1),
        System.getenv(VARIABLE),
        folder(arguments),
        { samplePhrases(File(System.getProperty("kerasbert.phrases").orEmpty())) },
    )
    if (!hasDisplay()) {
        note("error: expected a display for the window, received a machine without one; run it in a desktop session, or use predict")
        return 1
    }
    val closed = CountDownLatch(1)
    onSwingThread {
        val locale = Locale.getDefault(Locale.Category.DISPLAY)
        useLook(locale)
        DemoWindow(demo, Words.of(locale)) { closed.countDown() }.open()
    }
    closed.await()
    return 0
}

/** The models that were named, each of which must be usable; or those of the zoo. */
private fun models(arguments: Arguments): List<File> = arguments.models().onEach { ModelFile.open(it) }.ifEmpty {
    System.getProperty("kerasbert.zoo")?.let(::File)?.listFiles().orEmpty().filter { it.name.endsWith(".tflite") }.sorted()
}

private fun folder(arguments: Arguments): Path {
    val named = arguments.text("--store") ?: return FileStore.defaultFolder()
    return try {
        Path.of(named)
    } catch (_: InvalidPathException) {
        throw KerasBertException("expected a folder after --store, received $named; correct it")
    }
}

private fun hasDisplay(): Boolean = try {
    !GraphicsEnvironment.isHeadless() && GraphicsEnvironment.getLocalGraphicsEnvironment().defaultScreenDevice != null
} catch (_: AWTError) {
    false // DISPLAY names one that does not answer
} catch (_: LinkageError) {
    false // Java without its graphical part
}

private fun onSwingThread(action: () -> Unit) = try {
    SwingUtilities.invokeAndWait(action)
} catch (error: InvocationTargetException) {
    throw error.targetException
}
