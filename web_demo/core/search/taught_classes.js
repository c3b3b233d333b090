import { KerasBertError } from "../error.js";
import { TaughtLayer } from "./taught_layer.js";

/**
 * A class with its probability.
 *
 * @typedef {object} TaughtClass
 * @property {string} name the name of the class
 * @property {number} probability from 0 to 1
 */

/**
 * Classes that are taught by a few examples each, without training of the encoder: the nearest centre or logistic regression, see
 * `TaughtLayer`.
 */
export class TaughtClasses {
  #classes = new Map();
  #layer = null; // until a class or an example changes

  /** @param {number} dimensions the numbers in a vector */
  constructor(dimensions) {
    this.dimensions = dimensions;
  }

  /**
   * The examples of each class, in the order in which classes were added.
   *
   * @returns {Map<string, string[]>}
   */
  get examples() {
    return new Map([...this.#classes].map(([name, taught]) => [name, taught.map(({ text }) => text)]));
  }

  /**
   * The names of the classes with examples, in the order of the layer.
   *
   * @returns {string[]}
   */
  get names() {
    return [...this.#classes].filter(([, taught]) => taught.length > 0).map(([name]) => name);
  }

  /** Whether there is something to choose: two classes with an example each. */
  get canClassify() {
    return [...this.#classes.values()].filter((taught) => taught.length > 0).length >= 2;
  }

  /** Adds a class without examples, unless there is one of that name. */
  addClass(name) {
    if (name.trim() === "") throw new KerasBertError("expected a name of a class, received none; name it");
    if (!this.#classes.has(name)) this.#classes.set(name, []);
  }

  /** Removes a class with its examples. */
  removeClass(name) {
    this.#classes.delete(name);
    this.#layer = null;
  }

  /**
   * Adds an example to a class.
   *
   * @param {string} name
   * @param {string} text
   * @param {Float32Array} vector the vector of the text, of any norm
   */
  add(name, text, vector) {
    const unit = this.#unit(vector);
    this.addClass(name);
    this.#classes.get(name).push({ text, vector: unit });
    this.#layer = null;
  }

  /** Removes an example of a class. */
  removeAt(name, example) {
    const taught = this.#classes.get(name);
    if (!taught) throw new KerasBertError(`expected one of the classes [${[...this.#classes.keys()].join(", ")}], received '${name}'`);
    if (!(example >= 0 && example < taught.length)) {
      throw new KerasBertError(`expected an example from 0 to ${taught.length - 1}, received ${example}`);
    }
    taught.splice(example, 1);
    this.#layer = null;
  }

  /**
   * Classifies a text.
   *
   * @param {Float32Array} vector the vector of the text, of any norm
   * @returns {TaughtClass[]} the classes with examples, the likeliest first; of equal ones the one that was added first
   * @throws {KerasBertError} when there are not two classes with examples
   */
  classify(vector) {
    const unit = this.#unit(vector);
    const probabilities = this.layer.probabilities(unit);
    const found = this.names.map((name, place) => ({ name, probability: probabilities[place] }));
    return found.sort((one, other) => other.probability - one.probability);
  }

  /**
   * The layer of the examples. It is fitted when it is first asked for after a change.
   *
   * @returns {TaughtLayer}
   * @throws {KerasBertError} when there are not two classes with examples
   */
  get layer() {
    if (!this.canClassify) throw new KerasBertError("expected examples of at least two classes, received fewer; add some");
    if (this.#layer === null) {
      const taught = [...this.#classes.values()].filter((each) => each.length > 0);
      const classes = taught.flatMap((each, number) => each.map(() => number));
      this.#layer = TaughtLayer.fit(taught.flat().map(({ vector }) => vector), classes, taught.length);
    }
    return this.#layer;
  }

  #unit(vector) {
    if (vector.length !== this.dimensions) {
      throw new KerasBertError(
        `expected a vector of ${this.dimensions} dimensions, received ${vector.length}; encode texts with the same model`,
      );
    }
    const values = Float64Array.from(vector);
    const length = norm(values);
    if (!Number.isFinite(length)) {
      throw new KerasBertError("expected a vector of finite numbers, received others; the model is damaged, convert it again");
    }
    return Float32Array.from(values, (value) => (length === 0 ? value : value / length));
  }
}

function norm(values) {
  return Math.sqrt(values.reduce((squares, value) => squares + value * value, 0));
}
