import { KerasBertError } from "../error.js";
import { Decimal } from "../file/decimals.js";
import { TaskType } from "../file/task_type.js";
import { CodePoints } from "../text/code_points.js";
import { TopScores } from "../top_scores.js";
import { Example } from "./example.js";
import { Prediction } from "./prediction.js";
import { isBlank, isSpace } from "./spaces.js";
import { Task } from "./task.js";
import { rowOf, softmax } from "./text_rows.js";

const TOP = 5; // words by default
const SPECIAL_TOKENS = 2; // [CLS] tokens [SEP]

/**
 * A word for a mask.
 *
 * @typedef {object} WordProbability
 * @property {string} word the token; `##` at its start shows that it is no word of its own
 * @property {number} probability from 0 to 1
 */

/**
 * A mask of a text.
 *
 * @typedef {object} MaskPrediction
 * @property {number} start its first UTF-16 unit in the text
 * @property {number} end the unit after its last one
 * @property {WordProbability[]} words the likeliest words, best first
 */

/** The words of the masks of a text. */
export class MaskedPrediction extends Prediction {
  /**
   * @param {string} text
   * @param {boolean} isCut
   * @param {MaskPrediction[]} masks the masks in their order
   */
  constructor(text, isCut, masks) {
    super(new Example.Single(text), isCut);
    this.masks = masks;
  }

  fields() {
    const places = new CodePoints(this.example.text);
    const masks = this.masks.map(({ start, end, words }) => ({
      start: places.ofUnit(start),
      end: places.ofUnit(end),
      words: words.map(({ word, probability }) => ({ word, probability: new Decimal(probability) })),
    }));
    return { masks };
  }
}

/** The words of masks in a text, such as `the film was [MASK]`. A text that is too long is read around its masks. */
export class MaskedWords extends Task {
  #top;

  /** @param {import("../model/text_model.js").TextModel} model */
  constructor(model) {
    super(model, TaskType.MASKED_LM);
    this.#top = model.file.metadata.settings.top ?? TOP;
  }

  async predict(example) {
    if (!(example instanceof Example.Single)) throw this.unexpected("a single text", example);
    return this.fill(example.text);
  }

  /**
   * Predicts the words of each mask of a text, at least one.
   *
   * @param {string} text
   * @returns {Promise<MaskedPrediction>}
   */
  async fill(text) {
    if (isBlank(text)) throw new KerasBertError("expected a text, received an empty one; leave it out");
    const tokens = this.model.tokenizer.tokens(text);
    const masks = this.#masksOf(text, tokens);
    const room = this.model.length - SPECIAL_TOKENS;
    const isCut = tokens.size > room;
    const parts = isCut ? partsAround(masks, tokens.size, room) : [{ start: 0, end: tokens.size, masks }];
    const predictions = [];
    for (const part of parts) predictions.push(...(await this.#predict(text, tokens, part)));
    return new MaskedPrediction(text, isCut, predictions);
  }

  #masksOf(text, tokens) {
    const { maskId, vocabulary } = this.model.tokenizer;
    const masks = [...tokens.ids.keys()].filter((place) => tokens.ids[place] === maskId);
    if (masks.length > 0) return masks;
    throw new KerasBertError(
      `expected a text with ${vocabulary[maskId]}, received none in '${text.slice(0, 40)}'; write it in place of a word`,
    );
  }

  async #predict(text, tokens, part) {
    const outputs = await this.model.run(rowOf(this.model.tokenizer, tokens.ids, part.start, part.end));
    return part.masks.map((mask) => ({
      start: withoutSpace(text, tokens.starts[mask], tokens.ends[mask]),
      end: tokens.ends[mask],
      words: this.#likeliest(softmax(outputs.at("logits", mask - part.start + 1))),
    }));
  }

  #likeliest(probabilities) {
    const best = new TopScores(this.#top);
    probabilities.forEach((probability, id) => {
      if (!Number.isNaN(probability)) best.offer(id, probability);
    });
    const { vocabulary } = this.model.tokenizer;
    return best.best().map((id) => ({ word: vocabulary[id] ?? `[${id}]`, probability: probabilities[id] }));
  }
}

/** The first unit of a mask without the space before it, which some masks include. */
function withoutSpace(text, start, end) {
  let first = start;
  while (first < end && isSpace(text[first])) first++;
  return first;
}

/** Returns parts of a text around its masks. The masks of a part are no further apart than half of it, and in its middle. */
function partsAround(masks, tokens, room) {
  const parts = [];
  let first = 0;
  while (first < masks.length) {
    const limit = masks[first] + Math.max(Math.floor(room / 2), 1);
    const beyond = masks.findIndex((mask, number) => number >= first && mask >= limit);
    const last = beyond < 0 ? masks.length : beyond;
    const middle = Math.floor((masks[first] + masks[last - 1] + 1 - room) / 2);
    const start = Math.min(Math.max(middle, 0), tokens - room);
    parts.push({ start, end: start + room, masks: masks.slice(first, last) });
    first = last;
  }
  return parts;
}
