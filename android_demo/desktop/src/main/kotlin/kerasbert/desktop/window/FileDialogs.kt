package kerasbert.desktop.window

import java.awt.Component
import java.io.File
import javax.swing.JFileChooser
import javax.swing.filechooser.FileNameExtensionFilter

/** Asks for a file, first in the folder of the last one. */
internal object FileDialogs {
    private var folder: File? = null

    /** Returns the file that the person chose; null if none. */
    fun choose(parent: Component, title: String, vararg extensions: String): File? {
        val dialog = JFileChooser(folder).apply {
            dialogTitle = title
            fileFilter = FileNameExtensionFilter(extensions.joinToString(", ") { "*.$it" }, *extensions)
        }
        if (dialog.showOpenDialog(parent) != JFileChooser.APPROVE_OPTION) return null
        folder = dialog.currentDirectory
        return dialog.selectedFile
    }
}
