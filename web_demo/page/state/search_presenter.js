import { KerasBertError } from "../../core/error.js";
import { FailedError, failure, FailureKind } from "./failure.js";
import { Lane } from "./lane.js";
import { ModelPresenter } from "./model_presenter.js";
import { ACCEPTED } from "./task_types.js";

const MOST_BYTES = 64 * 2 ** 20;
const MOST_INDEX_BYTES = 400e6; // it is held in memory
const INDEX = /\.kbindex$/i;
const ALONE = { signal: new AbortController().signal, report: () => {} }; // of a call that nothing waits for
const FRESH = 400; // milliseconds between two searches while an index grows

/**
 * Texts that are searched.
 *
 * @typedef {object} Corpus
 * @property {string} name the name of their file; "" for the sample
 * @property {number} count the number of texts, or of rows of an index
 * @property {number} bytes bytes of memory that their vectors take
 * @property {boolean} isKept whether they are found again after a reload
 * @property {IndexFacts | null} index what an index says about itself; null for texts that the page indexed
 */

/**
 * What an index that the person opened says about itself.
 *
 * @typedef {object} IndexFacts
 * @property {string} openedAs the name or path under which its model was opened; "" if it names none
 * @property {import("./failure.js").Failure | null} failure why it cannot be searched with the present model; null if it can be
 */

/**
 * Asks which column of a table has the texts.
 *
 * @typedef {object} ColumnChoice
 * @property {string} name the file's name
 * @property {string[]} columns
 * @property {number} likeliest the number of the column that most likely has the texts
 */

/**
 * A text that was found.
 *
 * @typedef {object} Match
 * @property {number} index its number among the texts
 * @property {string} text
 * @property {number} score its cosine with the query
 * @property {Place | null} place where it stands; null for texts that the page indexed
 */

/**
 * The place of a text in its document, in Unicode code points as Python counts them.
 *
 * @typedef {object} Place
 * @property {string} document the document's name
 * @property {number} start
 * @property {number} end
 */

/**
 * The panel *Search*.
 *
 * @typedef {object} SearchState
 * @property {import("./model_state.js").ModelState} model
 * @property {Corpus | null} corpus the texts that are searched; null before they are read
 * @property {number} done texts that were read, and are searched already, while an index is built
 * @property {number} total all texts, while an index is built; 0 otherwise
 * @property {string} opening the name of an index while it is read; "" otherwise
 * @property {ColumnChoice | null} choice a question to the person; null if there is none
 * @property {import("./failure.js").Failure | null} importFailure why a file could not be imported
 * @property {string} query what the person typed
 * @property {string} matched the query of the matches
 * @property {Match[]} matches the results for it, best first
 * @property {number | null} milliseconds the time of the search, the query's vector included
 * @property {import("./failure.js").Failure | null} failure
 */

/**
 * Searches texts by meaning while a person types, and while the index is being built. An index that was made before, a `.kbindex`, is
 * searched with its own model only.
 *
 * @extends {ModelPresenter<SearchState>}
 */
export class SearchPresenter extends ModelPresenter {
  #reading = new Lane();
  #indexing = new Lane();
  #searching = new Lane();
  #asked = null; // the file whose column is asked for
  #opening = new Lane();
  #imported = null; // texts that the browser could not keep
  #index = null; // the file of the index that is searched in place of texts
  #isStale = false; // whether the worker still has to read that file for the present model
  #files = 0; // of indexes, so far
  #wanted = null; // the file of an index that could not be opened yet, as the model was not ready or did not fit
  #refreshed = 0;
  #now;

  /**
   * @param {import("../worker_client.js").WorkerClient} client
   * @param {import("./model_library.js").ModelLibrary} library
   * @param {() => number} [now] the time in milliseconds
   */
  constructor(client, library, now = () => performance.now()) {
    const texts = { corpus: null, done: 0, total: 0, opening: "", choice: null, importFailure: null };
    super({ ...texts, query: "", matched: "", matches: [], milliseconds: null }, client, library, ACCEPTED.search);
    this.#now = now;
  }

