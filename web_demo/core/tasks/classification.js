import { KerasBertError } from "../error.js";
import { Decimal } from "../file/decimals.js";
import { TaskType } from "../file/task_type.js";
import { Prediction } from "./prediction.js";
import { Task } from "./task.js";
import { argMax, exampleOf, runText, textsOf } from "./text_rows.js";

/**
 * A class with its probability.
 *
 * @typedef {object} ClassProbability
 * @property {string} name the label
 * @property {number} probability from 0 to 1
 */

/**
 * The classes of a model with the probabilities of its outputs.
 *
 * @param {Task} task
 * @param {Float32Array} probabilities
 * @returns {ClassProbability[]}
 */
export function classesOf(task, probabilities) {
  return task.classNames(probabilities.length).map((name, number) => ({ name, probability: probabilities[number] }));
}

/** The probabilities in a record: a map, since a label may be any text. */
export function probabilityFields(classes) {
  return new Map(classes.map(({ name, probability }) => [name, new Decimal(probability)]));
}

/** The class of a text or a pair. */
export class ClassPrediction extends Prediction {
  /**
   * @param {object} example
   * @param {boolean} isCut
   * @param {ClassProbability} best the likeliest class
   * @param {ClassProbability[]} classes all classes in the order of the outputs
   */
  constructor(example, isCut, best, classes) {
    super(example, isCut);
    /** The likeliest class. */
    this.label = best.name;
    /** Its probability. */
    this.score = best.probability;
    this.classes = classes;
  }

  fields() {
    return { label: this.label, score: new Decimal(this.score), probabilities: probabilityFields(this.classes) };
  }
}

/** The label of texts that belong to none of the classes. */
export class Fallback {
  #label;
  #below;

  /**
   * The fallback of a file.
   *
   * @param {import("../file/model_file.js").ModelFile} file
   * @throws {KerasBertError} when it is a label too, or the probability is out of range
   */
  constructor({ name, metadata: { labels, settings } }) {
    this.#label = settings.fallback ?? "";
    this.#below = settings.fallback_below ?? 0;
    const shown = `'${this.#label.slice(0, 60)}'`;
    if (this.#label !== "" && labels?.includes(this.#label)) throw damaged(name, "a fallback of another name than the labels", shown);
    if (!(this.#below >= 0 && this.#below <= 1) || (this.#below > 0 && this.#label === "")) {
      throw damaged(name, "fallback_below from 0 to 1, with a fallback", `${this.#below} and ${shown}`);
    }
  }

  /**
   * The label of a text, with the probability of its best class.
   *
   * @param {ClassProbability} best
   * @returns {ClassProbability}
   */
  labelOf(best) {
    return best.probability < this.#below ? { name: this.#label, probability: best.probability } : best;
  }
}

function damaged(name, expected, received) {
  return new KerasBertError(`expected ${expected} in ${name}, received ${received}; make the file again`);
}

/** One class a text, or a pair of texts. */
export class Classification extends Task {
  #fallback;

  /** @param {import("../model/text_model.js").TextModel} model */
  constructor(model) {
    super(model, TaskType.SINGLE_LABEL);
    this.#fallback = new Fallback(model.file);
  }

  async predict(example) {
    return this.classify(...textsOf(this, example));
  }

  /**
   * Classifies a text or a pair.
   *
   * @param {string} text
   * @param {string | null} [pair]
   * @returns {Promise<ClassPrediction>}
   */
  async classify(text, pair = null) {
    const { outputs, isCut } = await runText(this.model, text, pair);
    const probabilities = outputs.get("probabilities");
    const classes = classesOf(this, probabilities);
    const best = this.#fallback.labelOf(classes[argMax(probabilities)]);
    return new ClassPrediction(exampleOf(text, pair), isCut, best, classes).after(outputs.layers);
  }
}
