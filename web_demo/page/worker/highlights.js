const PREFIX = /^[BIESLUMW]-/;
const OUTSIDE = "O";

/**
 * The entities of a text; where tags mark no entities, such as parts of speech, the tagged words.
 *
 * @param {import("../../core/tasks/tagging.js").TagPrediction} prediction
 * @param {string[]} labels the tags of the model
 * @returns {import("../state/classify_presenter.js").Highlight[]}
 */
export function highlightsOf(prediction, labels) {
  const kinds = [...new Set(labels.map((label) => label.replace(PREFIX, "")).filter((label) => label !== OUTSIDE))];
  const color = (label) => Math.max(kinds.indexOf(label), 0);
  if (labels.includes(OUTSIDE) || prediction.entities.length > 0) {
    return prediction.entities.map(({ start, end, label, score }) => ({ start, end, label, probability: score, color: color(label) }));
  }
  return prediction.words.map(({ start, end, tag, score }) => ({ start, end, label: tag, probability: score, color: color(tag) }));
}
