package kerasbert.app

import android.graphics.Bitmap
import android.graphics.Color
import android.widget.EditText
import android.widget.TextView
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNotSame
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test

/** The base of the screen tests does what it says, on an activity of its own. */
class ScreenTestTest : ScreenTest() {
    @Test
    fun `a press reaches the activity`() {
        open(ProbeActivity::class.java)
        type(ProbeActivity.FIELD, "abc")
        press(ProbeActivity.PRESS)
        assertEquals("cba", view<TextView>(ProbeActivity.ANSWER).text.toString())
        screenshot("probe")
    }

    @Test
    fun `rotation makes the activity again and keeps what was typed`() {
        val before = open(ProbeActivity::class.java)
        type(ProbeActivity.FIELD, "abc")
        rotate()
        assertNotSame(before, activity)
        assertEquals("abc", view<EditText>(ProbeActivity.FIELD).text.toString())
        val picture = screenshot("probe-landscape")
        assertTrue("expected a wide picture, received ${picture.width} x ${picture.height}", picture.width > picture.height)
        rotate()
        assertTrue(activity.window.decorView.run { width < height })
    }

    @Test
    fun `an ended process comes back with its state`() {
        val before = open(ProbeActivity::class.java)
        type(ProbeActivity.FIELD, "abc")
        endProcess()
        assertNotSame(before, activity)
        assertEquals("abc", view<EditText>(ProbeActivity.FIELD).text.toString())
    }

    @Test
    fun `the light theme is light and the dark one dark`() {
        open(ProbeActivity::class.java)
        assertTrue(brightness(screenshot("probe-light")) > 0.8f)
        darkTheme()
        open(ProbeActivity::class.java)
        assertTrue(brightness(screenshot("probe-dark")) < 0.2f)
    }

    @Test
    fun `a large font makes text taller`() {
        val usual = textSize()
        largeFont()
        assertTrue(textSize() > usual * 1.25f)
        screenshot("probe-large-font")
    }

    @Test
    fun `a language of the resources is chosen`() {
        language("de")
        assertEquals("de", open(ProbeActivity::class.java).resources.configuration.locales[0].language)
    }

    @Test
    fun `system bars push the content down`() {
        open(ProbeActivity::class.java)
        systemBars(top = 0, bottom = 0)
        val before = top(ProbeActivity.FIELD)
        systemBars(top = 100, bottom = 60)
        screenshot("probe-system-bars")
        assertEquals(before + 100, top(ProbeActivity.FIELD))
    }

    @Test
    fun `work on another thread is waited for`() {
        open(ProbeActivity::class.java)
        val answer = view<TextView>(ProbeActivity.ANSWER)
        Thread { activity.runOnUiThread { answer.text = "done" } }.start()
        await("the answer") { answer.text.toString() == "done" }
        assertThrows(AssertionError::class.java) { await("what never comes", seconds = 0) { false } }
    }

    @Test
    fun `what a person cannot reach is not pressed`() {
        open(ProbeActivity::class.java)
        view<TextView>(ProbeActivity.PRESS).isEnabled = false
        assertThrows(AssertionError::class.java) { press(ProbeActivity.PRESS) }
        assertThrows(AssertionError::class.java) { view<TextView>(id = 99) }
    }

    private fun textSize(): Float {
        open(ProbeActivity::class.java)
        return view<TextView>(ProbeActivity.ANSWER).textSize
    }

    private fun top(id: Int) = IntArray(2).also { view<TextView>(id).getLocationInWindow(it) }[1]

    /** Of the lowest part, which shows the window's background only. */
    private fun brightness(picture: Bitmap) = Color.luminance(picture.getPixel(picture.width / 2, picture.height - 10))
}
