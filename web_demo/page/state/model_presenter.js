import { Accelerator } from "./accelerator.js";
import { FailedError, FailureKind, failure } from "./failure.js";
import { Lane } from "./lane.js";
import { failed, loading, NO_MODEL, ready } from "./model_state.js";
import { Presenter } from "./presenter.js";

/**
 * A presenter of a panel that has a model. Its state has a `model`, see `ModelState`, and a `failure`.
 *
 * @template S
 * @extends {Presenter<S>}
 */
export class ModelPresenter extends Presenter {
  #library;
  #accepted;
  #loading = new Lane();
  #chosen = null;
  #accelerator = Accelerator.WASM;

  /**
   * @param {S} initial
   * @param {import("../worker_client.js").WorkerClient} client
   * @param {import("./model_library.js").ModelLibrary} library
   * @param {string[]} accepted the types of tasks that the panel is for, the preferred ones first
   */
  constructor(initial, client, library, accepted) {
    super({ model: NO_MODEL, failure: null, ...initial });
    this.client = client;
    this.#library = library;
    this.#accepted = accepted;
  }

  /** Loads the first model that fits, unless one was chosen already. */
  start() {
    if (this.#chosen !== null || this.state.model.kind === "loading") return;
    this.run(this.#loading, FailureKind.NO_MODEL, () => this.#first(), {
      done: (name) => this.choose(name),
      failed: (reason) => this.show({ model: failed("", reason) }),
    });
  }

  /** @returns {Promise<import("./model_library.js").ModelEntry[]>} the models that fit, the preferred types first */
  async choices() {
    const entries = await this.#library.entries();
    const rank = (entry) => this.#accepted.indexOf(entry.type);
    return entries.filter((entry) => rank(entry) >= 0).sort((one, other) => rank(one) - rank(other));
  }

  /**
   * Whether the panel is for a type of task.
   *
   * @param {string} type
   * @returns {boolean}
   */
  accepts(type) {
    return this.#accepted.includes(type);
  }

  /**
   * Loads a model and shows what it makes of the present input.
   *
   * @param {string} name
   */
  choose(name) {
    this.#chosen = name;
    this.modelLeft();
    this.show({ model: loading(name), failure: null });
    this.run(this.#loading, FailureKind.ENGINE, (control) => this.#load(name, control), {
      done: (model) => {
        this.show({ model });
        this.modelReady();
      },
      failed: (reason) => this.show({ model: failed(name, reason) }),
      progressed: (received, total) => this.show({ model: loading(name, received, total) }),
    });
  }

  /** Loads the present model again, after a failure. */
  retry() {
    if (this.#chosen === null) this.start();
    else this.choose(this.#chosen);
  }

  /**
   * Loads the present model for an accelerator.
   *
   * @param {string} accelerator one of `Accelerator`
   */
  accelerate(accelerator) {
    this.#accelerator = accelerator;
    if (this.#chosen !== null) this.choose(this.#chosen);
  }

  /**
   * The model was removed from the library: another one takes its place.
   *
   * @param {string} name
   */
  forget(name) {
    if (this.#chosen !== name) return;
    this.#chosen = null;
    this.#loading.drop();
    this.modelLeft();
    this.show({ model: NO_MODEL, failure: null });
    this.start();
  }

  /** @returns {string | null} the model that was chosen, whether it is ready or not */
  get chosen() {
    return this.#chosen;
  }

  /** @returns {string} the accelerator that was chosen */
  get accelerator() {
    return this.#accelerator;
  }

  /**
   * Calls the worker with the present model; for presenters only.
   *
   * @param {string} method
   * @param {object} args
   * @param {import("./presenter.js").Control} control
   * @returns {Promise<any>}
   */
  ask(method, args, control) {
    const { name } = this.state.model;
    return this.client.call(method, { ...args, model: this.#library.reference(name), accelerator: this.#accelerator }, control);
  }

  /** A model can run now: shows what it makes of the present input. */
  modelReady() {}

  /** The model is replaced: work with it ends. */
  modelLeft() {}

  async #first() {
    const [entry] = await this.choices();
    if (!entry) throw new FailedError(failure(FailureKind.NO_MODEL));
    return entry.name;
  }

  async #load(name, control) {
    const entry = await this.#library.entry(name);
    if (!entry) throw new FailedError(failure(FailureKind.NO_MODEL, `expected a model of this page, received ${name}; open its file`));
    if (!this.accepts(entry.type)) throw new FailedError(failure(FailureKind.OTHER_TASK, `${name}: ${entry.type}`));
    return ready(entry, await this.ask("open", {}, control));
  }
}
