/** The types of tasks that each panel is for, the preferred ones first. */
export const ACCEPTED = Object.freeze({
  classify: ["single_label", "few_shot", "multi_label", "tagging", "regression"],
  ask: ["question_answering", "embedding"],
  search: ["embedding"],
  teach: ["embedding"],
  speed: [
    "single_label", "multi_label", "tagging", "regression", "embedding", "question_answering", "multiple_choice", "masked_lm",
    "few_shot",
  ],
});

/** The panels in the order of their tabs. */
export const PANELS = Object.freeze(Object.keys(ACCEPTED));

/**
 * The panel for a model that was opened.
 *
 * @param {string} type the type of its task
 * @param {string} current the panel that the person sees, which stays if it fits
 * @returns {string}
 */
export function panelFor(type, current) {
  return ACCEPTED[current].includes(type) ? current : PANELS.find((panel) => ACCEPTED[panel].includes(type)) ?? "speed";
}
