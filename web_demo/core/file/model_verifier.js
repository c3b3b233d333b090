import { scalar } from "./fields.js";
import { DamagedError, FlatTable } from "./flat_buffer.js";
import { LAYOUT, OPTIONS_WITH_VECTORS } from "./model_tables.js";

const NO_FIELDS = {};
const BYTE = scalar(1);
const OPTIONS_TYPE = 10;

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
