import { Decimal } from "../file/decimals.js";
import { TaskType } from "../file/task_type.js";
import { Example } from "./example.js";
import { Prediction } from "./prediction.js";
import { Task } from "./task.js";
import { Prompts } from "./prompts.js";
import { runText, textsOf } from "./text_rows.js";

/** The vector of a text. */
export class VectorPrediction extends Prediction {
  /**
   * @param {object} example
   * @param {boolean} isCut
   * @param {Float32Array} vector the vector, as the model returns it
   */
  constructor(example, isCut, vector) {
    super(example, isCut);
    this.vector = vector;
  }

  fields() {
    return { vector: this.vector };
  }
}

/** The similarity of a pair of texts. */
export class SimilarityPrediction extends Prediction {
  /**
   * @param {object} example
   * @param {boolean} isCut
   * @param {Float32Array[]} vectors the vectors of both texts
   */
  constructor(example, isCut, vectors) {
    super(example, isCut);
    this.vectors = vectors;
    /** From -1 to 1. */
    this.cosine = cosine(vectors[0], vectors[1]);
  }

  fields() {
    return { cosine: new Decimal(this.cosine), vectors: this.vectors };
  }
}

/** A vector a text. Each text of a pair has its own. Before each text stands the prompt of the model, if it has one. */
export class SentenceEncoding extends Task {
  #prompts;

  /** @param {import("../model/text_model.js").TextModel} model */
  constructor(model) {
    super(model, TaskType.EMBEDDING);
    this.#prompts = new Prompts(model.file.metadata);
  }

  /** The name of the vectors of `encodeDocument`. Those of another name cannot be searched with this model. */
  get vectorsName() {
    return this.#prompts.vectorsName;
  }

  async predict(example) {
    const [text, pair] = textsOf(this, example);
    return pair === null ? this.encode(text) : this.compare(text, pair);
  }

  /**
   * Encodes a text.
   *
   * @param {string} text
   * @returns {Promise<VectorPrediction>}
   */
  async encode(text) {
    return this.#encode(text, this.#prompts.default);
  }

  /**
   * Encodes the query of a search.
   *
   * @param {string} text
   * @returns {Promise<VectorPrediction>}
   */
  async encodeQuery(text) {
    return this.#encode(text, this.#prompts.query);
  }

  /**
   * Encodes a text that is searched.
   *
   * @param {string} text
   * @returns {Promise<VectorPrediction>}
   */
  async encodeDocument(text) {
    return this.#encode(text, this.#prompts.document);
  }

  async #encode(text, prompt) {
    const { outputs, isCut } = await runText(this.model, prompt + text, null);
    return new VectorPrediction(new Example.Single(text), isCut, outputs.get("embedding"));
  }

  /**
   * Compares two texts.
   *
   * @param {string} text
   * @param {string} pair
   * @returns {Promise<SimilarityPrediction>}
   */
  async compare(text, pair) {
    const first = await this.encode(text);
    const second = await this.encode(pair);
    return new SimilarityPrediction(new Example.Pair(text, pair), first.isCut || second.isCut, [first.vector, second.vector]);
  }
}

/**
 * The cosine of two vectors; 1 for two zero vectors, and 0 for one zero vector.
 *
 * @param {Float32Array} first
 * @param {Float32Array} second
 */
export function cosine(first, second) {
  const [one, other] = [unit(first), unit(second)];
  if (one.every((value) => value === 0) && other.every((value) => value === 0)) return 1;
  let sum = 0;
  for (let index = 0; index < one.length; index++) sum += one[index] * other[index];
  return Math.max(-1, Math.min(1, sum)); // NaN for NaN
}

/** A vector of norm 1. It is first divided by its largest number, as squares may be too large or too small for a number. */
function unit(vector) {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (largest === 0) return new Float64Array(vector.length);
  const scaled = Float64Array.from(vector, (value) => value / largest);
  const norm = Math.sqrt(scaled.reduce((sum, value) => sum + value * value, 0));
  return scaled.map((value) => value / norm);
}
