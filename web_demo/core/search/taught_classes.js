import { KerasBertError } from "../error.js";

/** The factor of cosines in the softmax, with which sentence encoders are commonly trained: 0.05 more is e times the probability. */
export const COSINE_SCALE = 20;

const SMALLEST_NORM = 1e-6; // of a mean of vectors of norm 1; what is below is rounding

/**
 * A class with its probability.
 *
 * @typedef {object} TaughtClass
 * @property {string} name the name of the class
 * @property {number} cosine the cosine of the text with the centre of the class
 * @property {number} probability the share of `exp(20 cosine)` among all classes
 */

/**
 * Classes that are taught by a few examples each, without training: a text belongs to the class whose centre is nearest.
 *
 * The centre of a class is the mean of its examples' vectors, each of norm 1 (a nearest-centroid classifier; for learned vectors: Snell et
 * al. 2017, "Prototypical Networks for Few-shot Learning").
 */
export class TaughtClasses {
  #classes = new Map();

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
  }

  /** Removes an example of a class. */
  removeAt(name, example) {
    const taught = this.#classes.get(name);
    if (!taught) throw new KerasBertError(`expected one of the classes [${[...this.#classes.keys()].join(", ")}], received '${name}'`);
    if (!(example >= 0 && example < taught.length)) {
      throw new KerasBertError(`expected an example from 0 to ${taught.length - 1}, received ${example}`);
    }
    taught.splice(example, 1);
  }

  /**
   * Classifies a text.
   *
   * @param {Float32Array} vector the vector of the text, of any norm
   * @returns {TaughtClass[]} the classes with examples, the nearest first; of equal ones the one that was added first
   * @throws {KerasBertError} when there are not two classes with examples
   */
  classify(vector) {
    if (!this.canClassify) throw new KerasBertError("expected examples of at least two classes, received fewer; add some");
    const unit = this.#unit(vector);
    const classes = [...this.#classes].filter(([, taught]) => taught.length > 0);
    const cosines = classes.map(([, taught]) => this.#cosineWithCentre(unit, taught));
    const largest = Math.max(...cosines);
    const weights = cosines.map((cosine) => Math.exp(COSINE_SCALE * (cosine - largest)));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const found = classes.map(([name], place) => ({ name, cosine: cosines[place], probability: weights[place] / total }));
    return found.sort((one, other) => other.cosine - one.cosine);
  }

  #cosineWithCentre(unit, taught) {
    const centre = unit.map((_, place) => taught.reduce((sum, { vector }) => sum + vector[place], 0));
    const length = norm(centre);
    if (length <= SMALLEST_NORM * taught.length) return 0; // examples that cancel each other have no direction
    return unit.reduce((product, value, place) => product + value * centre[place], 0) / length;
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
    return length === 0 ? values : values.map((value) => value / length);
  }
}

function norm(values) {
  return Math.sqrt(values.reduce((squares, value) => squares + value * value, 0));
}
