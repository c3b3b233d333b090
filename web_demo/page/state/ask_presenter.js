import { FailureKind } from "./failure.js";
import { Lane } from "./lane.js";
import { ModelPresenter } from "./model_presenter.js";
import { ACCEPTED } from "./task_types.js";

/**
 * A part of the text that answers the question.
 *
 * @typedef {object} AnswerSpan
 * @property {number} start its first UTF-16 unit
 * @property {number} end the unit after its last one
 * @property {string} text
 * @property {number} score a probability for an answer, a cosine for a sentence
 */

/**
 * What a text answers: `spans` from a model for answers, `sentences` from a model for sentence vectors, the most similar to the question
 * first, or `none`.
 *
 * @typedef {{kind: "spans" | "sentences" | "none", parts: AnswerSpan[]}} TextAnswer
 */

/**
 * An answer with what it is about.
 *
 * @typedef {object} Answered
 * @property {string} text the text that was read
 * @property {string} question the question that was asked; the person may have typed on meanwhile
 * @property {TextAnswer} answer
 * @property {number} parts the windows, or the sentences, that were read
 * @property {boolean} areSentences whether parts are sentences
 * @property {number} milliseconds the time of the answer, tokenization included
 */

/**
 * The panel *Ask*.
 *
 * @typedef {object} AskState
 * @property {import("./model_state.js").ModelState} model
 * @property {string} text
 * @property {string} question
 * @property {boolean} isRunning whether an answer is on its way
 * @property {number} done parts of the text that were read, while it runs
 * @property {number} parts all parts of the text, while it runs
 * @property {Answered | null} answered the newest answer
 * @property {import("./failure.js").Failure | null} failure
 */

/**
 * Whether there is something to ask. It is answered as soon as there is a model.
 *
 * @param {AskState} state
 * @returns {boolean}
 */
export function canAsk(state) {
  return state.text.trim() !== "" && state.question.trim() !== "";
}

/**
 * Answers a question about a text: with a part of it, or, where only a model for sentence vectors is there, with the most similar sentence.
 *
 * @extends {ModelPresenter<AskState>}
 */
export class AskPresenter extends ModelPresenter {
  #answering = new Lane();
  #isAsked = false;

  /**
   * @param {import("../worker_client.js").WorkerClient} client
   * @param {import("./model_library.js").ModelLibrary} library
   */
  constructor(client, library) {
    super({ text: "", question: "", isRunning: false, done: 0, parts: 0, answered: null }, client, library, ACCEPTED.ask);
  }

  /**
   * The person changed the text. The answer to the earlier one is dropped.
   *
   * @param {string} text
   */
  writeText(text) {
    if (text === this.state.text) return;
    this.#isAsked = false;
    this.#answering.drop();
    this.show({ text, answered: null, isRunning: false, failure: null });
  }

  /**
   * The person changed the question.
   *
   * @param {string} question
   */
  writeQuestion(question) {
    if (question !== this.state.question) this.show({ question });
  }

  /** Answers the question, as soon as there are a model, a text and a question. */
  answer() {
    this.#isAsked = true;
    if (!canAsk(this.state) || this.state.model.kind !== "ready") return;
    const { text, question } = this.state;
    this.show({ isRunning: true, done: 0, parts: 0, failure: null });
    this.run(this.#answering, FailureKind.ENGINE, (control) => this.ask("answer", { text, question }, control), {
      done: (answered) => this.show({ isRunning: false, answered }),
      failed: (failure) => this.show({ isRunning: false, answered: null, failure }),
      progressed: (done, parts) => this.show({ done, parts }),
    });
  }

  /** Ends an answer that is on its way. */
  stop() {
    this.#isAsked = false;
    this.#answering.drop();
    this.show({ isRunning: false });
  }

  modelReady() {
    this.show({ answered: null });
    if (this.#isAsked) this.answer();
  }

  modelLeft() {
    this.#answering.drop();
    this.show({ isRunning: false });
  }
}
