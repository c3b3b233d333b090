package kerasbert.desktop.window

import java.awt.Color
import java.io.File
import java.util.Locale
import javax.swing.JComboBox
import javax.swing.JFileChooser
import javax.swing.JLabel
import javax.swing.JList
import javax.swing.JOptionPane
import javax.swing.JProgressBar
import javax.swing.JTextArea
import javax.swing.JTextField
import javax.swing.JTextPane
import javax.swing.text.StyleConstants
import kerasbert.core.file.ModelFile
import kerasbert.core.model.TextModel
import kerasbert.core.search.Match
import kerasbert.core.tasks.FewShotClassification
import kerasbert.core.tasks.taskOf
import kerasbert.desktop.libraryOrSkip
import kerasbert.desktop.litert.JnaEngine
import kerasbert.desktop.modelsFolder
import kerasbert.screens.ModelEntry
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder

/** The window with real models on LiteRT: typed into, pressed and painted into target/screenshots. */
class WindowTest {
    @get:Rule
    val folder = TemporaryFolder()

    private val phrases = listOf("remind me to lock the door", "is it snowing in mumbai", "call kim", "play some music", "set an alarm for six")
    private val zoo = File("../../zoo/files").listFiles().orEmpty().filter { it.name.endsWith(".tflite") && it.name != "banking.tflite" }.sorted()

    /** The zoo's models that are in the app, where they are; else the tiny ones. */
    private val models = zoo.ifEmpty { listOf("label", "tags", "answer", "vector").map { File(modelsFolder, "$it.tflite") } }

    private fun open(locale: Locale = Locale.ENGLISH, files: List<File> = models) = WindowForTests(files, folder.root.toPath(), locale, phrases)

    private fun WindowForTests.choose(type: String) {
        await("a model") { read<JComboBox<ModelEntry>, Boolean>("model") { selectedItem != null && itemCount > 0 } }
        read<JComboBox<ModelEntry>, Unit>("model") {
            selectedItem = checkNotNull(List(itemCount, ::getItemAt).firstOrNull { it.type.key == type }) { "expected a model for $type" }
        }
    }

    private fun WindowForTests.labels(name: String): List<String> =
        read<BarRows, List<String>>(name) { components.filterIsInstance<JLabel>().map { it.text } }

    @Test
    fun `labels while a person types`() = open().use { window ->
        window.choose("single_label")
        window.type("classify_text", "play some jazz in the kitchen")
        window.await("labels") { window.labels("classify_bars").isNotEmpty() && "tokens" in window.text("classify_facts") }
        val labels = window.labels("classify_bars")
        assertTrue(labels.toString(), labels.size >= 2 * 2 && labels.filter { "%" in it }.size == labels.size / 2)
        val bars = window.read<BarRows, List<JProgressBar>>("classify_bars") { components.filterIsInstance<JProgressBar>() }
        assertEquals(listOf(Colors["bar"]) + List(bars.size - 1) { Colors["bar_other"] }, bars.map { it.foreground })
        assertEquals(bars.map { it.value }.sortedDescending(), bars.map { it.value })
        assertTrue("${bars[0].value}", bars[0].value > bars[0].maximum / bars.size)
        window.paint("classify")
        window.press("classify_clear")
        window.await("the explanation") { window.text("empty") == "Labels or entities appear here while you type. The text stays on this device." }
    }

    @Test
    fun `entities on their colors, and tokens`() = open().use { window ->
        window.choose("tagging")
        window.type("classify_text", "Angela Merkel met Barack Obama in Berlin, remind me to call them at six")
        window.await("entities") { "Angela Merkel" in window.text("classify_entities") && "Berlin" in window.text("classify_entities") }
        window.await("the newest text") { "six" in window.text("classify_entities") }
        val isColored = window.read<JTextPane, Boolean>("classify_entities") {
            (0 until document.length).any { StyleConstants.getBackground(styledDocument.getCharacterElement(it).attributes) == Colors["entity_1"] }
        }
        window.read<javax.swing.JCheckBox, Unit>("classify_show_tokens") { doClick() }
        window.await("tokens") { "[CLS]" in window.text("classify_tokens") }
        val image = window.paint("tag")
        assertTrue("expected tokens on their colors", image.has(Colors["token_even"]) && image.has(Colors["token_odd"]))
        if (zoo.isNotEmpty()) assertTrue("expected a color of an entity", isColored || image.has(Colors["entity_2"]))
    }

