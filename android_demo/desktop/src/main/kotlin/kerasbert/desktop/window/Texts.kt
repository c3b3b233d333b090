package kerasbert.desktop.window

import java.awt.Color
import java.awt.Font
import java.awt.Graphics
import java.awt.Graphics2D
import java.awt.KeyboardFocusManager.BACKWARD_TRAVERSAL_KEYS
import java.awt.KeyboardFocusManager.FORWARD_TRAVERSAL_KEYS
import java.awt.RenderingHints
import javax.swing.JTextArea
import javax.swing.JTextField
import javax.swing.event.DocumentEvent
import javax.swing.event.DocumentListener
import javax.swing.text.DefaultCaret
import javax.swing.text.JTextComponent

private val TRANSPARENT = Color(0, true)

/** A field of one line that says what it is for while it is empty. */
internal class HintField(name: String, private val hint: String) : JTextField() {
    init {
        this.name = name
        getAccessibleContext().accessibleName = hint
    }

    override fun paintComponent(graphics: Graphics) {
        super.paintComponent(graphics)
        paintHint(graphics, hint, (height - getFontMetrics(font).height) / 2)
    }
}

/** A field of several lines that says what it is for while it is empty. */
internal class HintArea(name: String, private val hint: String, rows: Int) : JTextArea(rows, 1) {
    init {
        this.name = name
        getAccessibleContext().accessibleName = hint
        lineWrap = true
        wrapStyleWord = true
        // The tabulator leaves the field, as it does in forms.
        for (keys in listOf(FORWARD_TRAVERSAL_KEYS, BACKWARD_TRAVERSAL_KEYS)) setFocusTraversalKeys(keys, null)
    }

    override fun paintComponent(graphics: Graphics) {
        super.paintComponent(graphics)
        paintHint(graphics, hint, insets.top)
    }
}

private fun JTextComponent.paintHint(graphics: Graphics, hint: String, top: Int) {
    if (document.length > 0) return
    val own = graphics.create() as Graphics2D
    own.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON)
    own.color = Colors["text_quiet"]
    own.font = font
    own.drawString(hint, insets.left, top + own.fontMetrics.ascent)
    own.dispose()
}

/** A text that wraps, and that can be selected but not changed. */
internal class WrappedText(name: String, color: Color = Colors["text"], isBold: Boolean = false) : JTextArea() {
    init {
        this.name = name
        isEditable = false
        stayInPlace()
        lineWrap = true
        wrapStyleWord = true
        isOpaque = false
        background = TRANSPARENT // Nimbus fills it in spite of isOpaque
        border = null
        foreground = color
        if (isBold) font = font.deriveFont(Font.BOLD)
    }
}

/** A new text does not make the panel around it scroll there. */
internal fun JTextComponent.stayInPlace() {
    (caret as? DefaultCaret)?.updatePolicy = DefaultCaret.NEVER_UPDATE
}

/** Calls `changed` with the text whenever it changes. */
internal fun JTextComponent.onText(changed: (String) -> Unit) = document.addDocumentListener(
    object : DocumentListener {
        override fun insertUpdate(event: DocumentEvent) = changed(text)

        override fun removeUpdate(event: DocumentEvent) = changed(text)

        override fun changedUpdate(event: DocumentEvent) = Unit
    },
)

/** Sets a text, unless it is there already: that would end a selection. */
internal fun JTextComponent.setTextIfChanged(text: String) {
    if (text != this.text) this.text = text
}
