import { Decimal } from "../file/decimals.js";
import { TaskType } from "../file/task_type.js";
import { Prediction } from "./prediction.js";
import { Task } from "./task.js";
import { exampleOf, runText, textsOf } from "./text_rows.js";

/** A number for a text or a pair. */
export class ScorePrediction extends Prediction {
  /**
   * @param {object} example
   * @param {boolean} isCut
   * @param {number} score the number, on the scale of the labels of training
   */
  constructor(example, isCut, score) {
    super(example, isCut);
    this.score = score;
  }

  fields() {
    return { score: new Decimal(this.score) };
  }
}

/** A number a text, or a pair of texts. */
export class Regression extends Task {
  /** @param {import("../model/text_model.js").TextModel} model */
  constructor(model) {
    super(model, TaskType.REGRESSION);
  }

  async predict(example) {
    return this.score(...textsOf(this, example));
  }

  /**
   * Scores a text or a pair.
   *
   * @param {string} text
   * @param {string | null} [pair]
   * @returns {Promise<ScorePrediction>}
   */
  async score(text, pair = null) {
    const { outputs, isCut } = await runText(this.model, text, pair);
    return new ScorePrediction(exampleOf(text, pair), isCut, outputs.get("score")[0]);
  }
}
