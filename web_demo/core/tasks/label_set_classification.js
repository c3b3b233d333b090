import { TaskType } from "../file/task_type.js";
import { classesOf, probabilityFields } from "./classification.js";
import { Prediction } from "./prediction.js";
import { Task } from "./task.js";
import { exampleOf, runText, textsOf } from "./text_rows.js";

const YES = 0.5;

/** The classes of a text or a pair, any number of them. */
export class LabelSetPrediction extends Prediction {
  /**
   * @param {object} example
   * @param {boolean} isCut
   * @param {import("./classification.js").ClassProbability[]} classes all classes in the order of the outputs
   */
  constructor(example, isCut, classes) {
    super(example, isCut);
    /** The classes of a probability of at least 0.5. */
    this.labels = classes.filter(({ probability }) => probability >= YES).map(({ name }) => name);
    this.classes = classes;
  }

  fields() {
    return { labels: this.labels, probabilities: probabilityFields(this.classes) };
  }
}

/** Any number of classes a text, or a pair of texts. */
export class LabelSetClassification extends Task {
  /** @param {import("../model/text_model.js").TextModel} model */
  constructor(model) {
    super(model, TaskType.MULTI_LABEL);
  }

  async predict(example) {
    return this.classify(...textsOf(this, example));
  }

  /**
   * Classifies a text or a pair.
   *
   * @param {string} text
   * @param {string | null} [pair]
   * @returns {Promise<LabelSetPrediction>}
   */
  async classify(text, pair = null) {
    const { outputs, isCut } = await runText(this.model, text, pair);
    const classes = classesOf(this, outputs.get("probabilities"));
    return new LabelSetPrediction(exampleOf(text, pair), isCut, classes).after(outputs.layers);
  }
}
