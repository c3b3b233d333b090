package kerasbert.app

import android.view.View
import android.view.ViewGroup
import android.widget.EditText
import android.widget.TextView
import kerasbert.screens.ModelState
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test

/** The screens in the dark, in another language, with large fonts, and for a screen reader. */
class AccessTest : AppTest() {
    private val tabs = listOf(R.id.tab_classify, R.id.tab_ask, R.id.tab_search, R.id.tab_teach, R.id.tab_speed)

    @Test
    fun `the screen reader has a name for whatever can be pressed, and all of it is large enough`() {
        open("sentiment", "search")
        for (tab in tabs) {
            press(tab)
            await("a model", SECONDS) { app.classify.state.model is ModelState.Ready }
            if (tab == R.id.tab_teach) press(R.id.teach_sample)
            for (view in pressable(activity.window.decorView)) {
                assertTrue("no name: ${name(view.id)}", nameOf(view).isNotEmpty())
                assertTrue("${name(view.id)} is ${view.height} pixels high", view.height >= (TOUCH * activity.resources.displayMetrics.density).toInt())
            }
        }
    }

    @Test
    fun `nothing can leave the phone`() {
        val permissions = app.packageManager.getPackageInfo(app.packageName, android.content.pm.PackageManager.GET_PERMISSIONS).requestedPermissions
        assertEquals(emptyList<String>(), permissions.orEmpty().toList())
    }

    @Test
    fun `the dark theme`() {
        darkTheme()
        open("entities")
        type(R.id.classify_text, "Ada Lovelace wrote to Charles Babbage in London.")
        awaitClassified()
        val picture = screenshot("entities-dark")
        assertTrue("the background is dark", android.graphics.Color.luminance(picture.getPixel(picture.width / 2, picture.height / 2)) < 0.2)
    }

    @Test
    fun `German, with fonts of twice the size`() {
        language("de")
        largeFont(2f)
        open("search")
        press(R.id.tab_teach)
        await("a model", SECONDS) { app.teach.state.model is ModelState.Ready }
        assertEquals("Lehren", view<TextView>(R.id.title).text.toString())
        press(R.id.teach_sample)
        type(R.id.teach_text, "my order never came")
        await("a label", SECONDS) { app.teach.state.bars != null }
        screenshot("teach-german-large")
        press(R.id.tab_ask)
        screenshot("ask-german-large")
    }

    private fun pressable(view: View): List<View> = when {
        !view.isShown -> emptyList()
        view is ViewGroup -> (0 until view.childCount).flatMap { pressable(view.getChildAt(it)) }
        view.isClickable && view.isEnabled && view.isImportantForAccessibility -> listOf(view)
        else -> emptyList()
    }

    private fun nameOf(view: View): String =
        listOfNotNull(view.contentDescription, (view as? TextView)?.text, (view as? EditText)?.hint).joinToString("")

    private companion object {
        const val TOUCH = 48 // dp
    }
}
