package kerasbert.desktop.window

import java.awt.Font
import java.util.Locale
import javax.swing.JComponent
import javax.swing.UIManager
import javax.swing.plaf.nimbus.NimbusLookAndFeel

/** Space between two components. */
internal const val GAP = 8

/** Space around them. */
internal const val MARGIN = 14

private const val FONT_SIZE = 14

/**
 * Sets the looks of all windows: Nimbus in the app's colors. Call it before the first component is made.
 *
 * @param locale the language of the buttons in Swing's own dialogs.
 */
internal fun useLook(locale: Locale) {
    JComponent.setDefaultLocale(locale)
    // Without a desktop environment Java does not smooth letters.
    for (property in listOf("awt.useSystemAAFontSettings", "swing.aatext")) if (System.getProperty(property) == null) System.setProperty(property, "on")
    val look = NimbusLookAndFeel()
    look.defaults["defaultFont"] = Font(Font.SANS_SERIF, Font.PLAIN, FONT_SIZE)
    UIManager.put("control", Colors["background"])
    UIManager.put("text", Colors["text"])
    UIManager.put("nimbusFocus", Colors["accent"])
    UIManager.put("nimbusSelectionBackground", Colors["accent"])
    UIManager.setLookAndFeel(look)
}
