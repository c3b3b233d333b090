import { DamagedError } from "./flat_buffer.js";
import { Port, Signature } from "./signature.js";

const MIN_RUNTIME = "min_runtime_version";
const MOST_SIGNATURES = 256;
const MOST_PORTS = 64;
const MOST_AXES = 8;
const TYPES = [
  "float32", "float16", "int32", "uint8", "int64", "string", "bool", "int16", "complex64", "int8", "float64", "complex128", "uint64",
  "resource", "variant", "uint32", "uint16", "int4", "bfloat16", "int2", "uint4", "float8_e4m3fn", "float8_e5m2",
];

/** The part of a `.tflite` file's FlatBuffer that a program needs to run it: its entry points. Slots are those of TFLite's `schema.fbs`. */
export class ModelGraph {
  #buffer;
  #model;
  #subgraphs;

  /** @param {import("./flat_buffer.js").FlatBuffer} buffer the file */
  constructor(buffer) {
    this.#buffer = buffer;
    this.#model = buffer.root;
    this.#subgraphs = this.#model.tables(8);
  }

  /**
   * The entry points in the order of the file.
   *
   * @returns {Signature[]}
   */
  signatures() {
    const definitions = this.#model.tables(18);
    if (this.#subgraphs.size === 0) throw new DamagedError("no subgraph");
    if (definitions.size > MOST_SIGNATURES) throw new DamagedError(`${definitions.size} signatures`);
    return definitions.map((definition) => this.#signature(definition));
  }

  /**
   * The oldest TFLite runtime that has every operator, as the file states it; null where it does not.
   *
   * @returns {string | null}
   */
  minRuntime() {
    const entries = this.#model.tables(16);
    const buffers = this.#model.tables(12);
    for (let index = 0; index < Math.min(entries.size, MOST_SIGNATURES); index++) {
      const entry = entries.at(index);
      const number = entry.uint32(6);
      if (entry.text(4) !== MIN_RUNTIME || number >= buffers.size) continue;
      const { start, size } = this.#content(buffers.at(number));
      const version = this.#buffer.text(start, Math.min(size, 32)).replace(/\0+$/, "");
      return version.trim() === "" ? null : version;
    }
    return null;
  }

  /** Place and size of a buffer: inside its vector, or behind the FlatBuffer. */
  #content(table) {
    const offset = table.int64(6);
    const size = table.int64(8);
    if (offset <= 1) {
      const { start, count } = table.vector(4, 1) ?? { start: 0, count: 0 };
      return { start, size: count };
    }
    if (size < 0 || size > this.#buffer.size || offset > this.#buffer.size - size) {
      throw new DamagedError(`a buffer of ${size} bytes at ${offset}`);
    }
    return { start: offset, size };
  }

  #signature(definition) {
    const number = definition.uint32(12);
    if (number >= this.#subgraphs.size) throw new DamagedError(`a signature of subgraph ${number}`);
    const graph = this.#subgraphs.at(number);
    const tensors = graph.tables(4);
    const name = definition.text(8);
    const inputs = this.#ports(definition.tables(4), tensors, graph.int32s(6), `${name} with an input`);
    return new Signature(name, inputs, this.#ports(definition.tables(6), tensors, graph.int32s(8), `${name} with an output`));
  }

  #ports(entries, tensors, own, side) {
    if (entries.size > MOST_PORTS) throw new DamagedError(`a signature of ${entries.size} tensors`);
    const ports = entries.map((entry) => {
      const number = entry.uint32(6);
      if (number >= tensors.size) throw new DamagedError("a signature of a tensor that is not there");
      if (!own.includes(number)) throw new DamagedError(`a signature ${side} that its graph does not have`);
      return this.#port(entry.text(4), tensors.at(number));
    });
    return new Map(ports.map((port) => [port.name, port]));
  }

  #port(name, tensor) {
    const stored = tensor.int32s(4);
    const open = tensor.int32s(18);
    const shape = open.length === 0 ? stored : open;
    if (stored.length > MOST_AXES || shape.length !== stored.length || stored.some((axis) => axis < 0)) {
      throw new DamagedError(`the shapes [${stored.join(", ")}] and [${open.join(", ")}] of ${name}`);
    }
    return new Port(name, typeName(tensor.byte(6)), shape);
  }
}

/** The name of an element type, by its number in `TensorType`. */
export function typeName(number) {
  return TYPES[number] ?? `type_${number}`;
}
