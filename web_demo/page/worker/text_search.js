import { KerasBertError } from "../../core/error.js";
import { IndexFile, OtherModelError } from "../../core/search/index_file.js";
import { SentenceSearch } from "../../core/search/sentence_search.js";
import { TextImport } from "../../core/search/text_import.js";
import { CodePoints } from "../../core/text/code_points.js";
import { STORED_SEARCH } from "../state/device_presenter.js";
import { CanceledError, FailedError, failure, failureOf, FailureKind } from "../state/failure.js";
import { pause } from "./pause.js";

const TOP = 20;
const REPORTED = 16; // texts between two reports

/**
 * What is stored: the texts before their index is built, and the index, which contains the texts, after it. It is one entry, so that texts
 * and vectors belong together whatever another tab writes.
 *
 * @typedef {object} StoredSearch
 * @property {string} name the file's name; "" for the sample
 * @property {string[] | null} texts
 * @property {Uint8Array | null} index see `IndexFile`
 */

/** Texts that are searched by their vectors, also while these are being computed. */
export class TextSearch {
  #store;
  #sample;
  #complete = null; // the texts that were searched before
  #growing = null;
  #opened = null; // the index of a file, with its number

  /**
   * @param {import("../storage/store.js").Store} store
   * @param {() => Promise<string[]>} sample reads the texts that are searched before the person imports some
   */
  constructor(store, sample) {
    this.#store = store;
    this.#sample = sample;
  }

  /**
   * Builds the index of texts, or reads the one that is stored.
   *
   * @param {import("../../core/tasks/sentence_encoding.js").SentenceEncoding} encoder
   * @param {{name: string, file: Blob | null, column: number} | null} wanted null for the texts that are stored, or else the sample
   * @param {import("./turns.js").Job} job
   * @returns {Promise<{corpus: import("../state/search_presenter.js").Corpus, failure: import("../state/failure.js").Failure | null}>} the
   *   failure is that of the storage; the texts are searched all the same
   */
  async build(encoder, wanted, job) {
    const model = encoder.vectorsName;
    const stored = wanted ? null : await this.#stored(model);
    if (stored?.search) return this.#finish(stored.name, stored.search, null);
    const { name, texts } = wanted ? await this.#read(wanted) : stored ?? { name: "", texts: await this.#sample() };
    const failed = wanted ? await this.#save({ name, texts, index: null }) : null;
    const search = await this.#encode(encoder, model, texts, job);
    return this.#finish(name, search, failed ?? (await this.#save({ name, texts: null, index: IndexFile.write(search) })));
  }

  /**
   * Opens an index, which is held in memory beside the texts. One that is refused leaves everything as it was.
   *
   * @param {import("../../core/tasks/sentence_encoding.js").SentenceEncoding} encoder
   * @param {{number: number, name: string, file: Blob}} index its number among those of the page
   * @param {import("./turns.js").Job} job
   * @returns {Promise<import("../state/search_presenter.js").Corpus>}
   */
  async open(encoder, { number, name, file }, job) {
    const search = readIndex(await bytesOf(name, file), encoder.vectorsName);
    await pause();
    if (job.signal.aborted) throw new CanceledError();
    this.#opened = { number, search };
    const { size, vectorBytes, openedAs } = search;
    return { name, count: size, bytes: vectorBytes, isKept: false, index: { openedAs, failure: null } };
  }

  /**
   * Forgets an index, unless another one was opened meanwhile.
   *
   * @param {number} number
   */
  close(number) {
    if (this.#opened?.number === number) this.#opened = null;
  }

  /**
   * Finds texts.
   *
   * @param {import("../../core/tasks/sentence_encoding.js").SentenceEncoding} encoder
   * @param {object} asked
   * @param {string} asked.query
   * @param {number | null} asked.index the number of the index that is searched; null for texts
   * @param {boolean} asked.isBuilding whether texts are searched that are being indexed, as soon as there are some
   * @returns {Promise<{matches: import("../state/search_presenter.js").Match[], milliseconds: number}>}
   */
  async search(encoder, { query, index, isBuilding }) {
    const start = performance.now();
    const { vector } = await encoder.encodeQuery(query);
    const growing = isBuilding ? this.#growing : null;
    const searched = growing ?? (index === null ? this.#complete : this.#indexOf(index));
    const isOfModel = searched?.model === encoder.vectorsName;
    const found = isOfModel ? searched.search(vector, TOP) : [];
    const place = searched === this.#opened?.search ? placeOf : () => null;
    const matches = found.map((match) => ({ index: match.index, text: match.text, score: match.score, place: place(match) }));
    return { matches, milliseconds: performance.now() - start };
  }

  #indexOf(number) {
    return this.#opened?.number === number ? this.#opened.search : null;
  }

  async #read({ name, file, column }) {
    if (file === null) return { name, texts: await this.#sample() };
    try {
      return { name, texts: (await readTexts(name, file)).texts(column) };
    } catch (error) {
      throw new FailedError(failureOf(error, FailureKind.UNREADABLE_TEXTS));
    }
  }

  async #encode(encoder, model, texts, job) {
    if (texts.length === 0) throw new KerasBertError("expected at least one text to search, received none; choose another file");
    try {
      for (const [number, text] of texts.entries()) {
        const { vector } = await encoder.encodeDocument(text);
        this.#growing ??= new SentenceSearch(model, vector.length);
        this.#growing.add(text, vector);
        const done = number + 1;
        if (done === 1 || done % REPORTED === 0) job.report(done, texts.length);
      }
      return this.#growing;
    } finally {
      this.#growing = null;
    }
  }

  #finish(name, search, failed) {
    this.#complete = search;
    return { corpus: { name, count: search.size, bytes: search.vectorBytes, isKept: failed === null, index: null }, failure: failed };
  }

  /** What is stored: an index of the model, or else the texts. Null if nothing is, or it is damaged, or the sample changed. */
  async #stored(model) {
    try {
      const stored = await this.#store.read(STORED_SEARCH);
      if (!stored) return null;
      const search = stored.index ? IndexFile.read(stored.index, null) : null;
      const texts = search ? search.texts : stored.texts;
      if (stored.name === "" && !isSame(texts, await this.#sample())) return null;
      return search?.model === model ? { name: stored.name, search } : { name: stored.name, texts };
    } catch {
      return null;
    }
  }

  async #save(entry) {
    try {
      await this.#store.write(STORED_SEARCH, entry);
      return null;
    } catch (error) {
      return failureOf(error, FailureKind.STORAGE); // the search works until the page is left
    }
  }
}

/**
 * Reads a file of texts.
 *
 * @param {string} name its name, whose ending decides
 * @param {Blob} file
 * @returns {Promise<TextImport>}
 * @throws {KerasBertError} when it cannot be read as texts
 */
export async function readTexts(name, file) {
  return TextImport.read(new Uint8Array(await file.arrayBuffer()), name);
}

function readIndex(bytes, model) {
  try {
    return IndexFile.read(bytes, model);
  } catch (error) {
    const kind = error instanceof OtherModelError ? FailureKind.OTHER_MODEL : FailureKind.UNREADABLE_INDEX;
    throw new FailedError(failureOf(error, kind));
  }
}

async function bytesOf(name, file) {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch (error) {
    const detail = `expected the file ${name}, received none (${error.message}); open it again`;
    throw new FailedError(failure(FailureKind.UNREADABLE_INDEX, detail));
  }
}

function placeOf({ document, start, text }) {
  return { document, start, end: start + new CodePoints(text).size };
}

function isSame(texts, others) {
  return texts.length === others.length && texts.every((text, number) => text === others[number]);
}
