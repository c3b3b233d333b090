import { KerasBertError } from "../error.js";
import { TaskType } from "../file/task_type.js";
import { classesOf, ClassPrediction, Fallback } from "./classification.js";
import { Example } from "./example.js";
import { Task } from "./task.js";
import { argMax, runText } from "./text_rows.js";

const SMALLEST_NORM = 1e-12;

/**
 * One class a text, by a linear layer on the vector of a sentence encoder: what `kerasbert teach` writes.
 *
 * The layer stands in the metadata, as base64 of little-endian float32 `(classes, width + 1)`, the bias last.
 */
export class FewShotClassification extends Task {
  #fallback;
  #layer;

  /** @param {import("../model/text_model.js").TextModel} model */
  constructor(model) {
    super(model, TaskType.FEW_SHOT);
    const { labels, settings } = model.file.metadata;
    const { width = 1, layer = "" } = settings;
    if (labels === null || labels.length < 2) throw this.#damaged("two labels or more", `${labels?.length ?? 0}`);
    this.#fallback = new Fallback(model.file);
    this.#layer = this.#decoded(layer, labels.length, width);
  }

  async predict(example) {
    if (example instanceof Example.Single) return this.classify(example.text);
    throw this.unexpected("a text", example);
  }

  /**
   * Classifies a text.
   *
   * @param {string} text
   * @returns {Promise<ClassPrediction>}
   */
  async classify(text) {
    const { prompt = "" } = this.model.file.metadata.settings;
    const { outputs, isCut } = await runText(this.model, prompt + text, null);
    const probabilities = this.#probabilities(outputs.get("embedding"));
    const classes = classesOf(this, probabilities);
    const best = this.#fallback.labelOf(classes[argMax(probabilities)]);
    return new ClassPrediction(new Example.Single(text), isCut, best, classes);
  }

  /** The softmax of the layer's logits, computed in float64 as Python does. */
  #probabilities(vector) {
    const width = vector.length;
    const norm = Math.max(Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)), SMALLEST_NORM);
    const logits = Float64Array.from({ length: this.#layer.length / (width + 1) }, (_, number) => {
      const start = number * (width + 1);
      const product = vector.reduce((sum, value, place) => sum + (value / norm) * this.#layer[start + place], 0);
      return product + this.#layer[start + width];
    });
    const largest = logits.reduce((most, logit) => Math.max(most, logit), -Infinity);
    const shares = logits.map((logit) => Math.exp(logit - largest));
    const total = shares.reduce((sum, share) => sum + share, 0);
    return Float32Array.from(shares, (share) => share / total);
  }

  #decoded(text, classes, width) {
    const expected = `the layer of ${classes} classes and vectors of ${width} numbers in base64`;
    let bytes;
    try {
      bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    } catch {
      throw this.#damaged(expected, "another text");
    }
    if (bytes.length !== 4 * classes * (width + 1)) throw this.#damaged(expected, `${bytes.length} bytes`);
    const view = new DataView(bytes.buffer);
    const layer = Float32Array.from({ length: bytes.length / 4 }, (_, number) => view.getFloat32(4 * number, true));
    if (!layer.every(Number.isFinite)) throw this.#damaged("a layer of finite numbers", "others");
    return layer;
  }

  #damaged(expected, received) {
    return new KerasBertError(`expected ${expected} in ${this.model.file.name}, received ${received}; teach the model again`);
  }
}
