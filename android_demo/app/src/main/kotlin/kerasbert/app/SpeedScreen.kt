package kerasbert.app

import android.content.ClipData
import android.content.ClipboardManager
import android.os.Build
import android.view.LayoutInflater
import android.view.View
import android.widget.Button
import android.widget.LinearLayout
import android.widget.RadioButton
import android.widget.RadioGroup
import android.widget.TextView
import android.widget.Toast
import kerasbert.screens.Accelerator
import kerasbert.screens.ModelState
import kerasbert.screens.SpeedPresenter
import kerasbert.screens.SpeedReport
import kerasbert.screens.SpeedState

/** *Speed*: how long a model takes on this device, and whether an accelerator gives the answers of the CPU. */
class SpeedScreen(override val root: View, override val presenter: SpeedPresenter) : Screen {
    private val context = root.context
    private val numbers = context.numbers
    private val status = StatusPart(root)
    private val accelerators = root.child<RadioGroup>(R.id.speed_accelerators)
    private val measure = root.child<Button>(R.id.speed_measure)
    private val running = root.child<TextView>(R.id.speed_running)
    private val result = root.child<View>(R.id.speed_result)
    private val rows = root.child<LinearLayout>(R.id.speed_rows)
    private var offered = emptyList<Accelerator>()
    private var shown: SpeedReport? = null

    override val model: ModelState get() = presenter.state.model

    init {
        measure.setOnClickListener { if (presenter.state.isMeasuring) presenter.stop() else presenter.measure() }
        root.child<View>(R.id.speed_copy).setOnClickListener { copy() }
    }

    override fun attach(changed: () -> Unit) = presenter.observe { state ->
        show(state)
        changed()
    }

    override fun detach() = presenter.observe(null)

    private fun show(state: SpeedState) {
        if (state.accelerators != offered) offer(state)
        measure.isEnabled = state.model is ModelState.Ready
        measure.setTextIfChanged(context.getString(if (state.isMeasuring) R.string.speed_stop else R.string.speed_measure))
        running.setTextIfChanged(if (state.isMeasuring) context.getString(R.string.speed_running, state.done, state.total) else "")
        result.isVisible = state.report != null
        if (state.report !== shown) state.report?.let(::show)
        shown = state.report
        val explanation = if (state.report == null && !state.isMeasuring) context.getString(R.string.speed_empty) else null
        status.show(state.model, state.failure, explanation)
    }

    private fun offer(state: SpeedState) {
        offered = state.accelerators
        accelerators.removeAllViews()
        for (accelerator in offered) {
            val button = RadioButton(context).apply {
                id = View.generateViewId()
                text = context.nameOf(accelerator)
                minHeight = (context.resources.displayMetrics.density * TOUCH).toInt()
                setOnClickListener { presenter.chooseAccelerator(accelerator) }
            }
            accelerators.addView(button)
            if (accelerator == state.accelerator) accelerators.check(button.id)
        }
    }

    private fun show(report: SpeedReport) {
        rows.removeAllViews()
        for ((name, value) in facts(report)) {
            val row = LayoutInflater.from(context).inflate(R.layout.row_fact, rows, false)
            row.child<TextView>(R.id.name).text = name
            row.child<TextView>(R.id.value).text = value
            rows.addView(row)
        }
    }

    private fun facts(report: SpeedReport): List<Pair<String, String>> {
        val latency = report.latency
        return listOfNotNull(
            context.getString(R.string.model_choose_name) to report.model,
            context.getString(R.string.speed_accelerator) to report.engine,
            time(context.getString(R.string.speed_load), latency.load),
            time(context.getString(R.string.speed_first), latency.first),
            time(context.getString(R.string.speed_p50, latency.runs), latency.p50),
            time(context.getString(R.string.speed_p95), latency.p95),
            time(context.getString(R.string.speed_cpu_p50), report.cpuMedian),
            report.same?.let {
                context.getString(R.string.speed_same) to context.getString(R.string.speed_same_value, it, report.compared)
            },
            context.getString(R.string.speed_tokens) to numbers.whole(report.tokens),
            context.getString(R.string.speed_size) to numbers.bytes(report.bytes.toLong()),
            context.getString(R.string.speed_device) to "${Build.MANUFACTURER} ${Build.MODEL}, Android ${Build.VERSION.RELEASE}",
        )
    }

    private fun time(name: String, milliseconds: Double?): Pair<String, String>? =
        milliseconds?.let { name to context.getString(R.string.milliseconds, numbers.milliseconds(it)) }

    private fun copy() {
        val report = presenter.state.report ?: return
        val text = facts(report).joinToString("\n") { (name, value) -> "$name: $value" }
        context.getSystemService(ClipboardManager::class.java)?.setPrimaryClip(ClipData.newPlainText(report.model, text))
        Toast.makeText(context, R.string.speed_copied, Toast.LENGTH_SHORT).show()
    }

    private companion object {
        const val TOUCH = 48 // dp, the least height of what is pressed
    }
}
