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

/** @returns {TaskTypeEntry} */
function entry(key, second, outputs, { rank = 2, perToken = false, settings = {} } = {}) {
  return Object.freeze({ key, second, outputs, rank, perToken, settings: new Map(Object.entries(settings)) });
}

const { COUNT, COUNT_OR_NULL, NUMBER, FLAG, TEXT, PROMPTS, PROMPT_NAME } = SettingKind;
const paired = { settings: { paired: FLAG } }; // whether the training data was pairs of texts

/** The types of tasks. */
export const TaskType = Object.freeze({
  SINGLE_LABEL: entry("single_label", SecondInput.PAIR, ["probabilities"], paired),
  MULTI_LABEL: entry("multi_label", SecondInput.PAIR, ["probabilities"], paired),
  REGRESSION: entry("regression", SecondInput.PAIR, ["score"], paired),
  EMBEDDING: entry("embedding", SecondInput.PAIR, ["embedding"], {
    settings: { width: COUNT_OR_NULL, prompts: PROMPTS, default_prompt_name: PROMPT_NAME },
  }),
  TAGGING: entry("tagging", SecondInput.NONE, ["probabilities"], { rank: 3, perToken: true, settings: { stride: COUNT_OR_NULL } }),
  QUESTION_ANSWERING: entry("question_answering", SecondInput.CONTEXT, ["start_logits", "end_logits"], {
    perToken: true,
    settings: {
      stride: COUNT_OR_NULL, longest_answer: COUNT, n_best: COUNT, no_answer: FLAG, no_answer_threshold: NUMBER, unit: TEXT,
    },
  }),
  MULTIPLE_CHOICE: entry("multiple_choice", SecondInput.CHOICES, ["logits"]),
  MASKED_LM: entry("masked_lm", SecondInput.NONE, ["logits"], {
    rank: 3, perToken: true, settings: { share: NUMBER, whole_words: FLAG, top: COUNT },
  }),
});

/** All types in their order. */
export const TASK_TYPES = Object.freeze(Object.values(TaskType));
