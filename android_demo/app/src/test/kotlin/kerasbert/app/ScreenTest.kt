package kerasbert.app

import android.app.Activity
import android.content.Intent
import android.content.res.Configuration
import android.graphics.Bitmap
import android.graphics.Canvas
import android.graphics.Insets
import android.os.Bundle
import android.os.Looper
import android.os.Parcel
import android.view.View
import android.view.WindowInsets
import android.widget.EditText
import org.junit.After
import org.junit.Assert.fail
import org.junit.runner.RunWith
import org.robolectric.Robolectric
import org.robolectric.RobolectricTestRunner
import org.robolectric.RuntimeEnvironment
import org.robolectric.Shadows.shadowOf
import org.robolectric.android.controller.ActivityController
import java.io.File

/**
 * A test of a screen as a person meets it: open, type, press, turn the phone, look.
 *
 * The activity, its layout and its drawing are Android's own code of API 35, run on the JVM by Robolectric.
 * Set the phone up ([darkTheme], [largeFont], [language]) before [open]. Work on other threads is waited for with [await].
 */
@RunWith(RobolectricTestRunner::class)
abstract class ScreenTest {
    private val opened = mutableListOf<ActivityController<out Activity>>()

    /** The activity that was opened last; after [rotate], the instance that took its place. */
    val activity: Activity
        get() = controller.get()

    private val controller: ActivityController<out Activity>
        get() = checkNotNull(opened.lastOrNull()) { "expected open() first, received no activity" }

    /** Opens an activity as [intent] would, and brings it to the front. */
    fun <A : Activity> open(type: Class<A>, intent: Intent? = null): A {
        opened += Robolectric.buildActivity(type, intent).setup()
        idle()
        return checkNotNull(type.cast(activity))
    }

    /** The view with this id on the screen; its absence is a failure that says the id's name. */
    inline fun <reified V : View> view(id: Int): V {
        val found: View? = activity.findViewById(id)
        return found as? V ?: throw AssertionError("expected a ${V::class.java.simpleName} with id ${name(id)}, received $found")
    }

    /** The name in `R.id`, or the number of an id that has none. */
    fun name(id: Int): String = runCatching { activity.resources.getResourceEntryName(id) }.getOrDefault(id.toString())

    /** Puts [text] into a field that a person could type in. */
    fun type(id: Int, text: String) {
        val field = view<EditText>(id)
        assertUsable(field)
        field.setText(text)
        field.setSelection(field.length())
        idle()
    }

    /** Presses a view that a person could press. */
    fun press(id: Int) {
        val pressed = view<View>(id)
        assertUsable(pressed)
        if (!pressed.performClick()) fail("expected ${name(id)} to react to a press, received a view that does not")
        idle()
    }

    /** Turns the phone: the activity is made again from its saved state, unless it handles the change itself. */
    fun rotate() {
        val before = activity
        qualifiers(if (isLandscape()) "+port" else "+land")
        controller.configurationChange()
        if (activity !== before) controller.visible()
        idle()
    }

    /** Android ends the process in the background, and the person comes back: only the saved state is left. */
    fun endProcess() {
        val state = Bundle()
        val intent = activity.intent
        val type = activity.javaClass
        controller.pause().stop().saveInstanceState(state).destroy()
        opened.removeAt(opened.lastIndex)
        opened += Robolectric.buildActivity(type, intent).setup(throughParcel(state))
        idle()
    }

    fun darkTheme() = qualifiers("+night")

    fun largeFont(scale: Float = 1.5f) = RuntimeEnvironment.setFontScale(scale)

    /** A language tag of Android's resource folders, such as `de` or `ar-ldrtl`. */
    fun language(tag: String) = qualifiers("+$tag")

    /** Tells the window that the system's bars cover these pixels, as they do from API 35 on. */
    fun systemBars(top: Int, bottom: Int) {
        val bars = Insets.of(0, top, 0, bottom)
        activity.window.decorView.dispatchApplyWindowInsets(WindowInsets.Builder().setInsets(WindowInsets.Type.systemBars(), bars).build())
        idle()
    }

    /** Runs what waits on the main thread. */
    fun idle() = shadowOf(Looper.getMainLooper()).idle()

    /** Waits for [condition], which work on another thread is to bring about. */
    fun await(what: String, seconds: Int = 10, condition: () -> Boolean) {
        val end = System.nanoTime() + seconds * 1_000_000_000L
        while (true) {
            idle()
            if (condition()) return
            if (System.nanoTime() > end) fail("expected $what within $seconds s, received nothing of the kind")
            Thread.sleep(PAUSE_MS)
        }
    }

    /** Draws the window, or [view], and writes it to `target/screenshots/NAME.png`. */
    fun screenshot(name: String, view: View = activity.window.decorView): Bitmap {
        idle()
        view.jumpDrawablesToCurrentState()
        val picture = Bitmap.createBitmap(view.width, view.height, Bitmap.Config.ARGB_8888)
        view.draw(Canvas(picture))
        SCREENSHOTS.mkdirs()
        SCREENSHOTS.resolve("$name.png").outputStream().use { picture.compress(Bitmap.CompressFormat.PNG, 100, it) }
        return picture
    }

    /** Leaves each activity as a person does, so that what it forgets to close shows in its own test. */
    @After
    fun closeActivities() = opened.forEach { it.close() }

    /** State crosses processes as bytes: what cannot be written is found here. */
    private fun throughParcel(state: Bundle): Bundle {
        val parcel = Parcel.obtain()
        state.writeToParcel(parcel, 0)
        parcel.setDataPosition(0)
        return checkNotNull(parcel.readBundle(javaClass.classLoader)).also { parcel.recycle() }
    }

    private fun isLandscape() = activity.resources.configuration.orientation == Configuration.ORIENTATION_LANDSCAPE

    private fun qualifiers(change: String) = RuntimeEnvironment.setQualifiers(change)

    private fun assertUsable(view: View) {
        if (!view.isShown) fail("expected ${name(view.id)} to be shown, received a hidden view")
        if (!view.isEnabled) fail("expected ${name(view.id)} to be enabled, received a disabled view")
    }

    private companion object {
        val SCREENSHOTS = File("target/screenshots")
        const val PAUSE_MS = 5L
    }
}
