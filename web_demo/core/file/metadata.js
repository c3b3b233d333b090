import { KerasBertError } from "../error.js";
import { TaskType } from "./task_type.js";

/** What a `.tflite` file of kerasbert says about itself; the fields of `kerasbert.json`, with the vocabulary and the labels. */
export class Metadata {
  /** The inputs of a file that takes token ids. */
  static IDS = "ids";

  /** The inputs of a file that takes texts. */
  static TEXT = "text";

  /**
   * @param {object} fields
   * @param {string} fields.task the class name of the task that was converted
   * @param {import("./task_type.js").TaskTypeEntry} fields.type the type of the task
   * @param {Record<string, any>} [fields.settings] the task's own settings, such as `stride`; those that are missing have their defaults
   * @param {string} [fields.signature] the signature's name; the longest one's where there are several
   * @param {number | null} [fields.sequenceLength] tokens of the inputs, of the longest signature where there are several; null for a
   *   resizable length
   * @param {number | null} [fields.rowLength] the task's longest row, to which texts are cut if the file is resizable; null in files of the
   *   first versions
   * @param {number[] | null} [fields.lengths] the lengths of a file with a signature `serve_N` for each; null for a file with one signature
   * @param {number[] | null} [fields.exits] the layers before each exit of a file with early exits, which has a signature for each;
   *   null for others
   * @param {number | null} [fields.exitThreshold] the confidence from which on a text ends at an exit; null: at the last one
   * @param {string} [fields.inputs] `ids`, or `text` for a file with the tokenizer in its graph
   * @param {string} [fields.recipe] the recipe of the conversion
   * @param {boolean} [fields.integerOnly] whether no operator computes in float
   * @param {string} [fields.target] the deployment target
   * @param {number} [fields.parameters] trained parameters of the model
   * @param {string} [fields.weights] the fingerprint of the task that was converted, "" if unknown
   * @param {number | null} [fields.vocabularySize] rows of the token embedding table, which may be more than the vocabulary has tokens
   * @param {Record<string, any>} [fields.tokenizer] the tokenizer's settings without the vocabulary
   * @param {string} [fields.version] the version of kerasbert that wrote the file
   * @param {string[] | null} [fields.vocabulary] the tokens in the order of their ids
   * @param {string[] | null} [fields.labels] the names of the classes in the order of the outputs
   */
  constructor({
    task, type, settings = {}, signature = "serve", sequenceLength = null, rowLength = null, lengths = null, inputs = Metadata.IDS,
    recipe = "", integerOnly = false, target = "cpu", parameters = 0, weights = "", vocabularySize = null, tokenizer = {}, version = "",
    vocabulary = null, labels = null, exits = null, exitThreshold = null,
  }) {
    this.task = task;
    this.type = type;
    this.settings = settings;
    this.signature = signature;
    this.sequenceLength = sequenceLength;
    this.rowLength = rowLength;
    this.lengths = lengths;
    this.exits = exits;
    this.exitThreshold = exitThreshold;
    this.inputs = inputs;
    this.recipe = recipe;
    this.integerOnly = integerOnly;
    this.target = target;
    this.parameters = parameters;
    this.weights = weights;
    this.vocabularySize = vocabularySize;
    this.tokenizer = tokenizer;
    this.version = version;
    this.vocabulary = vocabulary;
    this.labels = labels;
  }

  /** The numbers that the first output has for a row or a token: as many as there are labels, or null for any. */
  get outputWidth() {
    return this.type === TaskType.FEW_SHOT ? this.settings.width ?? 1 : this.labels?.length ?? null;
  }
}

/** The refusal of a file's metadata. */
export function metadataError(name, received) {
  return new KerasBertError(`expected kerasbert metadata in ${name}, received ${received}; convert the model again`);
}
