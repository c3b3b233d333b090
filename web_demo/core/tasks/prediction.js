import { Decimal } from "../file/decimals.js";

/** A prediction for one example. Positions in a text are UTF-16 units, as JavaScript counts. */
export class Prediction {
  /**
   * @param {object} example the example, one of `Example`
   * @param {boolean} isCut whether the model read a part of the example only, because it was too long
   */
  constructor(example, isCut) {
    this.example = example;
    this.isCut = isCut;
    /** The layers that ran, the most of all rows of the example; null for a file without exits. */
    this.layers = null;
  }

  /** The prediction, with the layers that ran. */
  after(layers) {
    this.layers = layers;
    return this;
  }

  /**
   * The prediction's own fields in a record; positions are code points. Each kind of prediction has its own.
   *
   * @abstract
   * @returns {Record<string, any>}
   */
  fields() {
    throw new TypeError(`expected fields of ${this.constructor.name}, received none`);
  }

  /**
   * The fields of the example and of the prediction as in `kerasbert predict --json`, for `Json.write`. Positions are code points, as
   * Python counts.
   *
   * @returns {Record<string, any>}
   */
  record() {
    return { ...this.example.fields(), ...this.fields(), ...(this.layers !== null && { layers: this.layers }) };
  }

  /** Whether no number is NaN or infinite: such numbers come from a damaged model, or one whose training diverged. */
  get isFinite() {
    return isFinite(this.fields());
  }
}

function isFinite(value) {
  if (typeof value === "number") return Number.isFinite(value);
  if (value instanceof Decimal) return Number.isFinite(value.value);
  if (value === null || typeof value !== "object") return true;
  return (value instanceof Map ? [...value.values()] : Object.values(value)).every(isFinite);
}
