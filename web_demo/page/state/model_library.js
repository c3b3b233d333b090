import { KerasBertError } from "../../core/error.js";
import { FailedError, FailureKind, failure } from "./failure.js";

/** The largest file that can be opened, in bytes. It is held in memory, and WebAssembly holds a copy. */
export const LARGEST_MODEL = 400e6;

const KEPT = "model:"; // the start of the names of kept models in the store

/**
 * A model that can be chosen.
 *
 * @typedef {object} ModelEntry
 * @property {string} name unique among the models
 * @property {string} title the name for people
 * @property {string} type the type of its task, such as "single_label"
 * @property {number} bytes the size of the file
 * @property {"site" | "memory" | "kept"} place whether it is a file of this site, is in memory only, or is kept on this device as well
 */

/**
 * What the worker needs to read a model: the address of a file of this site, or the file itself.
 *
 * @typedef {{name: string, url: string, bytes: number} | {name: string, file: Blob, kept?: string}} ModelReference
 */

/** The models of the site, and those that the person opened. Opened ones are in memory, unless she keeps them on this device. */
export class ModelLibrary {
  #readIndex;
  #store;
  #entries = null; // a promise of a map from names to entries
  #sources = new Map();
  #observers = new Set();

  /**
   * @param {() => Promise<{models: {name: string, file: string, title: string, task: string, bytes: number}[]}>} readIndex reads the list
   *   of the site
   * @param {import("../storage/store.js").Store} store where opened models are kept
   */
  constructor(readIndex, store) {
    this.#readIndex = readIndex;
    this.#store = store;
  }

  /**
   * @returns {Promise<ModelEntry[]>} all models, those of the site first
   * @throws {FailedError} when the site's list cannot be read
   */
  async entries() {
    return [...(await this.#known()).values()];
  }

  /**
   * @param {string} name
   * @returns {Promise<ModelEntry | undefined>}
   */
  async entry(name) {
    return (await this.#known()).get(name);
  }

  /**
   * @param {string} name the name of an entry
   * @returns {ModelReference}
   */
  reference(name) {
    return this.#sources.get(name);
  }

  /**
   * Calls an observer whenever a model was added, kept or removed.
   *
   * @param {() => void} observer
   */
  observe(observer) {
    this.#observers.add(observer);
  }

  /**
   * Refuses a file by its size, before any of it is read.
   *
   * @param {string} name
   * @param {Blob} file
   * @throws {KerasBertError} when it is too large
   */
  checkSize(name, file) {
    if (file.size <= LARGEST_MODEL) return;
    const received = `${name} of ${Math.round(file.size / 1e6)} MB`;
    throw new KerasBertError(`expected a .tflite file of at most ${LARGEST_MODEL / 1e6} MB, received ${received}; use a smaller model`);
  }

  /**
   * Adds a file that the person opened.
   *
   * @param {string} fileName
   * @param {Blob} file
   * @param {string} type the type of its task, as the worker read it
   * @returns {Promise<ModelEntry>} the entry, whose name differs from that of the file if another model has it
   */
  async add(fileName, file, type) {
    const known = await this.#known();
    const title = fileName.replace(/\.tflite$/i, "") || "model";
    const name = freeName(title, known);
    return this.#put({ name, title: name, type, bytes: file.size, place: "memory" }, { name, file });
  }

  /**
   * Keeps an opened model on this device, so that it is there after a reload.
   *
   * @param {string} name
   * @returns {Promise<void>}
   * @throws {DOMException} when the storage is full
   */
  async keep(name) {
    const entry = await this.entry(name);
    if (entry?.place !== "memory") return;
    const { file } = this.#sources.get(name);
    await this.#store.write(KEPT + name, { type: entry.type, file });
    await this.#put({ ...entry, place: "kept" }, this.#sources.get(name));
  }

  /**
   * Removes an opened model from memory and from this device.
   *
   * @param {string} name
   * @returns {Promise<void>}
   */
  async remove(name) {
    const known = await this.#known();
    const entry = known.get(name);
    if (!entry || entry.place === "site") return;
    if (entry.place === "kept") await this.#store.remove(KEPT + (this.#sources.get(name).kept ?? name));
    known.delete(name);
    this.#sources.delete(name);
    this.#changed();
  }

  #known() {
    this.#entries ??= this.#read().catch((error) => {
      this.#entries = null; // the next call tries again
      throw error;
    });
    return this.#entries;
  }

  async #read() {
    const known = new Map();
    for (const { name, file, title, task, bytes } of (await this.#index()).models) {
      known.set(name, Object.freeze({ name, title, type: task, bytes, place: "site" }));
      this.#sources.set(name, { name, url: file, bytes });
    }
    for (const [kept, { type, file }] of await this.#kept()) {
      const name = freeName(kept, known); // the site may have a model of that name by now
      known.set(name, Object.freeze({ name, title: name, type, bytes: file.size, place: "kept" }));
      this.#sources.set(name, { name, file, kept });
    }
    return known;
  }

  async #index() {
    try {
      return await this.#readIndex();
    } catch (error) {
      const detail = `expected the site's list of models, received none (${error.message}); load the page again`;
      throw new FailedError(failure(FailureKind.DOWNLOAD, detail));
    }
  }

  // A browser may forbid all storage. The site's models work without.
  async #kept() {
    try {
      const entries = await this.#store.entries(KEPT);
      return entries.map(([key, value]) => [key.slice(KEPT.length), value]).filter(([, value]) => value?.file instanceof Blob);
    } catch {
      return [];
    }
  }

  async #put(entry, source) {
    const known = await this.#known();
    const frozen = Object.freeze(entry);
    known.set(entry.name, frozen);
    this.#sources.set(entry.name, source);
    this.#changed();
    return frozen;
  }

  #changed() {
    for (const observer of this.#observers) observer();
  }
}

function freeName(title, known) {
  let name = title;
  for (let number = 2; known.has(name); number++) name = `${title} (${number})`;
  return name;
}
