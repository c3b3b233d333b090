import { KerasBertError } from "../error.js";
import { TaskType } from "../file/task_type.js";
import { Example } from "./example.js";
import { Prediction } from "./prediction.js";
import { Task } from "./task.js";
import { argMax, runText, softmax } from "./text_rows.js";

/** The choice of a prompt. */
export class ChoicePrediction extends Prediction {
  /**
   * @param {object} example
   * @param {boolean} isCut
   * @param {Float32Array} probabilities of all choices
   */
  constructor(example, isCut, probabilities) {
    super(example, isCut);
    this.probabilities = probabilities;
    /** The number of the likeliest choice, from 0 on. */
    this.choice = argMax(probabilities);
    /** Its text. */
    this.text = example.choices[this.choice];
  }

  fields() {
    return { choice: this.choice, text: this.text, probabilities: Float64Array.from(this.probabilities) };
  }
}

/** One choice among those of a prompt. Each is a row `[CLS] prompt [SEP] choice [SEP]` (Devlin et al. 2018, section 4.4). */
export class MultipleChoice extends Task {
  /** @param {import("../model/text_model.js").TextModel} model */
  constructor(model) {
    super(model, TaskType.MULTIPLE_CHOICE);
  }

  async predict(example) {
    if (!(example instanceof Example.Prompt)) throw this.unexpected("a prompt with choices", example);
    return this.choose(example.prompt, example.choices);
  }

  /**
   * Chooses among at least one choice.
   *
   * @param {string} prompt
   * @param {string[]} choices
   * @returns {Promise<ChoicePrediction>}
   */
  async choose(prompt, choices) {
    if (choices.length === 0) {
      throw new KerasBertError(`expected a prompt with choices, received none for '${prompt.slice(0, 40)}'; add them`);
    }
    const logits = new Float32Array(choices.length);
    let isCut = false;
    for (const [number, choice] of choices.entries()) {
      const run = await runText(this.model, prompt, choice);
      logits[number] = run.outputs.get("logits")[0];
      isCut ||= run.isCut;
    }
    return new ChoicePrediction(new Example.Prompt(prompt, choices), isCut, softmax(logits));
  }
}
