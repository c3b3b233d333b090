import { TASK_FORMS } from "./task_tables.js";

/** The kinds of values that a setting may have. */
export const SettingKind = Object.freeze({
  COUNT: "count", COUNT_OR_NULL: "count or null", NUMBER: "number", FLAG: "flag", TEXT: "text", PROMPTS: "prompts",
  PROMPT_NAME: "prompt name",
});

/** What an example has beside its text. */
export const SecondInput = Object.freeze({ NONE: "none", PAIR: "pair", CONTEXT: "context", CHOICES: "choices" });

/**
 * The type of a task, which says what a model's outputs mean.
 *
 * @typedef {object} TaskTypeEntry
 * @property {string} key its name in files and in JSON
 * @property {string} second what an example has beside its text, a `SecondInput`
 * @property {string[]} outputs the names of the model's outputs
 * @property {number} rank the axes of each output, the batch included
 * @property {boolean} perToken whether outputs have an axis of tokens
 * @property {Map<string, string>} settings the `SettingKind` of each setting
 */

const types = [...TASK_FORMS].map(([key, form]) => [key.toUpperCase(), Object.freeze({ key, ...form })]);

/**
 * The types of tasks, such as `TaskType.SINGLE_LABEL`.
 *
 * @type {Record<string, TaskTypeEntry>}
 */
export const TaskType = Object.freeze(Object.fromEntries(types));

/** All types in their order. */
export const TASK_TYPES = Object.freeze(Object.values(TaskType));
