package kerasbert.app

import android.view.View
import android.widget.TextView
import kerasbert.screens.Failure
import kerasbert.screens.FailureKind
import kerasbert.screens.ModelState

/** What a screen says beside its results: that it loads, that it failed, or what it is for. The views are those of `part_status.xml`. */
class StatusPart(root: View) {
    private val failure = root.child<View>(R.id.failure)
    private val sentence = root.child<TextView>(R.id.failure_sentence)
    private val detail = root.child<TextView>(R.id.failure_detail)
    private val empty = root.child<TextView>(R.id.empty)
    private val loading = root.child<View>(R.id.loading)

    /**
     * Shows the first that applies: a failure, that the model loads, or the explanation.
     *
     * @param explanation what the screen is for; null where there are results.
     */
    fun show(model: ModelState, failed: Failure?, explanation: String?) {
        val problem = failed ?: (model as? ModelState.Failed)?.failure
        failure.isVisible = problem != null
        loading.isVisible = problem == null && model is ModelState.Loading
        val text = if (model is ModelState.Loading) empty.context.getString(R.string.model_loading, model.name) else explanation
        empty.isVisible = problem == null && text != null
        empty.setTextIfChanged(text.orEmpty())
        if (problem != null) {
            sentence.setTextIfChanged(sentence.context.getString(sentenceOf(problem.kind)))
            detail.setTextIfChanged(problem.detail.ifEmpty { hint(problem.kind) })
            detail.isVisible = detail.text.isNotEmpty()
        }
    }

    private fun hint(kind: FailureKind) = if (kind == FailureKind.NO_MODEL) detail.context.getString(R.string.model_none_fits) else ""

    private fun sentenceOf(kind: FailureKind) = when (kind) {
        FailureKind.NO_MODEL -> R.string.failure_no_model
        FailureKind.OTHER_TASK -> R.string.failure_other_task
        FailureKind.UNREADABLE_MODEL -> R.string.failure_unreadable_model
        FailureKind.ENGINE -> R.string.failure_engine
        FailureKind.MEMORY -> R.string.failure_memory
        FailureKind.UNREADABLE_TEXTS -> R.string.failure_unreadable_texts
        FailureKind.UNREADABLE_INDEX -> R.string.failure_unreadable_index
        FailureKind.STORAGE -> R.string.failure_storage
        FailureKind.SAVING -> R.string.failure_saving
    }
}
