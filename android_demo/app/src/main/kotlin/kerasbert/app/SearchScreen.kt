package kerasbert.app

import android.app.AlertDialog
import android.view.LayoutInflater
import android.view.View
import android.view.ViewGroup
import android.widget.BaseAdapter
import android.widget.EditText
import android.widget.ListView
import android.widget.ProgressBar
import android.widget.TextView
import kerasbert.core.search.Match
import kerasbert.screens.ColumnChoice
import kerasbert.screens.ModelState
import kerasbert.screens.SearchPresenter
import kerasbert.screens.SearchState

/**
 * *Search*: texts by meaning, while a person types.
 *
 * @param chooseFile asks the person for a file of texts.
 */
class SearchScreen(override val root: View, override val presenter: SearchPresenter, chooseFile: () -> Unit) : Screen {
    private val context = root.context
    private val numbers = context.numbers
    private val status = StatusPart(root)
    private val corpus = root.child<TextView>(R.id.search_corpus)
    private val indexing = root.child<ProgressBar>(R.id.search_indexing)
    private val cancel = root.child<View>(R.id.search_cancel)
    private val import = root.child<View>(R.id.search_import_texts)
    private val hits = Hits()
    private var dialog: AlertDialog? = null
    private var asked: ColumnChoice? = null

    override val model: ModelState get() = presenter.state.model

    init {
        root.child<EditText>(R.id.search_query).onText(presenter::write)
        root.child<ListView>(R.id.search_hits).adapter = hits
        import.setOnClickListener { chooseFile() }
        cancel.setOnClickListener { presenter.cancel() }
    }

    override fun attach(changed: () -> Unit) = presenter.observe { state ->
        show(state)
        changed()
    }

    override fun detach() {
        presenter.observe(null)
        dialog?.dismiss()
        dialog = null
        asked = null
    }

    private fun show(state: SearchState) {
        val isBuilding = state.total > 0
        indexing.isVisible = isBuilding
        indexing.max = state.total
        indexing.progress = state.done
        cancel.isVisible = isBuilding
        import.isEnabled = state.model is ModelState.Ready
        corpus.setTextIfChanged(corpusText(state, isBuilding))
        hits.show(state.matches)
        val explanation = if (state.matches.isEmpty() && !isBuilding) context.getString(R.string.search_empty) else null
        status.show(state.model, state.failure, explanation)
        if (state.choice != asked) ask(state.choice)
    }

    private fun corpusText(state: SearchState, isBuilding: Boolean): String {
        if (isBuilding) return context.getString(R.string.search_indexing, numbers.whole(state.done), numbers.whole(state.total))
        val texts = state.corpus ?: return ""
        val name = texts.name.ifEmpty { context.getString(R.string.search_sample) }
        val count = context.resources.getQuantityString(R.plurals.sentences, texts.count, numbers.whole(texts.count))
        val index = context.getString(R.string.search_index, count, numbers.bytes(texts.bytes))
        val time = state.milliseconds?.let { context.getString(R.string.milliseconds, numbers.milliseconds(it)) }
        return listOfNotNull(name, index, time).joinToString(" · ")
    }

    private fun ask(choice: ColumnChoice?) {
        asked = choice
        dialog?.dismiss()
        dialog = choice?.let {
            var column = it.likeliest
            AlertDialog.Builder(context)
                .setTitle(R.string.search_column)
                .setSingleChoiceItems(it.columns.toTypedArray(), column) { _, which -> column = which }
                .setPositiveButton(android.R.string.ok) { _, _ -> presenter.chooseColumn(column) }
                .setNegativeButton(android.R.string.cancel) { _, _ -> presenter.chooseColumn(null) }
                .setOnCancelListener { presenter.chooseColumn(null) }
                .show()
        }
    }

    private inner class Hits : BaseAdapter() {
        private var matches = emptyList<Match>()

        fun show(matches: List<Match>) {
            if (matches == this.matches) return
            this.matches = matches
            notifyDataSetChanged()
        }

        override fun getCount() = matches.size

        override fun getItem(position: Int) = matches[position]

        override fun getItemId(position: Int) = matches[position].index.toLong()

        override fun getView(position: Int, recycled: View?, parent: ViewGroup): View {
            val row = recycled ?: LayoutInflater.from(context).inflate(R.layout.row_hit, parent, false)
            val match = matches[position]
            val score = numbers.similarity(match.score)
            row.child<TextView>(R.id.hit).text = match.text
            row.child<TextView>(R.id.score).text = score
            row.contentDescription = context.getString(R.string.search_hit, match.text, score)
            return row
        }
    }
}
