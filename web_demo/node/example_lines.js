import { KerasBertError } from "../core/error.js";
import { Json } from "../core/file/json.js";

/**
 * Reads a line as a pair of texts.
 *
 * @param {string} line
 * @returns {{text: string, pair: string} | null} null for a text, which may look like JSON.
 */
export function readPair(line) {
  if (!line.startsWith("{")) return null;
  const fields = parse(line);
  const isPair = fields !== null && Object.keys(fields).sort().join() === "pair,text";
  if (!isPair || typeof fields.text !== "string" || typeof fields.pair !== "string") return null;
  return { text: fields.text, pair: fields.pair };
}

function parse(line) {
  try {
    return Json.parse(line, "a line");
  } catch (error) {
    if (error instanceof KerasBertError) return null;
    throw error;
  }
}