    @Test
    fun `the answer is marked in the text`() = open().use { window ->
        window.turnTo(ASK)
        window.choose("embedding")
        window.press("ask_example")
        window.await("an answer") { window.text("ask_answer").isNotEmpty() && " ms" in window.text("ask_facts") }
        val marks = window.read<JTextArea, List<String>>("ask_text") { highlighter.highlights.map { text.substring(it.startOffset, it.endOffset) } }
        assertEquals(listOf(window.text("ask_answer")), marks)
        assertTrue("expected the color of the answer", window.paint("ask").has(Colors["answer"]))
        window.type("ask_text", " More.")
        assertEquals(0, window.read<JTextArea, Int>("ask_text") { highlighter.highlights.size })
    }

    @Test
    fun `hits while a person types`() = open().use { window ->
        window.turnTo(SEARCH)
        window.await("the sample's index") { "5 sentences" in window.read<JLabel, String>("search_corpus") { text } }
        window.type("search_query", "is it snowing in mumbai")
        window.await("the phrase itself first") { window.read<JList<Match>, String>("search_hits") { model.getElementAt(0).text } == phrases[1] }
        window.await("all phrases") { window.read<JList<Match>, Int>("search_hits") { model.size } == phrases.size }
        window.paint("search")
        window.await("the time") { "index · " in window.read<JLabel, String>("search_corpus") { text } }
    }

    @Test
    fun `taught labels are kept`() {
        open().use { window ->
            window.turnTo(TEACH)
            window.await("a model") { window.read<JComboBox<ModelEntry>, Boolean>("model") { selectedItem != null } }
            window.await("the explanation") { "Name two or more labels" in window.text("empty") }
            window.press("teach_sample")
            window.type("teach_text", "my money has not come back")
            window.await("bars") { window.labels("teach_bars").size >= 2 * 2 }
            window.paint("teach")
            window.type("teach_new_label", "my own")
            window.press("teach_add_label")
            window.await("the new label") { window.read<Column, Boolean>("teach_labels") { componentCount == sampleLabels().size + 1 } }
        }
        assertTrue(File(folder.root, "taught-labels").readText().contains("my own\n"))
        assertFalse(folder.root.list().orEmpty().any { it.endsWith(".partial") })
        open().use { window ->
            window.turnTo(TEACH)
            window.await("the stored labels") { window.read<Column, Boolean>("teach_labels") { componentCount == sampleLabels().size + 1 } }
        }
    }

    @Test
    fun `taught labels are saved as a file, which another one replaces where the person agrees`() = open().use { window ->
        val file = File(folder.newFolder(), "mine.tflite")
        window.turnTo(TEACH)
        window.await("the explanation") { "Name two or more labels" in window.text("empty") }
        assertFalse("no labels", window.shows("teach_save"))
        window.press("teach_sample")
        window.type("teach_text", "my money has not come back")
        window.await("bars") { window.labels("teach_bars").size >= 2 * 2 }
        window.chooseFile("teach_save", File(file.parentFile, "mine"))
        window.await("the file") { window.text("teach_saved") == "Saved as mine.tflite." }
        window.paint("teach-saved")
        val first = file.readBytes()
        val label = taskOf(TextModel.open(ModelFile.open(file)) { JnaEngine.open(file, 1, libraryOrSkip()) }).use { task ->
            (task as FewShotClassification).classify("my money has not come back").label
        }
        assertEquals("the likeliest", window.labels("teach_bars").first(), label)

        window.type("teach_new_label", "my own")
        window.press("teach_add_label")
        window.await("nothing saved") { window.text("teach_saved").isEmpty() }
        window.onSwing { window.all(window.find("teach_labels")).filterIsInstance<JTextField>().last().run { text = "an example"; postActionEvent() } }
        window.chooseFile("teach_save", file)
        window.inDialog<JOptionPane>("a question") {
            assertEquals("mine.tflite already exists. Replace it?", message)
            value = JOptionPane.NO_OPTION
        }
        window.inDialog<JFileChooser>("the dialog again") { cancelSelection() }
        assertArrayEquals("she did not agree", first, file.readBytes())
        window.chooseFile("teach_save", file)
        window.inDialog<JOptionPane>("a question") { value = JOptionPane.YES_OPTION }
        window.await("the file") { window.text("teach_saved") == "Saved as mine.tflite." }
        assertEquals("my own", ModelFile.open(file).metadata.labels?.last())
        assertEquals(listOf("mine.tflite"), file.parentFile.list().orEmpty().toList())
    }

