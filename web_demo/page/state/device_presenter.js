import { failureOf, FailureKind } from "./failure.js";
import { Presenter } from "./presenter.js";
import { STORED_LABELS } from "./teach_presenter.js";

/** The name under which texts and their index are stored. */
export const STORED_SEARCH = "search";

/**
 * What the person opened, and what the browser keeps of it.
 *
 * @typedef {object} DeviceState
 * @property {import("./model_library.js").ModelEntry[]} models opened models
 * @property {boolean} hasTexts whether texts and their index are kept
 * @property {boolean} hasLabels whether labels are kept
 * @property {import("./failure.js").Failure | null} failure
 */

/**
 * Shows what this page keeps on the device, and deletes it.
 *
 * @extends {Presenter<DeviceState>}
 */
export class DevicePresenter extends Presenter {
  #client;
  #library;
  #store;

  /**
   * @param {import("../worker_client.js").WorkerClient} client
   * @param {import("./model_library.js").ModelLibrary} library
   * @param {import("../storage/store.js").Store} store
   */
  constructor(client, library, store) {
    super({ models: [], hasTexts: false, hasLabels: false, failure: null });
    this.#client = client;
    this.#library = library;
    this.#store = store;
  }

  /** Looks what is kept. */
  async refresh() {
    const entries = await this.#library.entries().catch(() => []);
    const models = entries.filter((entry) => entry.place !== "site");
    this.show({ models, hasTexts: await this.#has(STORED_SEARCH), hasLabels: await this.#has(STORED_LABELS) });
  }

  /**
   * Keeps an opened model for offline use.
   *
   * @param {string} name
   */
  async keep(name) {
    await this.#attempt(() => this.#library.keep(name));
  }

  /**
   * Removes an opened model from memory and from the device.
   *
   * @param {string} name
   */
  async remove(name) {
    await this.#attempt(async () => {
      // Another file may be opened under this name.
      await this.#client.call("forget", { name }, { signal: new AbortController().signal, report: () => {} });
      await this.#library.remove(name);
    });
  }

  /** Deletes the texts that are searched, with their index. */
  async deleteTexts() {
    await this.#attempt(() => this.#store.remove(STORED_SEARCH));
  }

  async #attempt(work) {
    this.show({ failure: null });
    try {
      await work();
    } catch (error) {
      this.show({ failure: failureOf(error, FailureKind.STORAGE) });
    }
    await this.refresh();
  }

  // A browser that forbids storage keeps nothing.
  #has(name) {
    return this.#store.has(name).catch(() => false);
  }
}
