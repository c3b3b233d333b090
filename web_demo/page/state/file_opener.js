import { CanceledError, failureOf, FailureKind } from "./failure.js";

const TEXTS = /\.(txt|csv|tsv|md|kbindex)$/i;

/** Opens files that a person dropped or chose: models, and texts to search or an index of them. */
export class FileOpener {
  #client;
  #library;
  #shown;

  /**
   * @param {import("../worker_client.js").WorkerClient} client
   * @param {import("./model_library.js").ModelLibrary} library
   * @param {object} shown
   * @param {(name: string) => void} shown.reading called while a model is read
   * @param {(entry: import("./model_library.js").ModelEntry) => void} shown.model
   * @param {(name: string, file: Blob) => void} shown.texts
   * @param {(failure: import("./failure.js").Failure) => void} shown.failure
   */
  constructor(client, library, shown) {
    this.#client = client;
    this.#library = library;
    this.#shown = shown;
  }

  /**
   * @param {string} name the file's name, whose ending tells texts from models
   * @param {Blob} file
   * @returns {Promise<void>}
   */
  async open(name, file) {
    if (TEXTS.test(name)) return this.#shown.texts(name, file);
    try {
      this.#library.checkSize(name, file);
      this.#shown.reading(name);
      this.#shown.model(await this.#add(name, file));
    } catch (error) {
      if (!(error instanceof CanceledError)) this.#shown.failure(failureOf(error, FailureKind.UNREADABLE_MODEL));
    }
  }

  async #add(name, file) {
    const control = { signal: new AbortController().signal, report: () => {} };
    const { type } = await this.#client.call("inspect", { model: { name, file } }, control);
    return this.#library.add(name, file, type);
  }
}
