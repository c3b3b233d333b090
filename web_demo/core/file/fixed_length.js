/** Copies of resizable files with one length. Slots are those of TFLite's `schema.fbs`. */

import { FlatBuffer } from "./flat_buffer.js";

const OPEN = -1;
const [BATCH, LENGTH] = [0, 1]; // axes of inputs and of outputs
const SIDES = [4, 6]; // slots of inputs and outputs in `SignatureDef`
const SHAPE = 4; // slots of `Tensor`
const SHAPE_SIGNATURE = 18;

/** Whether a file leaves the length of its inputs open, for runtimes that resize them. */
export function isResizable(file) {
  return file.signatures.some(({ inputs }) => [...inputs.values()].some(({ shape }) => shape.includes(OPEN)));
}

/**
 * Returns a copy of a file whose inputs have one length, for runtimes that cannot resize them.
 *
 * The open axes of a signature's inputs and outputs are set, the batch to 1. A runtime derives the shapes of all other tensors from those
 * of the inputs when it prepares the model.
 *
 * @param {Uint8Array} content the bytes of a file that `ModelFile` read; they are not changed
 * @param {string} signature the name of the signature
 * @param {number} length in tokens
 * @returns {Uint8Array}
 */
export function withLength(content, signature, length) {
  const copy = new Uint8Array(content); // not slice, which shares the memory of a Buffer of Node
  const view = new DataView(copy.buffer);
  for (const tensor of portTensors(new FlatBuffer(content).root, signature)) {
    const open = tensor.int32s(SHAPE_SIGNATURE);
    for (const slot of [SHAPE, SHAPE_SIGNATURE]) {
      const start = tensor.vector(slot, 4)?.start;
      for (const [axis, size] of [[BATCH, 1], [LENGTH, length]]) {
        if (open[axis] === OPEN) view.setInt32(start + 4 * axis, size, true);
      }
    }
  }
  return copy;
}

function portTensors(model, signature) {
  const definition = model.tables(18).map((table) => table).find((table) => table.text(8) === signature);
  const tensors = model.tables(8).at(definition.uint32(12)).tables(4);
  return SIDES.flatMap((slot) => definition.tables(slot).map((port) => tensors.at(port.uint32(6))));
}
