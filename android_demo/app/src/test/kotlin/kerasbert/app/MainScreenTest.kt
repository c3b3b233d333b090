package kerasbert.app

import android.text.style.BackgroundColorSpan
import android.view.View
import android.widget.CheckBox
import android.widget.EditText
import android.widget.ListView
import android.widget.RadioGroup
import android.widget.TextView
import kerasbert.screens.ModelState
import kerasbert.screens.TextAnswer
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNotSame
import org.junit.Assert.assertTrue
import org.junit.Test
import java.io.File

/** The five screens as a person meets them, with the zoo's models and LiteRT's library of this machine. */
class MainScreenTest : AppTest() {
    private fun screen(id: Int): View = view<View>(id)

    @Test
    fun `labels appear while a person types`() {
        open("sentiment")
        type(R.id.classify_text, "the film was really lovely from start to end")
        awaitClassified()
        assertEquals("positive", screen(R.id.classify_bars).child<TextView>(R.id.label).text.toString())
        screenshot("classify")
    }

    @Test
    fun `entities are marked in the text, and tokens are shown on demand`() {
        open("entities")
        type(R.id.classify_text, "Ada Lovelace wrote to Charles Babbage in London.")
        view<CheckBox>(R.id.classify_show_tokens).performClick()
        await("entities", SECONDS) { app.classify.state.tokens != null && !app.classify.state.isRunning }
        val shown = view<TextView>(R.id.classify_entities)
        assertTrue("received ${shown.contentDescription}", "person: Ada Lovelace" in shown.contentDescription.toString())
        assertTrue(view<TextView>(R.id.classify_tokens).text.startsWith("[CLS]"))
        screenshot("entities")
    }

    @Test
    fun `a sentence of the text answers a question`() {
        open("search")
        press(R.id.tab_ask)
        press(R.id.ask_example)
        await("an answer", SECONDS) { app.ask.state.answered != null && !app.ask.state.isRunning }
        assertTrue(app.ask.state.answered?.answer is TextAnswer.Sentences)
        assertTrue("1987" in view<TextView>(R.id.ask_answer).text)
        screenshot("ask")
    }

    @Test
    fun `a model for answers marks its answer in the text`() {
        open("search")
        File("../testdata/models/answer.tflite").inputStream().use { app.source.add("answer.tflite", it) }
        app.ask.choose("answer.tflite")
        press(R.id.tab_ask)
        await("a model", SECONDS) { app.ask.state.model is ModelState.Ready }
        type(R.id.ask_text, QA_SENTENCE.repeat(2))
        type(R.id.ask_question, "who saw the book ?")
        press(R.id.ask_ask)
        await("an answer", SECONDS) { app.ask.state.answered != null && !app.ask.state.isRunning }
        assertTrue(app.ask.state.answered?.answer is TextAnswer.Spans)
        assertTrue("several windows were read", app.ask.state.answered!!.parts > 1)
        assertEquals("and it was very fine", view<TextView>(R.id.ask_answer).text.toString())
        val text = view<EditText>(R.id.ask_text).text
        val mark = text.getSpans(0, text.length, BackgroundColorSpan::class.java).single()
        // The second of the two sentences: an emoji before it takes two units.
        assertEquals(119 to 139, text.getSpanStart(mark) to text.getSpanEnd(mark))
        screenshot("ask-answer")
    }

    @Test
    fun `phrases are found by meaning`() {
        open("search")
        press(R.id.tab_search)
        await("an index", SECONDS) { app.search.state.corpus != null }
        type(R.id.search_query, "I want to talk to my mother")
        await("results", SECONDS) { app.search.state.matches.isNotEmpty() }
        assertEquals("I want to call mom", app.search.state.matches.first().text)
        assertEquals(app.search.state.matches.size, view<ListView>(R.id.search_hits).adapter.count)
        screenshot("search")
    }

    @Test
    fun `a few examples teach labels`() {
        open("search")
        press(R.id.tab_teach)
        await("a model", SECONDS) { app.teach.state.model is ModelState.Ready }
        press(R.id.teach_sample)
        type(R.id.teach_text, "the delivery is late")
        await("a label", SECONDS) { app.teach.state.bars != null }
        assertEquals("delivery", app.teach.state.bars?.first()?.name)
        screenshot("teach")
    }

    @Test
    fun `speed is measured, and an accelerator is compared with the CPU`() {
        open("intents")
        press(R.id.tab_speed)
        await("a model", SECONDS) { app.speed.state.accelerators.size == 2 }
        view<RadioGroup>(R.id.speed_accelerators).getChildAt(1).performClick()
        await("a model", SECONDS) { app.speed.state.model is ModelState.Ready }
        press(R.id.speed_measure)
        await("a report", SECONDS) { app.speed.state.report != null }
        assertEquals(30, app.speed.state.report?.same)
        screenshot("speed")
    }

    @Test
    fun `rotation keeps the text, its result and the screen`() {
        open("sentiment")
        type(R.id.classify_text, "two hours too long")
        awaitClassified()
        val before = activity
        rotate()
        assertNotSame(before, activity)
        assertEquals("two hours too long", view<EditText>(R.id.classify_text).text.toString())
        assertEquals("negative", screen(R.id.classify_bars).child<TextView>(R.id.label).text.toString())
        screenshot("classify-landscape")
    }

    private companion object {
        // Of android_demo/testdata/make_models.py, whose predictions name the answer.
        const val QA_SENTENCE =
            "the film was good and it was very fine , so we saw the \uD83D\uDE00 book of the river bank in a great street . "
    }
}
