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

    /**
     * Returns the file that the person wants to write; null if none.
     *
     * @param name the name that is proposed.
     * @param extension is added where she leaves it out.
     * @param mayReplace asks whether a file that is there may be replaced. If not, she chooses again.
     */
    fun chooseNew(parent: Component, title: String, name: String, extension: String, mayReplace: (Component, File) -> Boolean): File? {
        val dialog = object : JFileChooser(folder) {
            override fun approveSelection() {
                selectedFile = withExtension(selectedFile, extension)
                if (!selectedFile.exists() || mayReplace(this, selectedFile)) super.approveSelection()
            }
        }
        dialog.dialogTitle = title
        dialog.fileFilter = FileNameExtensionFilter("*.$extension", extension)
        dialog.selectedFile = File(dialog.currentDirectory, name)
        if (dialog.showSaveDialog(parent) != JFileChooser.APPROVE_OPTION) return null
        folder = dialog.currentDirectory
        return dialog.selectedFile
    }

    private fun withExtension(file: File, extension: String): File =
        if (file.extension.equals(extension, ignoreCase = true)) file else File("${file.path}.$extension")
}
