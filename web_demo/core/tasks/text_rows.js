import { Row } from "../model/row.js";
import { Example } from "./example.js";

/**
 * Cuts a text or a pair to the model's length, and runs it.
 *
 * @param {import("../model/text_model.js").TextModel} model
 * @param {string} text
 * @param {string | null} pair
 * @returns {Promise<{outputs: import("../model/row.js").Outputs, isCut: boolean}>}
 */
export async function runText(model, text, pair) {
  const encoded = model.tokenizer.encode(text, pair, model.length);
  return { outputs: await model.run(new Row(encoded.ids, encoded.typeIds)), isCut: encoded.truncated };
}

/**
 * The text, and the second text of a pair or null.
 *
 * @param {import("./task.js").Task} task
 * @param {object} example
 * @returns {[string, string | null]}
 */
export function textsOf(task, example) {
  if (example instanceof Example.Single) return [example.text, null];
  if (example instanceof Example.Pair) return [example.text, example.pair];
  throw task.unexpected("a text or a pair of texts", example);
}

/** The example of a text, or of a pair. */
export function exampleOf(text, pair) {
  return pair === null ? new Example.Single(text) : new Example.Pair(text, pair);
}

/**
 * The row `[CLS] tokens [SEP]` of a part of a text.
 *
 * @param {import("../text/tokenizer.js").Tokenizer} tokenizer
 * @param {Int32Array} ids the tokens of the text
 * @param {number} start the first token of the part
 * @param {number} end the token after its last one
 */
export function rowOf(tokenizer, ids, start, end) {
  const row = new Int32Array(end - start + 2).fill(tokenizer.sepId);
  row[0] = tokenizer.clsId;
  row.set(ids.subarray(start, end), 1);
  return new Row(row, new Int32Array(row.length));
}

/**
 * The number of the largest value, the first of equals. A NaN counts as the largest one, as in NumPy.
 *
 * @param {Float32Array} values
 */
export function argMax(values) {
  let best = 0;
  for (let index = 0; index < values.length; index++) {
    if (Number.isNaN(values[best])) return best;
    if (values[index] > values[best] || Number.isNaN(values[index])) best = index;
  }
  return best;
}

/**
 * Probabilities of logits, in float32.
 *
 * @param {Float32Array} logits
 * @returns {Float32Array}
 */
export function softmax(logits) {
  const largest = logits.reduce((most, logit) => Math.max(most, logit), -Infinity);
  const exponentials = logits.map((logit) => Math.exp(Math.fround(logit - largest)));
  const total = Math.fround(exponentials.reduce((sum, value) => sum + value, 0));
  return exponentials.map((value) => value / total);
}
