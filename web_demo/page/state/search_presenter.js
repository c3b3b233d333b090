import { KerasBertError } from "../../core/error.js";
import { FailureKind } from "./failure.js";
import { Lane } from "./lane.js";
import { ModelPresenter } from "./model_presenter.js";
import { ACCEPTED } from "./task_types.js";

const MOST_BYTES = 64 * 2 ** 20;
const FRESH = 400; // milliseconds between two searches while an index grows

/**
 * Texts that are searched.
 *
 * @typedef {object} Corpus
 * @property {string} name the name of their file; "" for the sample
 * @property {number} count the number of texts
 * @property {number} bytes bytes of memory that their vectors take
 * @property {boolean} isKept whether they are found again after a reload
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
 */

/**
 * The panel *Search*.
 *
 * @typedef {object} SearchState
 * @property {import("./model_state.js").ModelState} model
 * @property {Corpus | null} corpus the texts that are searched; null before they are read
 * @property {number} done texts that were read, and are searched already, while an index is built
 * @property {number} total all texts, while an index is built; 0 otherwise
 * @property {ColumnChoice | null} choice a question to the person; null if there is none
 * @property {import("./failure.js").Failure | null} importFailure why a file could not be imported
 * @property {string} query what the person typed
 * @property {string} matched the query of the matches
 * @property {Match[]} matches the results for it, best first
 * @property {number | null} milliseconds the time of the search, the query's vector included
 * @property {import("./failure.js").Failure | null} failure
 */

/**
 * Searches texts by meaning while a person types, and while the index is being built.
 *
 * @extends {ModelPresenter<SearchState>}
 */
export class SearchPresenter extends ModelPresenter {
  #reading = new Lane();
  #indexing = new Lane();
  #searching = new Lane();
  #asked = null; // the file whose column is asked for
  #imported = null; // texts that the browser could not keep
  #refreshed = 0;
  #now;

  /**
   * @param {import("../worker_client.js").WorkerClient} client
   * @param {import("./model_library.js").ModelLibrary} library
   * @param {() => number} [now] the time in milliseconds
   */
  constructor(client, library, now = () => performance.now()) {
    const texts = { corpus: null, done: 0, total: 0, choice: null, importFailure: null };
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
   * The person chose a file of texts. A table with several columns is followed by a question, see `SearchState.choice`.
   *
   * @param {string} name the file's name, whose ending decides how it is read
   * @param {Blob} file
   */
  importFile(name, file) {
    this.show({ importFailure: null, choice: null });
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
    this.#imported = null;
    this.show({ importFailure: null });
    this.#build({ name: "", file: null, column: 0 });
  }

  /** Stops building an index. The texts that were searched before stay. */
  cancel() {
    this.#indexing.drop();
    this.show({ done: 0, total: 0 });
    this.#search();
  }

  /** What was kept was deleted: the sample takes its place. */
  forgetTexts() {
    if (this.state.model.kind === "ready") this.useSample();
  }

  modelReady() {
    this.#build(this.#imported);
  }

  modelLeft() {
    this.#indexing.drop();
    this.#searching.drop();
    this.show({ done: 0, total: 0 });
  }

  async #read(name, file, control) {
    if (file.size > MOST_BYTES) {
      const received = `${name} of ${Math.ceil(file.size / 2 ** 20)} MB`;
      throw new KerasBertError(`expected a file of at most ${MOST_BYTES / 2 ** 20} MB, received ${received}; split it`);
    }
    return this.client.call("readTexts", { name, file }, control);
  }

  /** Builds the index of texts; null for those that are kept, or else the sample. */
  #build(texts) {
    if (this.state.model.kind !== "ready") {
      this.#imported = texts;
      return;
    }
    this.show({ done: 0, total: 1, failure: null });
    this.run(this.#indexing, FailureKind.ENGINE, (control) => this.ask("index", { texts }, control), {
      done: ({ corpus, failure }) => {
        this.#imported = corpus.isKept ? null : texts;
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
    if (!query.trim() || (corpus === null && total === 0)) {
      this.#searching.drop();
      this.show({ matched: "", matches: [], milliseconds: null });
      return;
    }
    this.run(this.#searching, FailureKind.ENGINE, (control) => this.ask("search", { query }, control), {
      done: ({ matches, milliseconds }) => this.show({ matched: query, matches, milliseconds }),
      failed: (failure) => this.show({ matched: "", matches: [], milliseconds: null, failure }),
    });
  }
}
