import { KerasBertError } from "../error.js";

/** A model that predicts for examples. */
export class Task {
  /**
   * @param {import("../model/text_model.js").TextModel} model
   * @param {import("../file/task_type.js").TaskTypeEntry} type the type that the model must have
   */
  constructor(model, type) {
    const { name, metadata } = model.file;
    if (metadata.type !== type) {
      throw new KerasBertError(
        `expected a model of the task type ${type.key}, received ${name} of ${metadata.type.key}; open another`,
      );
    }
    this.model = model;
  }

  /** The names of the classes or tags; null for a task without them. */
  get labels() {
    return this.model.file.metadata.labels;
  }

  /**
   * Predicts for one example.
   *
   * @abstract
   * @param {object} example one of `Example`
   * @returns {Promise<import("./prediction.js").Prediction>}
   * @throws {KerasBertError} when the task does not take such examples, or the runtime fails
   */
  async predict(example) {
    throw this.unexpected("an example of a task", example);
  }

  /** Frees the model. */
  async close() {
    await this.model.close();
  }

  /** The names of some outputs: the labels, or else their numbers. */
  classNames(width) {
    return this.labels ?? Array.from({ length: width }, (_, number) => String(number));
  }

  /** The refusal of an example. */
  unexpected(expected, example) {
    return new KerasBertError(`expected ${expected}, received ${example.kind}; pass another example, or use another model`);
  }
}
