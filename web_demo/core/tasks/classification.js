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

/** One class a text, or a pair of texts. */
export class Classification extends Task {
  /** @param {import("../model/text_model.js").TextModel} model */
  constructor(model) {
    super(model, TaskType.SINGLE_LABEL);
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
    return new ClassPrediction(exampleOf(text, pair), isCut, classes[argMax(probabilities)], classes).after(outputs.layers);
  }
}
