package kerasbert.app

import android.content.ContentResolver
import android.net.Uri
import android.provider.DocumentsContract
import android.provider.OpenableColumns
import kerasbert.screens.Destination
import java.io.FileNotFoundException
import java.io.IOException

/**
 * A document of another app that the person chose to save to. Android's picker has made it, empty, or she agreed there to replace it.
 *
 * @param resolver one that outlives the activity.
 */
class ChosenDocument(private val resolver: ContentResolver, private val document: Uri, override val name: String) : Destination {
    private var isBegun = false

    override fun write(content: ByteArray) = try {
        val stream = resolver.openOutputStream(document, TRUNCATE) ?: throw IOException("expected a file to write to, received none")
        isBegun = true
        stream.use { it.write(content) }
    } catch (error: SecurityException) {
        throw IOException("expected leave to write the file, received none", error)
    } catch (error: FileNotFoundException) {
        throw IOException("expected the file to be there, received: ${error.message}", error)
    }

    override fun discard() {
        try {
            // One to replace is still whole before the first byte is written.
            if (isBegun || isEmpty()) DocumentsContract.deleteDocument(resolver, document)
        } catch (_: FileNotFoundException) {
            // It is gone already.
        } catch (_: RuntimeException) {
            // The other app does not delete documents.
        }
    }

    private fun isEmpty(): Boolean = resolver.query(document, arrayOf(OpenableColumns.SIZE), null, null, null)
        ?.use { it.moveToFirst() && !it.isNull(0) && it.getLong(0) == 0L }
        ?: false

    private companion object {
        const val TRUNCATE = "wt" // with "w", some apps keep the end of a longer document
    }
}
