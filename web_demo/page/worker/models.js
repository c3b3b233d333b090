import { ModelFile } from "../../core/file/model_file.js";
import { TextModel } from "../../core/model/text_model.js";
import { taskOf } from "../../core/tasks/task_of.js";
import { CanceledError, FailedError, failureOf, FailureKind } from "../state/failure.js";
import { JobEngine, withAccelerator } from "./job_engine.js";

const OPEN = 2; // models; a panel uses one, and a person goes back and forth between two panels

/**
 * The runtime of this worker.
 *
 * @typedef {object} Engines
 * @property {(file: ModelFile, content: Uint8Array, accelerator: string) => Promise<import("../../core/model/engine.js").Engine &
 *   {accelerator: string, isPartial: boolean}>} open Loads a model. There is no fallback: an engine runs on the accelerator or is not
 *   opened.
 */

/**
 * Reads the bytes of a model.
 *
 * @callback ReadModel
 * @param {import("../state/model_library.js").ModelReference} model
 * @param {(received: number, total: number) => void} report called with the bytes that have arrived, and all bytes
 * @returns {Promise<Uint8Array>}
 */

/** The models of the worker, of which the most recently used ones stay open. A model that is in use is not closed. */
export class Models {
  #engines;
  #read;
  #turns;
  #open = new Map(); // from the most to the least recently used one, by key

  /**
   * @param {Engines} engines
   * @param {ReadModel} read
   * @param {import("./turns.js").Turns} turns
   */
  constructor(engines, read, turns) {
    this.#engines = engines;
    this.#read = read;
    this.#turns = turns;
  }

  /**
   * Works with a model, which stays open meanwhile.
   *
   * @template R
   * @param {import("../state/model_library.js").ModelReference} model
   * @param {string} accelerator
   * @param {import("./turns.js").Job} job
   * @param {(task: import("../../core/tasks/task.js").Task, engine: import("../state/model_state.js").Engine) => R | Promise<R>} work
   * @returns {Promise<R>}
   * @throws {FailedError | KerasBertError} when the file cannot be read, or the runtime refuses it
   */
  async use(model, accelerator, job, work) {
    const slot = this.#slot(model, accelerator);
    slot.uses += 1;
    slot.listeners.add(job.report);
    try {
      const loaded = await unlessCanceled(job, slot.loaded);
      slot.listeners.delete(job.report);
      return await work(this.#taskFor(loaded, job), engineOf(loaded.engine));
    } finally {
      slot.listeners.delete(job.report);
      slot.uses -= 1;
      await this.#trim();
    }
  }

  /**
   * Loads a model of its own, which is not shared with other jobs, and closes it after the work.
   *
   * @template R
   * @param {import("../state/model_library.js").ModelReference} model
   * @param {string} accelerator
   * @param {import("./turns.js").Job} job
   * @param {(load: () => Promise<import("../../core/tasks/task.js").Task>) => Promise<R>} work calls `load` once; the model runs without
   *   turns
   * @returns {Promise<R>}
   */
  async useFresh(model, accelerator, job, work) {
    const content = await this.#read(model, () => {});
    const file = fileOf(content, model.name);
    let opened = null;
    const load = async () => {
      opened = await TextModel.open(file, (each) => this.#openEngine(each, content, accelerator));
      return taskOf(opened);
    };
    try {
      return await work(load);
    } finally {
      await opened?.close();
    }
  }

  /**
   * Reads a file that the person opened, without running it.
   *
   * @param {import("../state/model_library.js").ModelReference} model
   * @returns {Promise<ModelFile>}
   */
  async inspect(model) {
    return fileOf(await this.#read(model, () => {}), model.name);
  }

  /**
   * Reads the bytes of a model.
   *
   * @param {import("../state/model_library.js").ModelReference} model
   * @returns {Promise<Uint8Array>}
   */
  content(model) {
    return this.#read(model, () => {});
  }

  /**
   * Closes the engines of a model that the person removed, as soon as they are not in use.
   *
   * @param {string} name
   */
  async forget(name) {
    for (const slot of this.#open.values()) if (slot.name === name) slot.isForgotten = true;
    await this.#trim();
  }

  #slot(model, accelerator) {
    const key = `${accelerator} ${model.name}`;
    const slot = this.#open.get(key) ?? this.#newSlot(key, model, accelerator);
    this.#open.delete(key);
    this.#open.set(key, slot);
    return slot;
  }

  #newSlot(key, model, accelerator) {
    const listeners = new Set();
    const loaded = this.#load(model, accelerator, (...step) => listeners.forEach((report) => report(...step)));
    loaded.catch(() => this.#open.delete(key)); // the next use tries again
    return { name: model.name, uses: 0, isForgotten: false, listeners, loaded };
  }

  // Several jobs may wait for a model, so that it is loaded even if the first one is canceled meanwhile.
  async #load(model, accelerator, report) {
    const content = await this.#read(model, report);
    const file = fileOf(content, model.name);
    const lasting = { isLong: false, signal: new AbortController().signal, report };
    return this.#turns.take(lasting, () => TextModel.open(file, (each) => this.#openEngine(each, content, accelerator)));
  }

  async #openEngine(file, content, accelerator) {
    try {
      return await this.#engines.open(file, content, accelerator);
    } catch (error) {
      throw withAccelerator(error, accelerator);
    }
  }

  #taskFor({ file, tokenizer, engine }, job) {
    return taskOf(new TextModel(file, tokenizer, new JobEngine(engine, this.#turns, job)));
  }

  async #trim() {
    const idle = [...this.#open].filter(([, slot]) => slot.uses === 0);
    const excess = this.#open.size - OPEN;
    const closing = idle.filter(([, slot], place) => slot.isForgotten || place < excess);
    for (const [key] of closing) this.#open.delete(key);
    for (const [, slot] of closing) await slot.loaded.then((loaded) => loaded.close(), () => {});
  }
}

function unlessCanceled({ signal }, promise) {
  return new Promise((resolve, reject) => {
    const cancel = () => reject(new CanceledError());
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", cancel));
  });
}

function fileOf(content, name) {
  try {
    return ModelFile.of(content, name);
  } catch (error) {
    throw new FailedError(failureOf(error, FailureKind.UNREADABLE_MODEL));
  }
}

function engineOf({ accelerator, isPartial, title }) {
  return { accelerator, isPartial, title };
}
