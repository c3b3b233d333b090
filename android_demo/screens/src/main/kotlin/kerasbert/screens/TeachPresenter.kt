package kerasbert.screens

import java.io.IOException
import kerasbert.core.KerasBertException
import kerasbert.core.file.TaskType
import kerasbert.core.tasks.SentenceEncoding

private const val STORED = "taught-labels"

/**
 * A label with its examples.
 *
 * @property name the label.
 * @property examples texts that have it.
 */
data class TaughtLabel(val name: String, val examples: List<String>)

/**
 * The screen *Teach*.
 *
 * @property labels the labels in the order in which they were added.
 * @property text the text to classify.
 * @property bars the labels of the text, the likeliest first; null where there is no text, or no two labels have examples.
 * @property saving the file of the labels that the person asked for.
 */
data class TeachState(
    val model: ModelState = ModelState.None,
    val labels: List<TaughtLabel> = emptyList(),
    val text: String = "",
    val bars: List<LabelBar>? = null,
    val saving: Saving = Saving.None,
    val failure: Failure? = null,
) {
    /** Whether two labels have an example each, so that there is something to choose. */
    val canClassify: Boolean get() = labels.count { it.examples.isNotEmpty() } >= 2

    /** Whether there are labels to save, and a sentence encoder that taught them. */
    val canSave: Boolean get() = canClassify && model is ModelState.Ready

    /** What went wrong last. */
    val problem: Failure? get() = failure ?: (saving as? Saving.Failed)?.failure
}

/**
 * Classifies texts by labels of the person's own, from a few examples each.
 *
 * @param sample labels with examples, to try it.
 */
class TeachPresenter(
    threads: Threads,
    models: Models,
    private val store: Store,
    private val sample: List<TaughtLabel>,
) : ModelPresenter<TeachState>(TeachState(), threads, models, listOf(TaskType.EMBEDDING)) {
    private val restoring = Lane()
    private val storing = Lane()
    private val classifying = Lane()
    private var isRestored = false
    private val texts = TaughtTexts()

    /** Adds a label without examples, unless there is one of that name. */
    fun addLabel(name: String) {
        val label = name.trim()
        if (label.isNotEmpty() && state.labels.none { it.name == label }) change(state.labels + TaughtLabel(label, emptyList()))
    }

    /** Removes a label with its examples. */
    fun removeLabel(name: String) = change(state.labels.filter { it.name != name })

    /** Adds an example to a label, unless it has it. */
    fun addExample(label: String, example: String) {
        val text = example.trim()
        if (text.isEmpty()) return
        change(state.labels.map { if (it.name == label && text !in it.examples) it.copy(examples = it.examples + text) else it })
    }

    /** Removes an example of a label. */
    fun removeExample(label: String, example: String) =
        change(state.labels.map { if (it.name == label) it.copy(examples = it.examples - example) else it })

    /** Adds the sample's labels and examples to those of the person. */
    fun addSample() {
        val own = state.labels.associateBy { it.name }
        val added = sample.map { TaughtLabel(it.name, (own[it.name]?.examples.orEmpty() + it.examples).distinct()) }
        change(state.labels.filter { label -> added.none { it.name == label.name } } + added)
    }

    /** The person typed a text. */
    fun write(text: String) {
        if (text == state.text) return
        show(state.copy(text = text))
        classify()
    }

    /**
     * Saves the labels as a `.tflite` file, which every part of kerasbert opens as a classifier.
     *
     * Without a model, or without two labels with examples, it fails. Labels that change meanwhile do not change the file.
     */
    fun save(destination: Destination) {
        val asked = state
        show(state.copy(saving = Saving.Running(destination.name)))
        run(
            Lane(), // each file that was asked for is written: a newer one does not replace it
            FailureKind.SAVING,
            { write(asked, destination) },
            { show(state.copy(saving = Saving.Done(destination.name))) },
            { show(state.copy(saving = Saving.Failed(it))) },
        )
    }

    override fun modelOf(state: TeachState) = state.model

    override fun withModel(state: TeachState, model: ModelState) = state.copy(model = model, saving = running(state), failure = null)

    override fun modelReady() {
        if (isRestored) return classify()
        run(
            restoring,
            FailureKind.STORAGE,
            { store.read(STORED)?.let { labelsOf(it.toString(Charsets.UTF_8)) }.orEmpty() },
            { labels ->
                isRestored = true
                // What the person added meanwhile comes after what was stored.
                show(state.copy(labels = labels + state.labels.filter { added -> labels.none { it.name == added.name } }))
                classify()
            },
            { show(state.copy(failure = it)) },
        )
    }

    private fun change(labels: List<TaughtLabel>) {
        show(state.copy(labels = labels, saving = running(state), failure = null))
        run(
            storing,
            FailureKind.STORAGE,
            { store(labels) },
            {},
            { show(state.copy(failure = it)) },
        )
        classify()
    }

    private fun store(labels: List<TaughtLabel>) = try {
        store.write(STORED, textOf(labels).toByteArray())
    } catch (error: IOException) {
        throw FailedException(failureOf(error, FailureKind.STORAGE))
    }

    private fun classify() {
        val model = state.model as? ModelState.Ready ?: return
        val (text, labels) = Pair(state.text, state.labels)
        if (text.isBlank() || !state.canClassify) {
            classifying.drop()
            show(state.copy(bars = null))
            return
        }
        run(
            classifying,
            FailureKind.ENGINE,
            { texts.classify(encoder(model), labels, text) },
            { show(state.copy(bars = it, failure = null)) },
            { show(state.copy(bars = null, failure = it)) },
        )
    }

    private fun encoder(model: ModelState.Ready) = task(model) as SentenceEncoding

    /** A file that is on its way; what was said about an earlier one is over. */
    private fun running(state: TeachState): Saving = state.saving as? Saving.Running ?: Saving.None

    private fun write(asked: TeachState, destination: Destination) {
        var isWritten = false
        try {
            destination.write(fileOf(asked))
            isWritten = true
        } finally {
            if (!isWritten) destination.discard()
        }
    }

    private fun fileOf(asked: TeachState): ByteArray {
        val model = asked.model as? ModelState.Ready
            ?: throw KerasBertException("expected a sentence encoder that is loaded, received none; save again when it is")
        if (!asked.canClassify) throw KerasBertException("expected two labels with an example each, received fewer; add some")
        return texts.file(encoder(model), asked.labels, models.content(model.entry.name))
    }
}

/** The labels as text: a line for each label, and one for each of its examples with a tab before it. */
private fun textOf(labels: List<TaughtLabel>): String =
    labels.joinToString("") { label -> (listOf(label.name) + label.examples.map { "\t$it" }).joinToString("") { "${oneLine(it)}\n" } }

private fun oneLine(text: String) = text.replace('\n', ' ').replace('\r', ' ')

private fun labelsOf(text: String): List<TaughtLabel> {
    val labels = ArrayList<TaughtLabel>()
    for (line in text.split('\n').filter { it.isNotBlank() }) {
        if (!line.startsWith('\t')) {
            labels.add(TaughtLabel(line, emptyList()))
        } else if (labels.isNotEmpty()) {
            val last = labels.removeAt(labels.size - 1)
            labels.add(last.copy(examples = last.examples + line.substring(1)))
        }
    }
    return labels
}
