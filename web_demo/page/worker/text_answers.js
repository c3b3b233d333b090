import { VectorIndex } from "../../core/search/vector_index.js";
import { QuestionAnswering } from "../../core/tasks/question_answering.js";
import { SentenceEncoding } from "../../core/tasks/sentence_encoding.js";
import { FailedError, failure, FailureKind } from "../state/failure.js";
import { sentencesOf } from "./sentences.js";

const OTHERS = 3; // answers listed below the best one
const NO_ANSWER = { kind: "none", parts: [] };

/** Answers questions about texts. The vectors of a text's sentences serve every question about it. */
export class TextAnswers {
  #known = null;

  /**
   * @param {import("../../core/tasks/task.js").Task} task
   * @param {string} question
   * @param {string} text
   * @param {string} model what tells models apart
   * @param {import("./turns.js").Job} job
   * @returns {Promise<import("../state/ask_presenter.js").Answered>}
   */
  async answer(task, question, text, model, job) {
    const start = performance.now();
    const found = await this.#answer(task, question, text, model, job);
    return { text, question, ...found, areSentences: task instanceof SentenceEncoding, milliseconds: performance.now() - start };
  }

  async #answer(task, question, text, model, job) {
    if (task instanceof QuestionAnswering) {
      const prediction = await task.answer(question, text, job.report);
      return { answer: spansOf(prediction), parts: prediction.windows };
    }
    if (task instanceof SentenceEncoding) return this.#bestSentences(task, question, text, model, job);
    throw new FailedError(failure(FailureKind.OTHER_TASK));
  }

  async #bestSentences(task, question, text, model, job) {
    if (this.#known?.text !== text || this.#known.model !== model) this.#known = await encodeSentences(task, text, model, job);
    const { sentences, index } = this.#known;
    if (sentences.length === 0) return { answer: NO_ANSWER, parts: 0 };
    const hits = index.search((await task.encodeQuery(question)).vector, 1 + OTHERS);
    const parts = hits.map(({ index: number, score }) => {
      const { start, end } = sentences[number];
      return { start, end, text: text.slice(start, end), score };
    });
    return { answer: { kind: "sentences", parts }, parts: sentences.length };
  }
}

async function encodeSentences(task, text, model, job) {
  const sentences = sentencesOf(text);
  let index = null;
  for (const [number, { start, end }] of sentences.entries()) {
    const { vector } = await task.encodeDocument(text.slice(start, end));
    index ??= new VectorIndex(vector.length);
    index.add(vector);
    job.report(number + 1, sentences.length);
  }
  return { text, model, sentences, index };
}

function spansOf({ answer, best }) {
  if (answer.start === null) return NO_ANSWER;
  const spans = best.filter((each) => each.start !== null);
  const parts = spans.map(({ start, end, text, probability }) => ({ start, end, text, score: probability }));
  return { kind: "spans", parts: parts.slice(0, 1 + OTHERS) };
}
