import { KerasBertError } from "../error.js";
import { Decimal, doubleText, floatText } from "./decimals.js";

const MAX_DEPTH = 100;
const MAX_VALUES = 1 << 18;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

// C0 and C1 controls, line separators and Unicode's Bidi_Control, none of which may control the terminal that shows a line; and what JSON
// does not hold as it is.
const ESCAPED = new RegExp(
  `["\\\\\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff]|${LONE_SURROGATE.source}`, "g",
);
const SHORT_ESCAPES = new Map([
  ['"', '\\"'], ["\\", "\\\\"], ["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"], ["\b", "\\b"], ["\f", "\\f"],
]);

/** JSON as Python reads and writes it. */
export const Json = Object.freeze({
  /**
   * Parses a JSON text.
   *
   * @param {string} text the text, with or without a byte order mark
   * @param {string} where its source; an error starts with it
   * @returns {any}
   * @throws {KerasBertError} when it is not JSON, or exceeds a limit: 100 nested levels, 262,144 values. Half of a surrogate pair is no
   *   JSON either.
   */
  parse(text, where) {
    const content = text.startsWith("\ufeff") ? text.slice(1) : text;
    const refuse = (received) => new KerasBertError(`${where}: expected JSON, received ${received}; correct it`);
    let value;
    try {
      value = JSON.parse(content);
    } catch {
      throw refuse(content.trim() === "" ? "nothing" : "another text");
    }
    const fault = faultOf(value);
    if (fault) throw refuse(fault);
    return value;
  },

  /**
   * Writes a value on one line, in the form of `kerasbert predict --json`.
   *
   * Numbers are the shortest decimal ones that are read back as the same number. A `Decimal` and the numbers of a Float64Array have a
   * fraction, those of a Float32Array are floats. NaN and infinities become null. Characters that could control a terminal are escaped.
   *
   * @param {any} value null, a boolean, a number, a string, a list, a typed array, a `Decimal`, or a map or object of them
   * @returns {string}
   */
  write(value) {
    if (value === null || typeof value === "boolean") return String(value);
    if (typeof value === "number") return Number.isInteger(value) ? String(value) : decimal(value, doubleText);
    if (typeof value === "string") return quoted(value);
    if (value instanceof Decimal) return decimal(value.value, doubleText);
    if (value instanceof Float32Array) return list(value, (each) => decimal(each, floatText));
    if (value instanceof Float64Array) return list(value, (each) => decimal(each, doubleText));
    if (Array.isArray(value) || value instanceof Int32Array) return list(value, Json.write);
    if (typeof value !== "object") throw new TypeError(`expected a value that JSON has, received ${typeof value}`);
    const entries = value instanceof Map ? [...value] : Object.entries(value);
    return `{${entries.map(([name, item]) => `${quoted(String(name))}: ${Json.write(item)}`).join(", ")}}`;
  },
});

/** Describes what a parsed value has that is refused; null where there is nothing. */
function faultOf(root) {
  let count = 0;
  const open = [[root, 0]];
  while (open.length > 0) {
    const [value, depth] = open.pop();
    if (depth > MAX_DEPTH) return `brackets nested more than ${MAX_DEPTH} levels deep`;
    if (++count > MAX_VALUES) return `more than ${MAX_VALUES} values`;
    if (typeof value === "string") {
      const fault = surrogateFault(value);
      if (fault) return fault;
    } else if (value !== null && typeof value === "object") {
      if (!Array.isArray(value)) for (const name of Object.keys(value)) open.push([name, depth]);
      for (const item of Object.values(value)) open.push([item, depth + 1]);
    }
  }
  return null;
}

function surrogateFault(text) {
  const half = LONE_SURROGATE.exec(text)?.[0];
  return half === undefined ? null : `half of a surrogate pair (${codeUnit(half)}), which is no character`;
}

function list(values, write) {
  return `[${Array.from(values, write).join(", ")}]`;
}

function decimal(value, write) {
  return Number.isFinite(value) ? write(value) : "null";
}

function quoted(text) {
  return `"${text.replace(ESCAPED, (unit) => SHORT_ESCAPES.get(unit) ?? codeUnit(unit))}"`;
}

function codeUnit(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
