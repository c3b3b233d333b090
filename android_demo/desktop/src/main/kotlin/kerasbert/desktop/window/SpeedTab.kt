package kerasbert.desktop.window

import java.awt.BorderLayout
import java.awt.FlowLayout
import java.awt.Toolkit
import java.awt.datatransfer.StringSelection
import javax.swing.ButtonGroup
import javax.swing.JButton
import javax.swing.JComponent
import javax.swing.JLabel
import javax.swing.JPanel
import javax.swing.JProgressBar
import javax.swing.JRadioButton
import javax.swing.Timer
import kerasbert.screens.Accelerator
import kerasbert.screens.ModelState
import kerasbert.screens.Numbers
import kerasbert.screens.SpeedReport
import kerasbert.screens.SpeedState

private const val COPIED = 2000 // milliseconds that the button says so

/** *Speed*: how long a model takes on this machine. */
internal class SpeedTab(private val words: Words, demo: Demo) : Tab {
    override val title = words["screen_speed"]
    override val presenter = demo.speed
    override val models = ModelBar(words, demo, presenter)

    private val numbers = Numbers(words.locale)
    private val accelerators = JPanel(FlowLayout(FlowLayout.LEADING, GAP, 0))
    private val measure = JButton(words["speed_measure"]).apply { name = "speed_measure" }
    private val running = JLabel().apply { name = "speed_running" }
    private val progress = JProgressBar()
    private val facts = FactRows("speed_rows")
    private val copy = JButton(words["speed_copy"])
    private val result = Card(facts, row(JLabel(), copy))
    private val status = StatusPart(words)
    private val copied = Timer(COPIED) { copy.text = words["speed_copy"] }.apply { isRepeats = false }
    private var offered = emptyList<Accelerator>()
    private var shown: SpeedReport? = null

    override val panel: JComponent = JPanel(BorderLayout(GAP, GAP)).apply {
        border = margin()
        add(Column(models.panel, row(accelerators, measure), row(running, progress)), BorderLayout.NORTH)
        add(scrolled(Column(result, status.panel), hasBorder = false), BorderLayout.CENTER)
    }

    init {
        accelerators.isOpaque = false
        measure.addActionListener { if (presenter.state.isMeasuring) presenter.stop() else presenter.measure() }
        copy.addActionListener { copy() }
        presenter.observe(::show)
    }

    private fun show(state: SpeedState) {
        models.show(state.model)
        if (state.accelerators != offered) offer(state)
        measure.isEnabled = state.model is ModelState.Ready
        measure.text = words[if (state.isMeasuring) "speed_stop" else "speed_measure"]
        running.text = if (state.isMeasuring) words.format("speed_running", state.done, state.total) else " "
        progress.isVisible = state.isMeasuring
        progress.maximum = state.total
        progress.value = state.done
        result.isVisible = state.report != null
        if (state.report !== shown) state.report?.let { facts.show(factsOf(it)) }
        shown = state.report
        status.show(state.model, state.failure, if (state.report == null && !state.isMeasuring) words["speed_empty"] else null)
    }

    private fun offer(state: SpeedState) {
        offered = state.accelerators
        accelerators.removeAll()
        accelerators.add(JLabel(words["speed_accelerator"]))
        val group = ButtonGroup()
        for (accelerator in offered) {
            val button = JRadioButton(words.nameOf(accelerator), accelerator == state.accelerator)
            button.addActionListener { presenter.chooseAccelerator(accelerator) }
            group.add(button)
            accelerators.add(button)
        }
        accelerators.revalidate()
    }

    private fun factsOf(report: SpeedReport): List<Pair<String, String>> {
        val latency = report.latency
        return listOfNotNull(
            words["model_choose_name"] to report.model,
            words["speed_accelerator"] to report.engine,
            time(words["speed_load"], latency.load),
            time(words["speed_first"], latency.first),
            time(words.format("speed_p50", latency.runs), latency.p50),
            time(words["speed_p95"], latency.p95),
            time(words["speed_cpu_p50"], report.cpuMedian),
            report.same?.let { words["speed_same"] to words.format("speed_same_value", it, report.compared) },
            words["speed_tokens"] to numbers.whole(report.tokens),
            words["speed_size"] to numbers.bytes(report.bytes.toLong()),
            words["speed_device"] to deviceOf(System::getProperty),
        )
    }

    private fun deviceOf(property: (String) -> String) = "${property("os.name")} ${property("os.version")} (${property("os.arch")})"

    private fun time(name: String, milliseconds: Double?): Pair<String, String>? =
        milliseconds?.let { name to words.format("milliseconds", numbers.milliseconds(it)) }

    private fun copy() {
        val report = presenter.state.report ?: return
        val text = factsOf(report).joinToString("\n") { (name, value) -> "$name: $value" }
        Toolkit.getDefaultToolkit().systemClipboard.setContents(StringSelection(text), null)
        copy.text = words["speed_copied"]
        copied.restart()
    }
}
