package kerasbert.app

import android.content.ContentProvider
import android.content.ContentValues
import android.database.MatrixCursor
import android.net.Uri
import android.os.Bundle
import android.os.ParcelFileDescriptor
import android.provider.DocumentsContract
import android.provider.OpenableColumns
import java.io.File

/** Documents of another app: files of a folder, which the picker makes and which may be written and deleted. */
class Documents : ContentProvider() {
    /** Where they are. */
    lateinit var folder: File

    /** Whether the app lets others delete its documents. */
    var canDelete = true

    /** The address of a document. */
    fun uri(name: String): Uri = Uri.parse("content://$AUTHORITY/$name")

    /** The file of a document. */
    fun file(name: String) = File(folder, name)

    override fun onCreate() = true

    override fun openFile(uri: Uri, mode: String): ParcelFileDescriptor =
        ParcelFileDescriptor.open(file(nameOf(uri)), ParcelFileDescriptor.parseMode(mode))

    override fun query(uri: Uri, projection: Array<String>?, selection: String?, arguments: Array<String>?, order: String?) =
        MatrixCursor(projection).apply {
            addRow(projection?.map { if (it == OpenableColumns.SIZE) file(nameOf(uri)).length() else nameOf(uri) })
        }

    override fun call(method: String, argument: String?, extras: Bundle?): Bundle? {
        if (method != DELETE || !canDelete) throw UnsupportedOperationException("expected no $method")
        check(file(nameOf(checkNotNull(extras?.getParcelable(DocumentsContract.EXTRA_URI, Uri::class.java)))).delete())
        return null
    }

    override fun getType(uri: Uri) = "application/octet-stream"

    override fun insert(uri: Uri, values: ContentValues?): Uri? = null

    override fun delete(uri: Uri, selection: String?, arguments: Array<String>?) = 0

    override fun update(uri: Uri, values: ContentValues?, selection: String?, arguments: Array<String>?) = 0

    private fun nameOf(uri: Uri) = checkNotNull(uri.lastPathSegment)

    companion object {
        const val AUTHORITY = "other.documents"
        private const val DELETE = "android:deleteDocument"
    }
}
