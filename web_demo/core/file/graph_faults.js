import { DamagedError } from "./flat_buffer.js";
import { BITS, WITHOUT_SIZE, ZERO_POINTS } from "./model_tables.js";
import { OperatorRules } from "./operator_rules.js";

const MOST_AXES = 8; // the length of the kernels' arrays
const MOST_BYTES = 2 ** 32; // of one tensor
const BYTE = 8;
const ANY_ZERO_POINT = [-(2 ** 31), 2 ** 31 - 1];

/**
 * Finds tensors and operators that contradict each other, as `kerasbert.export.tflite.graph_faults` in Python.
 *
 * Every offset of such a file is valid, yet a runtime crashes, hangs or fills the memory.
 */
export class GraphFaults {
  #graph;

  /** @param {import("./model_structure.js").Graph} graph */
  constructor(graph) {
    this.#graph = graph;
  }

  /** @throws {DamagedError} about the first contradiction */
  check() {
    this.#graph.tensors.forEach((tensor, number) => {
      const fault = tensorFault(tensor);
      if (fault) throw new DamagedError(`tensor ${number} with ${fault}`);
    });
    for (const operator of this.#graph.operators) this.#checkOperator(operator);
    this.#checkOrder();
  }

  #checkOperator({ code, inputs, outputs }) {
    const wrong = OperatorRules.wrongCount(code, inputs.length);
    if (wrong) throw new DamagedError(wrong);
    if (!OperatorRules.takesNumbersOnly(code)) return;
    const isText = (number) => number >= 0 && WITHOUT_SIZE.has(this.#graph.tensors[number].type);
    if (inputs.some(isText) || outputs.some(isText)) throw new DamagedError(`an operator of the code ${code} of texts`);
  }

  /** Checks that no tensor is read before it has values, or written twice. */
  #checkOrder() {
    const { tensors, operators, inputs, outputs } = this.#graph;
    const isConstant = tensors.map((tensor) => tensor.bytes > 0);
    const isReadable = tensors.map((tensor, number) => isConstant[number] || tensor.isVariable || elements(tensor) === 0);
    const isWritten = tensors.map(() => false);
    for (const input of inputs) {
      if (isConstant[input]) throw new DamagedError(`a constant, tensor ${input}, as an input`);
      isWritten[input] = true;
      isReadable[input] = true;
    }
    for (const operator of operators) {
      const early = operator.inputs.find((input) => input >= 0 && !isReadable[input]);
      if (early !== undefined) throw new DamagedError(`an operator that reads tensor ${early} before it is written`);
      for (const output of operator.outputs) {
        if (output < 0) continue;
        if (isConstant[output] || isWritten[output]) {
          throw new DamagedError(`an operator that writes tensor ${output}, which has values already`);
        }
        isWritten[output] = true;
        isReadable[output] = true;
      }
    }
    const unwritten = outputs.find((output) => !isReadable[output]);
    if (unwritten !== undefined) throw new DamagedError(`an output, tensor ${unwritten}, that nothing writes`);
  }
}

function tensorFault(tensor) {
  const { storedShape, shape, type } = tensor;
  if (storedShape.length > MOST_AXES) return `${storedShape.length} axes`;
  const isOpen = shape.length === storedShape.length && shape.every((axis, place) => axis === -1 || axis === storedShape[place]);
  if (!isOpen) return `the shapes ${shown(storedShape)} and ${shown(shape)}`;
  if (WITHOUT_SIZE.has(type)) return null;
  const bits = BITS.get(type);
  if (bits === undefined) return `the unknown type ${type}`;
  const count = elements(tensor);
  if (count > (MOST_BYTES * BYTE) / bits) return `the shape ${shown(storedShape)}`;
  const size = Math.ceil((count * bits) / BYTE);
  if (tensor.bytes > 0 && !tensor.isSparse && tensor.bytes !== size) {
    return `${tensor.bytes} bytes for ${type}${shown(storedShape)}, ${size} bytes`;
  }
  return tensor.quantization ? quantizationFault(tensor, tensor.quantization) : null;
}

function quantizationFault({ type, storedShape }, { scales, axis, zeroPoints, zeros, isSound }) {
  const [least, most] = ZERO_POINTS.get(type) ?? ANY_ZERO_POINT;
  if (zeros[0] < least || zeros[1] > most) return `a zero point outside ${least}..${most} for ${type}`;
  if (!isSound) return "a scale that is negative or no number";
  if (zeroPoints !== scales) return `${scales} scales and ${zeroPoints} zero points`;
  return scales > 1 && storedShape[axis] !== scales ? `${scales} scales along axis ${axis} of ${shown(storedShape)}` : null;
}

/** The number of elements; it is not exact for a tensor that is far too large. */
function elements(tensor) {
  return tensor.storedShape.includes(0) ? 0 : tensor.storedShape.reduce((count, axis) => count * axis, 1);
}

function shown(shape) {
  return `[${shape.join(", ")}]`;
}
