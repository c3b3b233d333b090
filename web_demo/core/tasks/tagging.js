import { Decimal } from "../file/decimals.js";
import { TaskType } from "../file/task_type.js";
import { CodePoints } from "../text/code_points.js";
import { defaultStride, maxContext, windows } from "../text/windows.js";
import { Words } from "../text/words.js";
import { Example } from "./example.js";
import { Prediction } from "./prediction.js";
import { Tags } from "./tags.js";
import { Task } from "./task.js";
import { argMax, rowOf } from "./text_rows.js";

const SPECIAL_TOKENS = 2; // [CLS] tokens [SEP]
const LANES = 8; // sums that NumPy adds side by side
const LONGEST_SUM = 128; // numbers that NumPy adds without halving them

/**
 * A word with its tag.
 *
 * @typedef {object} TaggedWord
 * @property {string} text the word
 * @property {number} start its first UTF-16 unit in the text
 * @property {number} end the unit after its last one
 * @property {string} tag the tag
 * @property {number} score the tag's probability; 1 for a word without tokens
 */

/**
 * An entity of a text.
 *
 * @typedef {object} Entity
 * @property {string} label its label
 * @property {string} text its text
 * @property {number} start its first UTF-16 unit in the text
 * @property {number} end the unit after its last one
 * @property {number} score the mean of the probabilities of its words' tags
 */

/** The tags of a text. */
export class TagPrediction extends Prediction {
  /**
   * @param {string} text
   * @param {TaggedWord[]} words the words in their order
   * @param {Entity[]} entities the entities that the tags mark
   */
  constructor(text, words, entities) {
    super(new Example.Single(text), false);
    this.words = words;
    this.entities = entities;
  }

  fields() {
    const places = new CodePoints(this.example.text);
    const entities = this.entities.map(({ label, text, start, end, score }) => ({
      label, text, start: places.ofUnit(start), end: places.ofUnit(end), score: new Decimal(score),
    }));
    return { words: this.words.map(({ text }) => text), tags: this.words.map(({ tag }) => tag), entities };
  }
}

/** A tag for every word of a text, and the entities that tags mark. A long text is read in overlapping windows. */
export class Tagging extends Task {
  #tags;
  #stride;

  /** @param {import("../model/text_model.js").TextModel} model */
  constructor(model) {
    super(model, TaskType.TAGGING);
    this.#tags = new Tags(this.labels);
    this.#stride = model.file.metadata.settings.stride ?? null;
  }

  async predict(example) {
    if (!(example instanceof Example.Single)) throw this.unexpected("a single text", example);
    return this.tag(example.text);
  }

  /**
   * Tags a text. A word is classified on its first token, in the window in which that has most context.
   *
   * @param {string} text
   * @param {(done: number, all: number) => void | Promise<void>} [report] called with the windows done and all windows, and awaited
   * @returns {Promise<TagPrediction>}
   */
  async tag(text, report = () => {}) {
    const words = Words.of(text);
    const tokens = this.model.tokenizer.tokens(text);
    const firstTokens = words.firstTokens(tokens);
    const parts = this.#windowsOf(tokens);
    const wordsByWindow = parts.map(() => []);
    ownersOf(firstTokens, parts).forEach((window, word) => wordsByWindow[window]?.push(word));
    const tagged = words.words.map((word, number) => ({
      text: word, start: words.starts[number], end: words.ends[number], tag: this.#tags.outside, score: 1,
    }));
    let layers = null;
    for (const [number, window] of parts.entries()) {
      const ran = await this.#tagWindow(tokens, window, firstTokens, wordsByWindow[number], tagged);
      if (ran !== null) layers = Math.max(layers, ran);
      await report(number + 1, parts.length);
    }
    return new TagPrediction(text, tagged, this.#tags.markEntities ? this.#entities(text, tagged) : []).after(layers);
  }

  #windowsOf(tokens) {
    const { length } = this.model;
    const room = length - SPECIAL_TOKENS;
    return windows(tokens.size, room, this.#stride === null ? defaultStride(length, room) : Math.min(this.#stride, room));
  }

  async #tagWindow(tokens, window, firstTokens, words, tagged) {
    if (words.length === 0) return null;
    const outputs = await this.model.run(rowOf(this.model.tokenizer, tokens.ids, window.start, window.end));
    for (const group of withSharedTokens(words, firstTokens)) {
      const probabilities = outputs.at("probabilities", firstTokens[group[0]] - window.start + 1);
      const best = argMax(probabilities);
      this.#tags.expand(this.#tags.name(best), group.length).forEach((tag, place) => {
        Object.assign(tagged[group[place]], { tag, score: probabilities[best] });
      });
    }
    return outputs.layers;
  }

  #entities(text, words) {
    const scores = Float64Array.from(words, ({ score }) => score);
    return this.#tags.spans(words.map(({ tag }) => tag)).map(({ label, first, end: last }) => {
      const { start } = words[first];
      const { end } = words[last - 1];
      return { label, text: text.slice(start, end), start, end, score: sum(scores, first, last) / (last - first) };
    });
  }
}

/** Words in groups that share their first token; such words share the first one's tag. */
function withSharedTokens(words, firstTokens) {
  const groups = new Map();
  for (const word of words) {
    const group = groups.get(firstTokens[word]);
    if (group) group.push(word);
    else groups.set(firstTokens[word], [word]);
  }
  return groups.values();
}

/** The number of the window in which the first token of each word has most context, the first of equals; -1 for a word without tokens. */
function ownersOf(firstTokens, parts) {
  const stride = parts.length > 1 ? parts[1].start : 1;
  return firstTokens.map((token) => (token < 0 ? -1 : ownerOf(token, parts, stride)));
}

/** Looks at the windows that contain the token only: a long text has thousands of them, and a hundred thousand words. */
function ownerOf(token, parts, stride) {
  let [owner, most] = [-1, -1];
  for (let number = Math.min(Math.floor(token / stride), parts.length - 1); parts[number]?.end > token; number--) {
    const context = maxContext(token, parts[number]);
    if (context < most) continue;
    owner = number;
    most = context;
  }
  return owner;
}

/** The sum of some numbers in the order in which NumPy adds them, so that means are equal to the last digit. */
function sum(values, start, end) {
  const size = end - start;
  if (size < LANES) return values.subarray(start, end).reduce((total, value) => total + value, 0);
  if (size > LONGEST_SUM) {
    const half = Math.floor(size / 2 / LANES) * LANES;
    return sum(values, start, start + half) + sum(values, start + half, end);
  }
  const lanes = values.slice(start, start + LANES);
  const whole = Math.floor(size / LANES) * LANES;
  for (let index = LANES; index < whole; index++) lanes[index % LANES] += values[start + index];
  const [a, b, c, d, e, f, g, h] = lanes;
  return values.subarray(start + whole, end).reduce((total, value) => total + value, a + b + (c + d) + (e + f + (g + h)));
}
