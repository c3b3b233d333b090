import { FailureKind } from "./failure.js";
import { Lane } from "./lane.js";
import { ModelPresenter } from "./model_presenter.js";
import { ACCEPTED } from "./task_types.js";

/**
 * A label with a bar.
 *
 * @typedef {object} LabelBar
 * @property {string} name
 * @property {number} probability from 0 to 1
 * @property {boolean} isChosen whether it is the model's choice, or one of them
 */

/**
 * A part of a text that is highlighted.
 *
 * @typedef {object} Highlight
 * @property {number} start the first UTF-16 unit
 * @property {number} end the unit after the last one
 * @property {string} label
 * @property {number} probability from 0 to 1
 * @property {number} color the number of the label among those of the model
 */

/**
 * What a model says about a text: labels, the likeliest first; a score; or highlights in the order of the text.
 *
 * @typedef {{kind: "labels", bars: LabelBar[]} | {kind: "score", value: number} | {kind: "highlights", highlights: Highlight[]}} TextResult
 */

/**
 * A result with what it is about.
 *
 * @typedef {object} Classified
 * @property {string} text the text that was read; the person may have typed on meanwhile
 * @property {TextResult} result
 * @property {number} tokens tokens of the text, special ones included
 * @property {{ran: number, all: number} | null} layers the layers that ran before the text ended at an exit; null for a file without exits
 * @property {number} milliseconds the time of the prediction, tokenization included
 * @property {number | null} readTokens the tokens that the model read, where it cut the text; null if it read all
 */

/**
 * The panel *Classify & tag*.
 *
 * @typedef {object} ClassifyState
 * @property {import("./model_state.js").ModelState} model
 * @property {string} text what the person typed
 * @property {boolean} isRunning whether a newer result is on its way
 * @property {Classified | null} classified the newest result; null before the first text
 * @property {boolean} showsTokens
 * @property {string[] | null} tokens the tokens of the text; null where they are not shown
 * @property {import("./failure.js").Failure | null} failure
 */

/**
 * Predicts labels, a score or entities while a person types.
 *
 * @extends {ModelPresenter<ClassifyState>}
 */
export class ClassifyPresenter extends ModelPresenter {
  #predicting = new Lane();

  /**
   * @param {import("../worker_client.js").WorkerClient} client
   * @param {import("./model_library.js").ModelLibrary} library
   */
  constructor(client, library) {
    super({ text: "", isRunning: false, classified: null, showsTokens: false, tokens: null }, client, library, ACCEPTED.classify);
  }

  /**
   * The person typed.
   *
   * @param {string} text
   */
  write(text) {
    if (text === this.state.text) return;
    this.show({ text });
    this.#predict();
  }

  /**
   * Shows or hides the tokens.
   *
   * @param {boolean} showsTokens
   */
  showTokens(showsTokens) {
    if (showsTokens === this.state.showsTokens) return;
    this.show({ showsTokens });
    if (showsTokens) this.#predict();
    else this.show({ tokens: null });
  }

  modelReady() {
    this.show({ classified: null, tokens: null });
    this.#predict();
  }

  modelLeft() {
    this.#predicting.drop();
    this.show({ isRunning: false });
  }

  #predict() {
    if (this.state.model.kind !== "ready") return;
    const { text, showsTokens } = this.state;
    if (!text.trim()) {
      this.#predicting.drop();
      this.show({ isRunning: false, classified: null, tokens: null, failure: null });
      return;
    }
    this.show({ isRunning: true });
    this.run(this.#predicting, FailureKind.ENGINE, (control) => this.ask("classify", { text, withTokens: showsTokens }, control), {
      done: ({ classified, tokens }) => this.show({ isRunning: false, classified, tokens, failure: null }),
      failed: (failure) => this.show({ isRunning: false, classified: null, tokens: null, failure }),
    });
  }
}