  /**
   * The person typed a query.
   *
   * @param {string} query
   */
  write(query) {
    if (query === this.state.query) return;
    this.show({ query });
    this.#search();
  }

  /**
   * The person chose a file of texts, or an index. A table with several columns is followed by a question, see `SearchState.choice`.
   *
   * @param {string} name the file's name, whose ending decides how it is read
   * @param {Blob} file
   */
  importFile(name, file) {
    this.#asked = null;
    this.#leaveWanted();
    this.show({ importFailure: null, choice: null });
    if (INDEX.test(name)) {
      this.#reading.drop();
      this.#open({ number: ++this.#files, name, file });
      return;
    }
    this.run(this.#reading, FailureKind.UNREADABLE_TEXTS, (control) => this.#read(name, file, control), {
      done: ({ columns, likeliest }) => {
        this.#asked = { name, file };
        if (columns.length > 1) this.show({ choice: Object.freeze({ name, columns, likeliest }) });
        else this.chooseColumn(0);
      },
      failed: (importFailure) => this.show({ importFailure }),
    });
  }

  /**
   * The person chose a column; null imports nothing.
   *
   * @param {number | null} column
   */
  chooseColumn(column) {
    const asked = this.#asked;
    this.#asked = null;
    this.show({ choice: null });
    if (asked && column !== null) this.#build({ ...asked, column });
  }

  /** Searches the sample again, in place of imported texts, which are forgotten. */
  useSample() {
    this.#leaveWanted();
    this.#imported = null;
    this.show({ importFailure: null });
    this.#build({ name: "", file: null, column: 0 });
  }

  /** Leaves the index that was opened: what the page keeps, or else the sample, is searched again. */
  closeIndex() {
    this.#wanted = null;
    this.#opening.drop();
    this.show({ opening: "", importFailure: null });
    this.#build(this.#imported);
  }

  /** Stops building an index. The texts that were searched before stay. */
  cancel() {
    this.#indexing.drop();
    this.show({ done: 0, total: 0 });
    this.#search();
  }

  /** What was kept was deleted: the sample takes its place. An index that was opened is not kept, and stays. */
  forgetTexts() {
    if (this.#index) this.#imported = null;
    else if (this.state.model.kind === "ready") this.useSample();
  }

  modelReady() {
    if (this.#index === null) this.#build(this.#imported);
    const index = this.#wanted ?? this.#index;
    if (index) this.#open(index);
  }

  modelLeft() {
    if (this.state.total > 0) this.#leaveIndex(); // texts were about to take its place
    this.#isStale = true;
    this.#indexing.drop();
    this.#opening.drop();
    this.#searching.drop();
    this.show({ done: 0, total: 0, opening: "" });
  }

  async #read(name, file, control) {
    if (file.size > MOST_BYTES) {
      const received = `${name} of ${Math.ceil(file.size / 2 ** 20)} MB`;
      throw new KerasBertError(`expected a file of at most ${MOST_BYTES / 2 ** 20} MB, received ${received}; split it`);
    }
    return this.client.call("readTexts", { name, file }, control);
  }

  /** The person chose something else than the index that could not be opened. */
  #leaveWanted() {
    if (this.#wanted === null) return;
    this.#wanted = null;
    this.#opening.drop();
    this.show({ opening: "" });
    if (this.#index && this.#isStale) this.#open(this.#index);
  }

  /** Opens an index. Until it is read, and if it is refused, what was searched before stays. */
  #open(index) {
    if (index !== this.#index) this.#wanted = index;
    if (this.state.model.kind !== "ready") return;
    this.show({ opening: index.name });
    this.run(this.#opening, FailureKind.ENGINE, (control) => this.#readIndex(index, control), {
      done: (corpus) => this.#opened(index, corpus),
      failed: (reason) => this.#refused(index, reason),
    });
  }

  async #readIndex(index, control) {
    if (index.file.size > MOST_INDEX_BYTES) {
      const received = `${index.name} of ${Math.ceil(index.file.size / 1e6)} MB`;
      const detail = `expected an index of at most ${MOST_INDEX_BYTES / 1e6} MB, received ${received}; index fewer texts`;
      throw new FailedError(failure(FailureKind.UNREADABLE_INDEX, detail));
    }
    return this.ask("openIndex", { index }, control);
  }

  #opened(index, corpus) {
    this.show({ opening: "" });
    if (index === this.#wanted) {
      this.#indexing.drop();
      this.show({ done: 0, total: 0, importFailure: null, failure: null });
      this.#index = index;
      this.#wanted = null;
    } else if (index !== this.#index) {
      return; // texts took its place
    }
    this.#isStale = false;
    this.show({ corpus: Object.freeze(corpus) });
    this.#search();
  }

  #refused(index, reason) {
    this.show({ opening: "" });
    if (index === this.#wanted) {
      if (reason.kind !== FailureKind.OTHER_MODEL) this.#wanted = null; // no model can open it
      this.show({ importFailure: reason });
      if (this.#index && this.#isStale) this.#open(this.#index);
    } else if (index === this.#index) {
      const { corpus } = this.state;
      this.#isStale = false;
      this.show({ corpus: Object.freeze({ ...corpus, index: Object.freeze({ ...corpus.index, failure: reason }) }) });
      this.#search();
    }
  }

  /** Texts have taken the place of the index, if there was one: the worker no longer holds it. */
  #leaveIndex() {
    const index = this.#index;
    this.#index = null;
    if (index) this.client.call("closeIndex", { number: index.number }, ALONE).catch(() => {}); // a worker that ended holds none
  }

  /** Builds the index of texts; null for those that are kept, or else the sample. */
  #build(texts) {
    if (this.state.model.kind !== "ready") {
      this.#imported = texts;
      this.#leaveIndex();
      return;
    }
    this.show({ done: 0, total: 1, failure: null });
    this.run(this.#indexing, FailureKind.ENGINE, (control) => this.ask("index", { texts }, control), {
      done: ({ corpus, failure }) => {
        this.#imported = corpus.isKept ? null : texts;
        this.#leaveIndex();
        this.show({ done: 0, total: 0, corpus: Object.freeze(corpus), failure });
        this.#search();
      },
      failed: (reason) => {
        const isOfTexts = reason.kind === FailureKind.UNREADABLE_TEXTS;
        this.show({ done: 0, total: 0, ...(isOfTexts ? { importFailure: reason } : { failure: reason }) });
        this.#search();
      },
      progressed: (done, total) => {
        this.show({ done, total });
        this.#refresh();
      },
    });
  }

  #refresh() {
    if (!this.state.query.trim() || this.#now() - this.#refreshed < FRESH) return;
    this.#refreshed = this.#now();
    this.#search();
  }

  #search() {
    const { query, corpus, total, model } = this.state;
    if (model.kind !== "ready") return;
    const isBuilding = total > 0;
    const refusal = this.#isStale ? null : corpus?.index?.failure ?? null;
    const isReady = corpus !== null && refusal === null && !(corpus.index && this.#isStale);
    if (!isBuilding && refusal) this.show({ failure: refusal });
    if (!query.trim() || !(isBuilding || isReady)) {
      this.#searching.drop();
      this.show({ matched: "", matches: [], milliseconds: null });
      return;
    }
    const index = this.#index?.number ?? null;
    this.run(this.#searching, FailureKind.ENGINE, (control) => this.ask("search", { query, index, isBuilding }, control), {
      done: ({ matches, milliseconds }) => this.show({ matched: query, matches, milliseconds }),
      failed: (failure) => this.show({ matched: "", matches: [], milliseconds: null, failure }),
    });
  }
}