    @Test
    fun `a file that cannot be saved is told`() = open().use { window ->
        window.turnTo(TEACH)
        window.await("the explanation") { "Name two or more labels" in window.text("empty") }
        window.press("teach_sample")
        window.await("the button") { window.shows("teach_save") }
        window.chooseFile("teach_save", File(folder.root, "none/mine.tflite"))
        window.await("a failure") { window.text("failure_sentence") == "The file could not be saved." }
        assertTrue(window.text("failure_detail"), "none/mine.tflite, received NoSuchFileException" in window.text("failure_detail"))
        window.paint("teach-not-saved")
        assertFalse(File(folder.root, "none").exists())
    }

    @Test
    fun `a measurement, in German`() = open(Locale.GERMAN).use { window ->
        window.turnTo(SPEED)
        window.await("a model") { window.read<javax.swing.JButton, Boolean>("speed_measure") { isEnabled } }
        window.press("speed_measure")
        window.await("a report") { window.read<FactRows, Boolean>("speed_rows") { componentCount > 0 } }
        window.paint("speed-de")
        val facts = window.read<FactRows, List<String>>("speed_rows") { components.filterIsInstance<JLabel>().map { it.text } }
        assertTrue(facts.toString(), "Median von 50 Läufen" in facts && facts.any { "LiteRT" in it })
    }

    @Test
    fun `a file is opened, and another is refused`() = open(files = emptyList()).use { window ->
        window.await("the sentence") { window.text("failure_sentence") == "There is no model for this screen." }
        window.chooseFile("model_open", File(modelsFolder, "label.tflite"))
        window.await("the model") { window.read<JComboBox<ModelEntry>, String>("model") { (selectedItem as ModelEntry).name } == "label.tflite" }
        window.type("classify_text", "a text")
        window.await("labels") { window.labels("classify_bars").isNotEmpty() }
        window.chooseFile("model_open", File(modelsFolder, "predictions.json"))
        window.await("a refusal") { window.text("failure_sentence") == "This file is not a usable model of kerasbert." }
        assertTrue(window.text("failure_detail"), "expected a .tflite file" in window.text("failure_detail"))
        window.paint("refused")
        window.chooseFile("model_open", File(modelsFolder, "vector.tflite"))
        window.await("a refusal") { window.text("failure_sentence") == "This model is for another task." }
    }

    @Test
    fun `the column of a table is asked for, and its texts are searched`() = open().use { window ->
        val table = folder.newFile("table.csv").apply { writeText("id,text\n1,the ferry runs at night\n2,bicycles are free\n") }
        window.turnTo(SEARCH)
        window.await("the sample's index") { "5 sentences" in window.read<JLabel, String>("search_corpus") { text } }
        window.chooseFile("search_import", table)
        window.inDialog<JOptionPane>("a question") {
            assertEquals(listOf("id", "text"), selectionValues.map { it.toString() })
            assertEquals("text", initialSelectionValue.toString())
            inputValue = initialSelectionValue
            value = JOptionPane.OK_OPTION
        }
        window.await("the index") { "table.csv · 2 sentences" in window.read<JLabel, String>("search_corpus") { text } }
        window.type("search_query", "bicycles are free")
        window.await("the text") { window.read<JList<Match>, String>("search_hits") { model.getElementAt(0).text } == "bicycles are free" }
    }

    @Test
    fun `without a model, one sentence and what to do`() = open(files = emptyList()).use { window ->
        window.await("the sentence") { window.text("failure_sentence") == "There is no model for this screen." }
        assertTrue("Open a .tflite file" in window.text("failure_detail"))
        assertTrue("expected the color of failures", window.paint("no-model").has(Colors["failure"]))
    }

    private fun java.awt.image.BufferedImage.has(color: Color) = (0 until width).any { x -> (0 until height).any { y -> getRGB(x, y) == color.rgb } }

    private companion object {
        const val ASK = 1
        const val SEARCH = 2
        const val TEACH = 3
        const val SPEED = 4
    }
}
