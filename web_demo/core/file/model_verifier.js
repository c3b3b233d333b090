import { DamagedError, FlatTable } from "./flat_buffer.js";

// Kinds of a field: a number of some bytes, a vector of numbers, a table, a vector of tables, a text that ends with a zero byte, and the
// table of an operator's options, whose name depends on the operator.
const scalar = (width) => ({ kind: "scalar", width });
const numbers = (width) => ({ kind: "numbers", width });
const one = (table) => ({ kind: "one", table });
const many = (table) => ({ kind: "many", table });
const TEXT = { kind: "text" };
const OPTIONS = { kind: "options" };

// Table -> slot of its vtable -> kind of the field, as in TFLite's schema.fbs, version 3. Slots that are not named are numbers.
const LAYOUT = {
  Model: {
    4: scalar(4), 6: many("OperatorCode"), 8: many("SubGraph"), 10: TEXT, 12: many("Buffer"), 14: numbers(4), 16: many("Metadata"),
    18: many("SignatureDef"),
  },
  OperatorCode: { 4: scalar(1), 6: TEXT, 8: scalar(4), 10: scalar(4) },
  SubGraph: { 4: many("Tensor"), 6: numbers(4), 8: numbers(4), 10: many("Operator"), 12: TEXT, 14: scalar(4) },
  Tensor: {
    4: numbers(4), 6: scalar(1), 8: scalar(4), 10: TEXT, 12: one("QuantizationParameters"), 14: scalar(1), 16: one("SparsityParameters"),
    18: numbers(4), 20: scalar(1), 22: many("VariantSubType"), 24: scalar(4),
  },
  QuantizationParameters: {
    4: numbers(4), 6: numbers(4), 8: numbers(4), 10: numbers(8), 12: scalar(1), 14: one("Details"), 16: scalar(4),
  },
  SparsityParameters: { 4: numbers(4), 6: numbers(4), 8: many("DimensionMetadata") },
  DimensionMetadata: { 4: scalar(1), 6: scalar(4), 8: scalar(1), 10: one("SparseVector"), 12: scalar(1), 14: one("SparseVector") },
  SparseVector: { 4: numbers(1) },
  VariantSubType: { 4: numbers(4), 6: scalar(1), 8: scalar(1) },
  Operator: {
    4: scalar(4), 6: numbers(4), 8: numbers(4), 10: scalar(1), 12: OPTIONS, 14: numbers(1), 16: scalar(1), 18: numbers(1), 20: numbers(4),
    22: scalar(8), 24: scalar(8), 26: scalar(1), 28: OPTIONS, 30: scalar(4),
  },
  ReshapeOptions: { 4: numbers(4) },
  SqueezeOptions: { 4: numbers(4) },
  Buffer: { 4: numbers(1), 6: scalar(8), 8: scalar(8) },
  Metadata: { 4: TEXT, 6: scalar(4) },
  SignatureDef: { 4: many("TensorMap"), 6: many("TensorMap"), 8: TEXT, 12: scalar(4) },
  TensorMap: { 4: TEXT, 6: scalar(4) },
};
const NO_FIELDS = {};
const BYTE = scalar(1);
const OPTIONS_TYPE = 10;
const OPTIONS_WITH_VECTORS = new Map([[17, "ReshapeOptions"], [30, "SqueezeOptions"]]); // by their value in `BuiltinOptions`

/**
 * Follows every offset of a `.tflite` from its root, as TensorFlow Lite's C++ verifier does, since a runtime may follow them unchecked.
 *
 * The schema has no cycles. A hostile file may still name one vector of tables many times, so the number of visits is bounded: an offset to
 * a table takes four bytes.
 */
export class ModelVerifier {
  #buffer;
  #visits = 0;

  /** @param {import("./flat_buffer.js").FlatBuffer} buffer the file */
  constructor(buffer) {
    this.#buffer = buffer;
  }

  /** @throws {DamagedError} when an offset leads out of the file */
  verify() {
    this.#table("Model", 0);
  }

  #table(kind, at) {
    const buffer = this.#buffer;
    if (++this.#visits > buffer.size / 4) throw new DamagedError(`more tables than fit into ${buffer.size} bytes`);
    const place = buffer.follow(at);
    const vtable = buffer.inside(place - buffer.int32(place));
    const slots = buffer.uint16(vtable);
    const length = buffer.uint16(vtable + 2);
    const fits = slots >= 4 && slots % 2 === 0 && length >= 4;
    if (!fits || vtable + slots > buffer.size || place + length > buffer.size) {
      throw new DamagedError(`a ${kind} whose table does not fit at byte ${place}`);
    }
    const layout = LAYOUT[kind] ?? NO_FIELDS;
    for (let slot = 4; slot < slots; slot += 2) {
      const offset = buffer.uint16(vtable + slot);
      if (offset === 0) continue;
      const field = layout[slot] ?? BYTE;
      const width = field.kind === "scalar" ? field.width : 4;
      if (offset < 4 || offset + width > length) throw new DamagedError(`a ${kind} with a field outside its table at byte ${place}`);
      this.#field(field, place + offset, place);
    }
  }

  #field(field, at, owner) {
    switch (field.kind) {
      case "scalar":
        break; // verified with its table
      case "numbers":
        this.#vector(at, field.width);
        break;
      case "one":
        this.#table(field.table, at);
        break;
      case "many":
        this.#tables(field.table, at);
        break;
      case "text":
        this.#text(at);
        break;
      default:
        this.#table(OPTIONS_WITH_VECTORS.get(new FlatTable(this.#buffer, owner).byte(OPTIONS_TYPE)) ?? "Options", at);
    }
  }

  #tables(kind, at) {
    const { start, count } = this.#vector(at, 4);
    for (let index = 0; index < count; index++) this.#table(kind, start + 4 * index);
  }

  #text(at) {
    const { start, count } = this.#vector(at, 1);
    if (start + count >= this.#buffer.size || this.#buffer.byte(start + count) !== 0) {
      throw new DamagedError(`a text without its end at byte ${start}`);
    }
  }

  /** Returns the place of a vector's first element, and the number of elements. */
  #vector(at, width) {
    const place = this.#buffer.follow(at);
    const count = this.#buffer.uint32(place);
    if (place + 4 + count * width > this.#buffer.size) {
      throw new DamagedError(`a vector of ${count} entries at byte ${place}, past the end`);
    }
    return { start: place + 4, count };
  }
}
