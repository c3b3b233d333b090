// Written by benchmarks/parity/demo_tables.py: change the tables of Python, and run it again.

/** The form of examples, outputs and settings, by the name of the type of the task. */
export const TASK_FORMS = new Map([
  ["single_label", {
    second: "pair", outputs: ["probabilities"], rank: 2, perToken: false,
    settings: new Map([["paired", "flag"], ["fallback", "text"], ["fallback_below", "number"]]),
  }],
  ["multi_label", {
    second: "pair", outputs: ["probabilities"], rank: 2, perToken: false,
    settings: new Map([["paired", "flag"]]),
  }],
  ["regression", {
    second: "pair", outputs: ["score"], rank: 2, perToken: false,
    settings: new Map([["paired", "flag"]]),
  }],
  ["embedding", {
    second: "pair", outputs: ["embedding"], rank: 2, perToken: false,
    settings: new Map([["width", "count or null"], ["prompts", "prompts"], ["default_prompt_name", "prompt name"]]),
  }],
  ["tagging", {
    second: "none", outputs: ["probabilities"], rank: 3, perToken: true,
    settings: new Map([["stride", "count or null"]]),
  }],
  ["question_answering", {
    second: "context", outputs: ["start_logits", "end_logits"], rank: 2, perToken: true,
    settings: new Map([
      ["stride", "count or null"], ["longest_answer", "count"], ["n_best", "count"], ["no_answer", "flag"],
      ["no_answer_threshold", "number"], ["unit", "text"],
    ]),
  }],
  ["multiple_choice", {
    second: "choices", outputs: ["logits"], rank: 2, perToken: false,
    settings: new Map([]),
  }],
  ["masked_lm", {
    second: "none", outputs: ["logits"], rank: 3, perToken: true,
    settings: new Map([["share", "number"], ["whole_words", "flag"], ["top", "count"], ["masking", "text"]]),
  }],
  ["few_shot", {
    second: "none", outputs: ["embedding"], rank: 2, perToken: false,
    settings: new Map([
      ["paired", "flag"], ["fallback", "text"], ["fallback_below", "number"], ["width", "count"], ["layer", "text"], ["method", "text"],
      ["prompt", "text"],
    ]),
  }],
]);
