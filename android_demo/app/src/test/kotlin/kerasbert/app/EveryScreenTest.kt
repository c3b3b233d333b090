package kerasbert.app

import android.graphics.Color
import android.view.View
import android.view.ViewGroup
import android.widget.EditText
import android.widget.TextView
import kerasbert.screens.ModelState
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNotSame
import org.junit.Assert.assertTrue
import org.junit.Test
import java.io.ByteArrayInputStream
import java.util.concurrent.CountDownLatch

/** What holds for each of the five screens. */
class EveryScreenTest : AppTest() {
    /**
     * A use of a screen.
     *
     * @property tab the button that shows the screen.
     * @property model the model of its present state.
     * @property use what a person does there.
     * @property isDone whether the result is there.
     * @property result the view that shows it.
     */
    private class Visit(val tab: Int, val model: () -> ModelState, val use: () -> Unit, val isDone: () -> Boolean, val result: Int)

    private val visits = listOf(
        Visit(R.id.tab_classify, { app.classify.state.model }, { type(R.id.classify_text, "a joy to watch") }, { app.classify.state.classified != null }, R.id.classify_result),
        Visit(R.id.tab_ask, { app.ask.state.model }, { press(R.id.ask_example) }, { app.ask.state.answered != null }, R.id.ask_answer),
        Visit(R.id.tab_search, { app.search.state.model }, { type(R.id.search_query, "call my mother") }, { app.search.state.matches.isNotEmpty() }, R.id.search_hits),
        Visit(R.id.tab_teach, { app.teach.state.model }, ::teach, { app.teach.state.bars != null }, R.id.teach_bars),
        Visit(R.id.tab_speed, { app.speed.state.model }, { press(R.id.speed_measure) }, { app.speed.state.report != null }, R.id.speed_rows),
    )

    private fun teach() {
        press(R.id.teach_sample)
        type(R.id.teach_text, "my order never came")
    }

    /** Shows a screen, and uses it once its model is ready. */
    private fun visit(visit: Visit) {
        press(visit.tab)
        await("a model", SECONDS) { visit.model() is ModelState.Ready }
        visit.use()
        await("a result", SECONDS) { visit.isDone() && view<View>(visit.result).isShown }
    }

    @Test
    fun `a turned phone keeps what each screen shows`() {
        open("sentiment", "search")
        for (visit in visits) {
            visit(visit)
            val before = activity
            rotate()
            assertNotSame(before, activity)
            assertTrue("${name(visit.tab)} shows its result", visit.isDone() && view<View>(visit.result).isShown)
            assertTrue("${name(visit.tab)} is still the one", view<View>(visit.tab).isSelected)
        }
    }

    @Test
    fun `each screen is dark at night`() {
        darkTheme()
        open("sentiment", "search")
        for (visit in visits) {
            visit(visit)
            val picture = screenshot("${name(visit.tab)}-dark")
            assertTrue(name(visit.tab), Color.luminance(picture.getPixel(2, picture.height / 2)) < DARK)
        }
    }

    @Test
    fun `each screen in German, with fonts of twice the size, cuts no text`() {
        language("de")
        largeFont(2f)
        open("sentiment", "search")
        val titles = listOf("Einordnen", "Fragen", "Suchen", "Lehren", "Tempo")
        for ((visit, title) in visits.zip(titles)) {
            visit(visit)
            assertEquals(title, view<TextView>(R.id.title).text.toString())
            screenshot("${name(visit.tab)}-german-large")
            // A long answer is whole in the text below it only.
            for (text in texts(activity.window.decorView).filter { it.id != R.id.ask_answer }) assertTrue("${name(visit.tab)} cuts ${text.text}", isWhole(text))
        }
    }

    @Test
    fun `each screen waits for a slow model and says so`() {
        open("sentiment", "search")
        await("a model", SECONDS) { visits[0].model() is ModelState.Ready } // that of the first screen is loaded at once
        for (visit in visits.drop(1)) {
            app.threads.background(app.models::close)
            app.gate = CountDownLatch(1)
            press(visit.tab)
            await("loading of ${name(visit.tab)}", SECONDS) { visit.model() is ModelState.Loading }
            assertTrue(name(visit.tab), shownScreen().child<View>(R.id.loading).isShown)
            app.gate.countDown()
            await("a model", SECONDS) { visit.model() is ModelState.Ready }
            // The index is built on the one thread that the next model is to wait on.
            await("the index", SECONDS) { app.search.state.model == ModelState.None || app.search.state.corpus != null }
        }
    }

    @Test
    fun `each screen refuses a file of another maker, and the next model works`() {
        open("sentiment", "search")
        for (visit in visits) {
            press(visit.tab)
            await("a model", SECONDS) { visit.model() is ModelState.Ready }
            choose("notes.tflite", ByteArrayInputStream("not a model".toByteArray()))
            await("a failure", SECONDS) { visit.model() is ModelState.Failed }
            assertEquals(name(visit.tab), activity.getString(R.string.failure_unreadable_model), sentence())
            presenterOf(visit).choose(if (visit === visits[0]) "sentiment.tflite" else "search.tflite")
            await("a model", SECONDS) { visit.model() is ModelState.Ready }
            assertEquals(name(visit.tab), "", sentence())
        }
    }

    private fun texts(view: View): List<TextView> = when {
        !view.isShown -> emptyList()
        view is ViewGroup -> (0 until view.childCount).flatMap { texts(view.getChildAt(it)) }
        view is TextView && view !is EditText && view.layout != null -> listOf(view)
        else -> emptyList()
    }

    private fun isWhole(view: TextView): Boolean {
        val layout = view.layout
        val hasEllipsis = (0 until layout.lineCount).any { layout.getEllipsisCount(it) > 0 }
        return !hasEllipsis && layout.height + view.compoundPaddingTop + view.compoundPaddingBottom <= view.height
    }

    private fun presenterOf(visit: Visit) = listOf(app.classify, app.ask, app.search, app.teach, app.speed)[visits.indexOf(visit)]

    private companion object {
        const val DARK = 0.2 // luminance
    }
}
