import { DamagedError } from "./flat_buffer.js";
import { typeName } from "./model_graph.js";
import { OperatorRules } from "./operator_rules.js";

/**
 * Scales and zero points of a tensor.
 *
 * @typedef {object} Quantization
 * @property {number} scales
 * @property {number} axis
 * @property {number} zeroPoints
 * @property {[number, number]} zeros the smallest and the largest zero point
 * @property {boolean} isSound whether every scale is a number, and none is negative
 */

/**
 * A tensor of a graph.
 *
 * @typedef {object} GraphTensor
 * @property {string} type
 * @property {number[]} shape with -1 for an open axis
 * @property {number[]} storedShape
 * @property {number} bytes those that the file stores for it
 * @property {Quantization | null} quantization
 * @property {boolean} isVariable
 * @property {boolean} isSparse
 */

/**
 * A graph. Inputs that an operator leaves out are -1.
 *
 * @typedef {object} Graph
 * @property {GraphTensor[]} tensors
 * @property {{code: number, inputs: number[], outputs: number[]}[]} operators
 * @property {number[]} inputs
 * @property {number[]} outputs
 */

/** Reads all graphs of a file that `ModelVerifier` verified: every index is checked against the number of what it counts. */
export class ModelStructure {
  #buffer;
  #model;
  #bufferSizes;
  #codes;

  /** @param {import("./flat_buffer.js").FlatBuffer} buffer the file */
  constructor(buffer) {
    this.#buffer = buffer;
    this.#model = buffer.root;
    this.#bufferSizes = this.#model.tables(12).map((table) => this.#size(table));
    this.#codes = this.#model.tables(6).map((table) => Math.max(table.int32(10), table.byte(4)));
  }

  /**
   * The graphs in the order of the file.
   *
   * @returns {Graph[]}
   */
  graphs() {
    return this.#model.tables(8).map((table) => this.#graph(table));
  }

  #size(table) {
    const offset = table.int64(6);
    const size = table.int64(8);
    if (offset <= 1) return table.vector(4, 1)?.count ?? 0;
    if (!this.#fits(offset, size)) throw new DamagedError(`a buffer of ${size} bytes at ${offset}, past the end`);
    return size;
  }

  #fits(offset, size) {
    return size >= 0 && offset <= this.#buffer.size && size <= this.#buffer.size - offset;
  }

  #graph(table) {
    const tensors = table.tables(4).map((tensor) => this.#tensor(tensor));
    const operators = table.tables(10).map((operator) => this.#operator(operator, tensors.length));
    const inputs = table.int32s(6);
    const outputs = table.int32s(8);
    if ([...inputs, ...outputs].some((number) => number < 0 || number >= tensors.length)) {
      throw new DamagedError(`a graph that starts or ends with a tensor outside 0..${tensors.length - 1}`);
    }
    return { tensors, operators, inputs, outputs };
  }

  #tensor(table) {
    const storedShape = table.int32s(4);
    const signature = table.int32s(18);
    if (storedShape.some((axis) => axis < 0)) throw new DamagedError(`a tensor of the shape [${storedShape.join(", ")}]`);
    const number = table.uint32(8);
    if (number >= this.#bufferSizes.length) throw new DamagedError(`buffer ${number} of ${this.#bufferSizes.length}`);
    const quantization = table.table(12);
    return {
      type: typeName(table.byte(6)),
      shape: signature.length === 0 ? storedShape : signature,
      storedShape,
      bytes: this.#bufferSizes[number],
      quantization: quantization && this.#quantization(quantization),
      isVariable: table.byte(14) !== 0,
      isSparse: table.table(16) !== null,
    };
  }

  #quantization(table) {
    const scales = table.vector(8, 4);
    if (scales === null || scales.count === 0) return null;
    let isSound = true;
    for (let index = 0; index < scales.count; index++) {
      const scale = this.#buffer.float32(scales.start + 4 * index);
      if (!(scale >= 0) || scale === Infinity) isSound = false;
    }
    const zeros = table.vector(10, 8) ?? { start: 0, count: 0 };
    return { scales: scales.count, axis: table.int32(16), zeroPoints: zeros.count, zeros: this.#range(zeros), isSound };
  }

  #range({ start, count }) {
    let [least, most] = count === 0 ? [0, 0] : [Infinity, -Infinity];
    for (let index = 0; index < count; index++) {
      const zero = this.#buffer.int64(start + 8 * index);
      least = Math.min(least, zero);
      most = Math.max(most, zero);
    }
    return [least, most];
  }

  #operator(table, tensors) {
    const number = table.uint32(4);
    if (number >= this.#codes.length) throw new DamagedError(`operator code ${number} of ${this.#codes.length}`);
    const start = table.int64(22);
    const size = table.int64(24);
    if (start > 1 && !this.#fits(start, size)) throw new DamagedError(`custom options of ${size} bytes at ${start}, past the end`);
    const inputs = table.int32s(6);
    const outputs = table.int32s(8);
    if ([...inputs, ...outputs].some((tensor) => tensor < -1 || tensor >= tensors)) {
      throw new DamagedError(`an operator with a tensor outside 0..${tensors - 1}`);
    }
    const code = this.#codes[number];
    const missing = OperatorRules.missing(code, inputs, outputs);
    if (missing) throw new DamagedError(`an operator of the code ${code} without ${missing}`);
    return { code, inputs, outputs };
  }
}
