package kerasbert.desktop.window

import java.io.File
import java.io.IOException
import java.nio.file.FileSystemException
import java.nio.file.Files
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.StandardCopyOption.REPLACE_EXISTING
import java.nio.file.StandardOpenOption.CREATE_NEW
import java.util.UUID
import kerasbert.core.KerasBertException
import kerasbert.core.file.TaskType
import kerasbert.screens.Destination
import kerasbert.screens.Models

/**
 * A file that the person chose to save labels to. It is there as a whole, or not at all.
 *
 * @param isReplaced whether she agreed to replace a file that is there.
 */
internal class SavedFile(
    private val file: File,
    private val isReplaced: Boolean,
    private val source: FileModels,
    private val models: Models,
) : Destination {
    override val name: String get() = file.name

    override fun write(content: ByteArray) {
        val opened = source.namesOf(file)
        // Labels that were taught before are replaced; the encoder that teaches them is not.
        if (opened.any { models.file(it).metadata.type != TaskType.FEW_SHOT }) {
            throw KerasBertException("expected a file that is none of the opened models, received $file; choose another name")
        }
        writeWhole(content)
        opened.forEach(models::forget)
    }

    override fun discard() = Unit

    private fun writeWhole(content: ByteArray) {
        val target = file.toPath()
        // Not Java's temporary file: nobody else may read that one.
        val partial = target.resolveSibling(".kerasbert-${UUID.randomUUID()}.partial")
        try {
            writeToDisk(partial, content, CREATE_NEW)
            // Without consent, a file that came meanwhile is not replaced either.
            if (isReplaced) Files.move(partial, target, ATOMIC_MOVE, REPLACE_EXISTING) else Files.move(partial, target)
        } catch (error: FileSystemException) {
            // Its own message names the partial file.
            throw IOException("expected to write $file, received ${error.reason ?: error.javaClass.simpleName}", error)
        } finally {
            Files.deleteIfExists(partial)
        }
    }
}
