import { KerasBertError } from "../core/error.js";
import { Json } from "../core/file/json.js";
import { SecondInput } from "../core/file/task_type.js";
import { Example } from "../core/tasks/example.js";

const EXCERPT = 40;

/**
 * Reads a line as an example of a task: a text, or a JSON object where an example has several texts.
 *
 * @param {import("../core/file/task_type.js").TaskTypeEntry} type the type of the task.
 * @param {string} line
 * @param {number} number the number of the text, from 0 on, for messages.
 * @returns {object} one of `Example`.
 * @throws {KerasBertError} when the line has no such example.
 */
export function readExample(type, line, number) {
  switch (type.second) {
    case SecondInput.PAIR:
      return pairOrText(line);
    case SecondInput.CONTEXT:
      return question(fieldsOf(line, number, '{"question": ..., "context": ...}'), number);
    case SecondInput.CHOICES:
      return prompt(fieldsOf(line, number, '{"prompt": ..., "choices": [...]}'), number);
    default:
      return new Example.Single(line);
  }
}

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

function pairOrText(line) {
  const pair = readPair(line);
  return pair === null ? new Example.Single(line) : new Example.Pair(pair.text, pair.pair);
}

function question(fields, number) {
  return new Example.Question(textOf(fields, "question", number), textOf(fields, "context", number));
}

function prompt(fields, number) {
  const { choices } = fields;
  if (!Array.isArray(choices) || choices.length === 0 || choices.some((choice) => typeof choice !== "string")) {
    throw new KerasBertError(`row ${number}: expected a list of choices, received ${shown(choices)}; write them as texts`);
  }
  return new Example.Prompt(textOf(fields, "prompt" in fields ? "prompt" : "question", number), choices);
}

function textOf(fields, key, number) {
  if (typeof fields[key] === "string") return fields[key];
  throw new KerasBertError(`row ${number}: expected a ${key} that is a text, received ${shown(fields[key])}; add it`);
}

function fieldsOf(line, number, form) {
  const fields = parse(line);
  if (fields !== null && typeof fields === "object" && !Array.isArray(fields)) return fields;
  throw new KerasBertError(`row ${number}: expected ${form} on a line, received ${line.slice(0, EXCERPT)}; write each example so`);
}

function shown(value) {
  return Json.write(value ?? null).slice(0, EXCERPT);
}

function parse(line) {
  try {
    return Json.parse(line, "a line");
  } catch (error) {
    if (error instanceof KerasBertError) return null;
    throw error;
  }
}
