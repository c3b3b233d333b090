package kerasbert.desktop.window

import javax.swing.JProgressBar
import kerasbert.screens.Failure
import kerasbert.screens.FailureKind
import kerasbert.screens.ModelState

/** What a tab says beside its results: that it loads, that it failed, or what it is for. */
internal class StatusPart(private val words: Words) {
    private val sentence = WrappedText("failure_sentence", Colors["failure"], isBold = true)
    private val detail = WrappedText("failure_detail", Colors["text_quiet"])
    private val failure = Card(sentence, detail, surface = Colors["failure_surface"], outline = Colors["failure"])
    private val empty = WrappedText("empty", Colors["text_quiet"])
    private val loading = JProgressBar().apply { isIndeterminate = true }

    /** The components. */
    val panel = Column(failure, empty, loading)

    /**
     * Shows the first that applies: a failure, that the model loads, or the explanation.
     *
     * @param explanation what the tab is for; null where there are results.
     */
    fun show(model: ModelState, failed: Failure?, explanation: String?) {
        val problem = failed ?: (model as? ModelState.Failed)?.failure
        failure.isVisible = problem != null
        loading.isVisible = problem == null && model is ModelState.Loading
        val text = if (model is ModelState.Loading) words.format("model_loading", model.name) else explanation
        empty.isVisible = problem == null && text != null
        empty.setTextIfChanged(text.orEmpty())
        if (problem != null) {
            sentence.setTextIfChanged(words.sentenceOf(problem.kind))
            detail.setTextIfChanged(problem.detail.ifEmpty { if (problem.kind == FailureKind.NO_MODEL) words["model_none_fits"] else "" })
            detail.isVisible = detail.text.isNotEmpty()
        }
        panel.isVisible = failure.isVisible || loading.isVisible || empty.isVisible
    }
}
