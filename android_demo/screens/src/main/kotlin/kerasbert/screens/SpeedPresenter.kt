package kerasbert.screens

import kerasbert.core.KerasBertException
import kerasbert.core.file.TaskType
import kerasbert.core.model.Row
import kerasbert.core.tasks.Task
import kerasbert.core.text.encode
import kerasbert.core.timing.Latency
import kerasbert.core.timing.LatencyClock

private const val RUNS = 50 // after the first
private const val COMPARED = 30 // texts

/**
 * What a measurement found.
 *
 * @property model the model's file name.
 * @property accelerator what the model ran on.
 * @property engine what ran it.
 * @property latency the times in milliseconds.
 * @property tokens tokens of each run, padding included.
 * @property bytes the size of the file.
 * @property same texts with the same answer as the CPU's; null on the CPU itself.
 * @property compared all compared texts.
 * @property cpuMedian the median on the CPU, measured just before; null on the CPU itself.
 */
data class SpeedReport(
    val model: String,
    val accelerator: Accelerator,
    val engine: String,
    val latency: Latency,
    val tokens: Int,
    val bytes: Int,
    val same: Int?,
    val compared: Int,
    val cpuMedian: Double?,
)

/**
 * The screen *Speed*.
 *
 * @property accelerators what this device has.
 * @property accelerator the chosen one. Every screen uses it.
 * @property done runs that are over, while it measures.
 * @property total all runs, while it measures; 0 otherwise.
 */
data class SpeedState(
    val model: ModelState = ModelState.None,
    val accelerators: List<Accelerator> = listOf(Accelerator.CPU),
    val accelerator: Accelerator = Accelerator.CPU,
    val done: Int = 0,
    val total: Int = 0,
    val report: SpeedReport? = null,
    val failure: Failure? = null,
) {
    /** Whether it measures now. */
    val isMeasuring: Boolean get() = total > 0
}

/**
 * Measures a model on an accelerator, and compares its answers with those of the CPU.
 *
 * @param texts the texts that are compared and timed, one after the other.
 * @param accelerated called with the chosen accelerator, which the other screens use as well.
 */
class SpeedPresenter(
    threads: Threads,
    models: Models,
    private val texts: () -> List<String>,
    private val accelerated: (Accelerator) -> Unit,
) : ModelPresenter<SpeedState>(SpeedState(), threads, models, TaskType.values().toList()) {
    private val listing = Lane()
    private val measuring = Lane()

    /** The person chose an accelerator. */
    fun chooseAccelerator(accelerator: Accelerator) {
        if (accelerator == state.accelerator) return
        measuring.drop()
        show(state.copy(accelerator = accelerator, report = null, done = 0, total = 0, failure = null))
        accelerate(accelerator)
        accelerated(accelerator)
    }

    /** Starts a measurement. */
    fun measure() {
        val model = state.model as? ModelState.Ready ?: return
        val total = (RUNS + 1) * (if (model.accelerator == Accelerator.CPU) 1 else 2)
        show(state.copy(done = 0, total = total, report = null, failure = null))
        run(
            measuring,
            FailureKind.ENGINE,
            { measure(model, it, total) },
            { if (it != null) show(state.copy(done = 0, total = 0, report = it)) },
            { show(state.copy(done = 0, total = 0, failure = it)) },
            { done, all -> show(state.copy(done = done, total = all)) },
        )
    }

    /** Ends a measurement without a report. */
    fun stop() {
        measuring.drop()
        show(state.copy(done = 0, total = 0))
    }

    override fun modelOf(state: SpeedState) = state.model

    override fun withModel(state: SpeedState, model: ModelState) = state.copy(model = model, report = null, failure = null)

    override fun modelReady() = run(
        listing,
        FailureKind.ENGINE,
        { models.accelerators },
        { show(state.copy(accelerators = it)) },
        { show(state.copy(failure = it)) },
    )

    /** Returns the report; null if it was stopped. */
    private fun measure(model: ModelState.Ready, progress: Progress, total: Int): SpeedReport? {
        val sample = texts()
        val cpu = if (model.accelerator == Accelerator.CPU) null else timed(model, Accelerator.CPU, sample, progress, 0, total) ?: return null
        val own = timed(model, model.accelerator, sample, progress, total - RUNS - 1, total) ?: return null
        val same = cpu?.let { it.answers.indices.count { place -> it.answers[place] == own.answers[place] } }
        return SpeedReport(
            model.entry.name, model.accelerator, own.engine, own.latency, own.tokens, model.entry.bytes, same, own.answers.size,
            cpu?.latency?.p50,
        )
    }

    private fun timed(
        model: ModelState.Ready,
        accelerator: Accelerator,
        sample: List<String>,
        progress: Progress,
        before: Int,
        total: Int,
    ): Timed? {
        val clock = LatencyClock()
        val task = clock.load { models.fresh(model.entry.name, accelerator) }
        try {
            val row = rowOf(task, sample)
            for (run in 1..RUNS + 1) {
                if (progress.isStale()) return null
                clock.run { task.model.run(row) }
                progress.report(before + run, total)
            }
            val answers = decisionsOf(task, sample.take(COMPARED))
            return Timed(task.model.engineTitle, clock.latency(), task.model.lengthOf(row.size), answers)
        } finally {
            task.close()
        }
    }

    /** The row of the text with the median number of tokens. */
    private fun rowOf(task: Task, sample: List<String>): Row {
        val tokenizer = task.model.tokenizer
        val rows = sample.map { tokenizer.encode(it, maxLength = task.model.length) }.sortedBy { it.size }
        if (rows.isEmpty()) throw KerasBertException("expected texts to measure with, received none")
        return rows[rows.size / 2].let { Row(it.ids, it.typeIds) }
    }

    private class Timed(val engine: String, val latency: Latency, val tokens: Int, val answers: List<String>)
}

