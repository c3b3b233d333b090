import { KerasBertError } from "../error.js";
import { Decimal } from "../file/decimals.js";
import { TaskType } from "../file/task_type.js";
import { Row } from "../model/row.js";
import { CodePoints } from "../text/code_points.js";
import { defaultStride, windows } from "../text/windows.js";
import { Example } from "./example.js";
import { Prediction } from "./prediction.js";
import { ContextTokens, SpanSearch } from "./span_search.js";
import { Task } from "./task.js";

const LONGEST_QUESTION = 64; // tokens, as in the BERT authors' own code
const LONGEST_ANSWER = 30; // tokens by default
const BEST = 20; // answers that a prediction lists by default

/**
 * A part of a text that may answer a question.
 *
 * @typedef {object} Answer
 * @property {string} text its text; "" for no answer
 * @property {number | null} start its first UTF-16 unit in the context; null for no answer
 * @property {number | null} end the unit after its last one; null for no answer
 * @property {number} score the sum of both logits
 * @property {number} probability among the answers that the prediction lists
 */

/** The answer to a question. */
export class AnswerPrediction extends Prediction {
  /**
   * @param {object} example the question
   * @param {boolean} isCut
   * @param {object} found
   * @param {Answer} found.answer the answer, which may be none
   * @param {number} found.noAnswerScore the score of no answer
   * @param {Answer[]} found.best the best answers, best first; no answer is among them if the model was trained on questions without one
   * @param {number} found.windows the windows in which the context was read
   */
  constructor(example, isCut, { answer, noAnswerScore, best, windows: read }) {
    super(example, isCut);
    this.answer = answer;
    this.noAnswerScore = noAnswerScore;
    this.best = best;
    this.windows = read;
  }

  fields() {
    const places = new CodePoints(this.example.context);
    const best = this.best.map((each) => answerFields(each, places));
    return { ...answerFields(this.answer, places), no_answer_score: new Decimal(this.noAnswerScore), best };
  }
}

/** The part of a text that answers a question. A long text is read in overlapping windows. */
export class QuestionAnswering extends Task {
  #settings;

  /** @param {import("../model/text_model.js").TextModel} model */
  constructor(model) {
    super(model, TaskType.QUESTION_ANSWERING);
    const { settings } = model.file.metadata;
    this.#settings = {
      stride: settings.stride ?? null,
      longest: settings.longest_answer ?? LONGEST_ANSWER,
      listed: settings.n_best ?? BEST,
      mayHaveNone: settings.no_answer ?? false,
      threshold: settings.no_answer_threshold ?? 0,
    };
  }

  async predict(example) {
    if (!(example instanceof Example.Question)) throw this.unexpected("a question with a context", example);
    return this.answer(example.question, example.context);
  }

  /**
   * Answers a question. A question of more than 64 tokens, or of half a row, is cut.
   *
   * @param {string} question
   * @param {string} context
   * @param {(done: number, all: number) => void | Promise<void>} [report] called with the windows done and all windows, and awaited
   * @returns {Promise<AnswerPrediction>}
   */
  async answer(question, context, report = () => {}) {
    const { tokenizer } = this.model;
    const questionIds = tokenizer.tokens(question).ids;
    const limit = this.#longestQuestion();
    const rows = this.#windowsOf(questionIds.subarray(0, limit), ContextTokens.of(context, tokenizer));
    const search = new SpanSearch(this.#settings.longest, this.#settings.listed);
    for (const [number, window] of rows.entries()) {
      const outputs = await this.model.run(window.row);
      search.add(window, outputs.get("start_logits"), outputs.get("end_logits"));
      await report(number + 1, rows.length);
    }
    return this.#prediction(new Example.Question(question, context), questionIds.length > limit, search, rows.length);
  }

  #longestQuestion() {
    const special = this.model.tokenizer.specialTokens(true);
    const space = this.model.length - special;
    if (space >= 2) return Math.min(LONGEST_QUESTION, Math.floor(space / 2));
    throw new KerasBertError(
      `expected rows of at least ${special + 2} tokens for a question and a text, received ${this.model.length}; convert the ` +
        "model with a longer one",
    );
  }

  #windowsOf(question, context) {
    const { tokenizer, length } = this.model;
    const begin = question.length + 1 + tokenizer.separators;
    const room = length - begin - 1;
    const { stride } = this.#settings;
    const step = stride === null ? defaultStride(length, room) : Math.min(stride, room);
    return windows(context.ids.length, room, step).map((window) => {
      const ids = new Int32Array(begin + window.end - window.start + 1).fill(tokenizer.sepId);
      ids[0] = tokenizer.clsId;
      ids.set(question, 1);
      ids.set(context.ids.subarray(window.start, window.end), begin);
      return { context, tokens: window, begin, row: new Row(ids, new Int32Array(ids.length).fill(tokenizer.secondType, begin)) };
    });
  }

  #prediction(example, isCut, search, read) {
    const { mayHaveNone, threshold } = this.#settings;
    const { noAnswerScore } = search;
    const answers = search.best().map(({ start, end, score }) => ({ text: example.context.slice(start, end), start, end, score }));
    const none = { text: "", start: null, end: null, score: noAnswerScore };
    const isUnanswered = answers.length === 0 || (mayHaveNone && none.score - answers[0].score > threshold);
    const listed = mayHaveNone || answers.length === 0 ? [...answers, none].sort((one, other) => other.score - one.score) : answers;
    const best = withProbabilities(listed);
    const answer = best.find(({ start }) => (start === null) === isUnanswered);
    return new AnswerPrediction(example, isCut, { answer, noAnswerScore, best, windows: read });
  }
}

/** Answers, best first, with their shares of the exponentials of all scores. */
function withProbabilities(answers) {
  const exponentials = answers.map(({ score }) => Math.exp(score - answers[0].score));
  const total = exponentials.reduce((sum, value) => sum + value, 0);
  return answers.map((each, number) => ({ ...each, probability: exponentials[number] / total }));
}

function answerFields({ text, start, end, score, probability }, places) {
  return {
    answer: text,
    start: start === null ? null : places.ofUnit(start),
    end: end === null ? null : places.ofUnit(end),
    score: new Decimal(score),
    probability: new Decimal(probability),
  };
}
