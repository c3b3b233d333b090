package kerasbert.screens

import kerasbert.core.KerasBertException
import kerasbert.core.file.TaskType
import kerasbert.core.tasks.Task

/** The model of a screen. */
sealed class ModelState {
    /** None was chosen yet, or none fits. */
    object None : ModelState()

    /** It is being loaded. */
    data class Loading(val name: String) : ModelState()

    /**
     * It can run.
     *
     * @property engine what runs it.
     */
    data class Ready(val entry: ModelEntry, val accelerator: Accelerator, val engine: String) : ModelState()

    /** It could not be loaded. */
    data class Failed(val name: String, val failure: Failure) : ModelState()
}

/**
 * A presenter of a screen that has a model.
 *
 * @param accepted the types of tasks that the screen is for, the preferred ones first.
 */
abstract class ModelPresenter<S : Any>(
    initial: S,
    threads: Threads,
    protected val models: Models,
    private val accepted: List<TaskType>,
) : Presenter<S>(initial, threads) {
    private val loading = Lane()
    private var chosen: String? = null
    private var accelerator = Accelerator.CPU

    /** Chooses the first model that fits, unless one was chosen already. */
    fun start() {
        if (chosen != null || modelOf(state) is ModelState.Loading) return
        run(
            loading,
            FailureKind.NO_MODEL,
            { choices().firstOrNull()?.name ?: throw FailedException(Failure(FailureKind.NO_MODEL)) },
            ::choose,
            { show(withModel(state, ModelState.Failed("", it))) },
        )
    }

    /** The models that fit, for the background thread; the preferred types first. */
    fun choices(): List<ModelEntry> = models.entries().filter { it.type in accepted }.sortedBy { accepted.indexOf(it.type) }

    /** Loads a model and shows what it makes of the present input. */
    fun choose(name: String) = choose(name, accelerator)

    /** Loads the present model for another accelerator. */
    fun accelerate(accelerator: Accelerator) {
        this.accelerator = accelerator
        chosen?.let { choose(it, accelerator) }
    }

    /**
     * Adds a file that the person opened, and loads it.
     *
     * @param name the file's name, until it is known under its own.
     * @param store copies and checks the file, and returns the model's name.
     */
    fun add(name: String, store: () -> String) {
        show(withModel(state, ModelState.Loading(name)))
        run(
            loading,
            FailureKind.STORAGE,
            {
                val stored = try {
                    store()
                } catch (error: KerasBertException) {
                    throw FailedException(Failure(FailureKind.UNREADABLE_MODEL, error.message.orEmpty()))
                }
                models.forget(stored)
                stored
            },
            ::choose,
            { show(withModel(state, ModelState.Failed(name, it))) },
        )
    }

    private fun choose(name: String, accelerator: Accelerator) {
        chosen = name
        show(withModel(state, ModelState.Loading(name)))
        run(
            loading,
            FailureKind.ENGINE,
            { load(name, accelerator) },
            {
                show(withModel(state, it))
                modelReady()
            },
            { show(withModel(state, ModelState.Failed(name, it))) },
        )
    }

    private fun load(name: String, accelerator: Accelerator): ModelState.Ready {
        val task = models.task(name, accelerator)
        val file = task.model.file
        if (file.metadata.type !in accepted) {
            throw FailedException(Failure(FailureKind.OTHER_TASK, "$name: ${file.metadata.type.key}"))
        }
        return ModelState.Ready(ModelEntry(name, file.metadata.type, file.bytes), accelerator, task.model.engineTitle)
    }

    /** The model that is ready, for the background thread. */
    protected fun task(model: ModelState.Ready): Task = models.task(model.entry.name, model.accelerator)

    /** The model of a state. */
    protected abstract fun modelOf(state: S): ModelState

    /** The state with another model. */
    protected abstract fun withModel(state: S, model: ModelState): S

    /** A model can run now: shows what it makes of the present input. */
    protected abstract fun modelReady()
}
