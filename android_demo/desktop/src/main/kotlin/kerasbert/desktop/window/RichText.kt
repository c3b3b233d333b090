package kerasbert.desktop.window

import java.awt.Color
import java.awt.Font
import javax.swing.JTextPane
import javax.swing.text.SimpleAttributeSet
import javax.swing.text.StyleConstants

/** A piece of a text with its looks. */
internal class Piece(val text: String, val background: Color? = null, val isLabel: Boolean = false)

/** A text with pieces on colors, which can be selected but not changed. */
internal class RichText(name: String, family: String = Font.SANS_SERIF) : JTextPane() {
    init {
        this.name = name
        isEditable = false
        stayInPlace()
        isOpaque = false
        background = Color(0, true) // Nimbus fills it in spite of isOpaque
        border = null
        font = Font(family, Font.PLAIN, font.size)
        val paragraph = SimpleAttributeSet().also { StyleConstants.setLineSpacing(it, LINE_SPACING) }
        setParagraphAttributes(paragraph, false)
    }

    /** Shows another text. */
    fun show(pieces: List<Piece>) {
        text = ""
        for (piece in pieces) styledDocument.insertString(styledDocument.length, piece.text, attributesOf(piece))
    }

    private fun attributesOf(piece: Piece) = SimpleAttributeSet().apply {
        StyleConstants.setForeground(this, Colors["text"])
        piece.background?.let { StyleConstants.setBackground(this, it) }
        if (piece.isLabel) {
            StyleConstants.setBold(this, true)
            StyleConstants.setFontSize(this, (LABEL_SIZE * font.size).toInt())
        }
    }

    private companion object {
        const val LABEL_SIZE = 0.75
        const val LINE_SPACING = 0.3f
    }
}
