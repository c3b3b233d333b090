import { Accelerator } from "../state/accelerator.js";
import { FailureKind } from "../state/failure.js";
import { Numbers } from "../state/numbers.js";

/** Numbers in the language of the page. */
export const numbers = new Numbers("en");

/** What people read first about a failure. Its detail follows. */
export const FAILURES = Object.freeze({
  [FailureKind.NO_MODEL]: "There is no model for this panel.",
  [FailureKind.OTHER_TASK]: "This model is for another task.",
  [FailureKind.UNREADABLE_MODEL]: "This file is not a usable model of kerasbert.",
  [FailureKind.DOWNLOAD]: "The model could not be loaded from this site.",
  [FailureKind.ENGINE]: "The model does not run here.",
  [FailureKind.ACCELERATOR]: "The model does not run on WebGPU here.",
  [FailureKind.MEMORY]: "There is not enough memory for this.",
  [FailureKind.UNREADABLE_TEXTS]: "This file cannot be read as texts.",
  [FailureKind.UNREADABLE_INDEX]: "This file cannot be read as a search index.",
  [FailureKind.OTHER_MODEL]: "This index needs another model.",
  [FailureKind.STORAGE]: "The browser did not store this. It works until you leave the page.",
});

/**
 * An error as a sentence. Errors begin in lower case, as they follow a program's name on the command line.
 *
 * @param {string} message
 * @returns {string}
 */
export function sentence(message) {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?)]$/.test(text) ? text : `${text}.`;
}

/**
 * What went wrong, in one line.
 *
 * @param {import("../state/failure.js").Failure} failure
 * @returns {string}
 */
export function failureLine({ kind, detail }) {
  return detail ? `${FAILURES[kind]} ${sentence(detail)}` : FAILURES[kind];
}

/** What a model of each type of task finds. */
export const TASKS = Object.freeze({
  single_label: "one label",
  few_shot: "one label",
  multi_label: "several labels",
  regression: "score",
  tagging: "entities",
  question_answering: "answers",
  embedding: "sentence vectors",
  multiple_choice: "choices",
  masked_lm: "masked words",
});

/** The names of accelerators. */
export const ACCELERATORS = Object.freeze({
  [Accelerator.WASM]: "WebAssembly",
  [Accelerator.WEBGPU]: "WebGPU",
});

/**
 * What a panel says about what really runs its model.
 *
 * @param {import("../state/model_state.js").Engine} engine
 * @returns {string}
 */
export function engineText({ accelerator, isPartial }) {
  return isPartial ? "runs on WebGPU, some operators on WebAssembly" : `runs on ${ACCELERATORS[accelerator]}`;
}

/**
 * A number with a noun.
 *
 * @param {number} count
 * @param {string} one such as "token"
 * @returns {string}
 */
export function counted(count, one) {
  const plural = one.endsWith("x") ? `${one}es` : `${one}s`;
  return `${numbers.whole(count)} ${count === 1 ? one : plural}`;
}

/**
 * @param {number} probability
 * @returns {string}
 */
export function percent(probability) {
  return `${numbers.percent(probability)} %`;
}

/**
 * @param {number} time in milliseconds
 * @returns {string}
 */
export function milliseconds(time) {
  return `${numbers.milliseconds(time)} ms`;
}
