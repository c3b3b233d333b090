import { FailureKind } from "./failure.js";
import { Lane } from "./lane.js";
import { ModelPresenter } from "./model_presenter.js";
import { ACCEPTED } from "./task_types.js";

/** The name under which labels are stored. */
export const STORED_LABELS = "taught-labels";

/**
 * A label with its examples.
 *
 * @typedef {object} TaughtLabel
 * @property {string} name
 * @property {string[]} examples texts that have it
 */

/**
 * The panel *Teach*.
 *
 * @typedef {object} TeachState
 * @property {import("./model_state.js").ModelState} model
 * @property {TaughtLabel[]} labels the labels in the order in which they were added
 * @property {string} text the text to classify
 * @property {boolean} isRunning whether newer bars are on their way
 * @property {import("./classify_presenter.js").LabelBar[] | null} bars the labels of the text, the likeliest first; null where there is
 *   no text, or no two labels have examples
 * @property {Uint8Array | null} file the labels as a `.tflite`, since it was asked for and nothing changed
 * @property {boolean} isMaking whether the file is on its way
 * @property {import("./failure.js").Failure | null} failure
 */

/**
 * Whether two labels have an example each, so that there is something to choose.
 *
 * @param {TeachState} state
 * @returns {boolean}
 */
export function canClassify(state) {
  return state.labels.filter((label) => label.examples.length > 0).length >= 2;
}

/**
 * Classifies texts by labels of the person's own, from a few examples each.
 *
 * @extends {ModelPresenter<TeachState>}
 */
export class TeachPresenter extends ModelPresenter {
  #restoring = new Lane();
  #saving = new Lane();
  #classifying = new Lane();
  #making = new Lane();
  #store;
  #sample;
  #isRestored = false;

  /**
   * @param {import("../worker_client.js").WorkerClient} client
   * @param {import("./model_library.js").ModelLibrary} library
   * @param {import("../storage/store.js").Store} store
   * @param {TaughtLabel[]} sample labels with examples, to try it
   */
  constructor(client, library, store, sample) {
    super({ labels: [], text: "", isRunning: false, bars: null, file: null, isMaking: false }, client, library, ACCEPTED.teach);
    this.#store = store;
    this.#sample = sample;
  }

  /** Loads what was stored, and the model. */
  start() {
    this.#restore();
    super.start();
  }

  /**
   * Adds a label without examples, unless there is one of that name.
   *
   * @param {string} name
   */
  addLabel(name) {
    const label = oneLine(name);
    if (label && !this.state.labels.some((each) => each.name === label)) this.#change([...this.state.labels, taught(label, [])]);
  }

  /**
   * Removes a label with its examples.
   *
   * @param {string} name
   */
  removeLabel(name) {
    this.#change(this.state.labels.filter((label) => label.name !== name));
  }

  /**
   * Adds an example to a label, unless it has it.
   *
   * @param {string} name
   * @param {string} example
   */
  addExample(name, example) {
    const text = oneLine(example);
    if (!text) return;
    this.#changeLabel(name, (examples) => (examples.includes(text) ? examples : [...examples, text]));
  }

  /**
   * Removes an example of a label.
   *
   * @param {string} name
   * @param {string} example
   */
  removeExample(name, example) {
    this.#changeLabel(name, (examples) => examples.filter((each) => each !== example));
  }

  /** Adds the sample's labels and examples to those of the person. */
  addSample() {
    const own = new Map(this.state.labels.map((label) => [label.name, label.examples]));
    const added = this.#sample.map((label) => taught(label.name, [...new Set([...(own.get(label.name) ?? []), ...label.examples])]));
    const names = added.map((label) => label.name);
    this.#change([...this.state.labels.filter((label) => !names.includes(label.name)), ...added]);
  }

  /** Removes all labels. */
  clear() {
    this.#change([]);
  }

  /** Makes a `.tflite` file of the labels. */
  makeFile() {
    if (this.state.model.kind !== "ready" || !canClassify(this.state)) return;
    const { labels } = this.state;
    this.show({ file: null, isMaking: true, failure: null });
    this.run(this.#making, FailureKind.ENGINE, (control) => this.ask("taughtFile", { labels }, control), {
      done: (file) => this.show({ file, isMaking: false }),
      failed: (failure) => this.show({ isMaking: false, failure }),
    });
  }

  /**
   * The person typed a text.
   *
   * @param {string} text
   */
  write(text) {
    if (text === this.state.text) return;
    this.show({ text });
    this.#classify();
  }

  modelReady() {
    this.#classify();
  }

  modelLeft() {
    this.#classifying.drop();
    this.#dropFile();
    this.show({ isRunning: false });
  }

  #restore() {
    if (this.#isRestored) return;
    this.#isRestored = true;
    this.run(this.#restoring, FailureKind.STORAGE, async () => labelsOf(await this.#store.read(STORED_LABELS)), {
      done: (stored) => {
        // What the person added meanwhile comes after what was stored.
        const added = this.state.labels.filter((label) => !stored.some((each) => each.name === label.name));
        this.show({ labels: [...stored, ...added] });
        if (added.length > 0) this.#change(this.state.labels);
        else this.#classify();
      },
      failed: (failure) => this.show({ failure }),
    });
  }

  #changeLabel(name, change) {
    this.#change(this.state.labels.map((label) => (label.name === name ? taught(name, change(label.examples)) : label)));
  }

  #change(labels) {
    this.#dropFile();
    this.show({ labels: Object.freeze(labels), failure: null });
    this.run(this.#saving, FailureKind.STORAGE, () => this.#save(labels), {
      done: () => {},
      failed: (failure) => this.show({ failure }),
    });
    this.#classify();
  }

  #dropFile() {
    this.#making.drop();
    this.show({ file: null, isMaking: false });
  }

  #save(labels) {
    if (labels.length === 0) return this.#store.remove(STORED_LABELS);
    return this.#store.write(STORED_LABELS, labels.map(({ name, examples }) => ({ name, examples: [...examples] })));
  }

  #classify() {
    const { model, text, labels } = this.state;
    if (model.kind !== "ready") return;
    if (!text.trim() || !canClassify(this.state)) {
      this.#classifying.drop();
      this.show({ bars: null, isRunning: false });
      return;
    }
    this.show({ isRunning: true });
    this.run(this.#classifying, FailureKind.ENGINE, (control) => this.ask("teach", { labels, text }, control), {
      done: (bars) => this.show({ bars, isRunning: false }),
      failed: (failure) => this.show({ bars: null, isRunning: false, failure }),
    });
  }
}

function taught(name, examples) {
  return Object.freeze({ name, examples: Object.freeze(examples) });
}

function oneLine(text) {
  return text.trim().replace(/[\r\n]+/g, " ");
}

// What is stored may come from another version of this page: what has another form is left out.
function labelsOf(stored) {
  if (!Array.isArray(stored)) return [];
  return stored.filter(isLabel).map(({ name, examples }) => taught(name, examples));
}

function isLabel(value) {
  return typeof value?.name === "string" && Array.isArray(value.examples) && value.examples.every((each) => typeof each === "string");
}
