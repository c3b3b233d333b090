import { ClassPrediction } from "../../core/tasks/classification.js";
import { LabelSetPrediction } from "../../core/tasks/label_set_classification.js";
import { Example } from "../../core/tasks/example.js";
import { ScorePrediction } from "../../core/tasks/regression.js";
import { TagPrediction } from "../../core/tasks/tagging.js";
import { FailedError, failure, FailureKind } from "../state/failure.js";
import { highlightsOf } from "./highlights.js";

const SHOWN_TOKENS = 512; // of a text; a model reads no more in one window

/**
 * Says what a model makes of a text.
 *
 * @param {import("../../core/tasks/task.js").Task} task
 * @param {string} text
 * @returns {Promise<import("../state/classify_presenter.js").Classified>}
 */
export async function classify(task, text) {
  const start = performance.now();
  const prediction = await task.predict(new Example.Single(text));
  const milliseconds = performance.now() - start;
  const { tokenizer, length } = task.model;
  const tokens = tokenizer.tokens(text).size + 2;
  return {
    text, result: resultOf(prediction, task.labels ?? []), tokens, layers: layersOf(prediction, task), milliseconds,
    readTokens: prediction.isCut ? length : null,
  };
}

/**
 * The tokens of a text, special ones included, at most so many as are shown.
 *
 * @param {import("../../core/tasks/task.js").Task} task
 * @param {string} text
 * @returns {string[]}
 */
export function tokensOf(task, text) {
  const { tokenizer } = task.model;
  return Array.from(tokenizer.encode(text, null, SHOWN_TOKENS).ids, (id) => tokenizer.vocabulary[id]);
}

/** The layers that ran, of all; null for a file without exits. */
function layersOf({ layers }, { model }) {
  return layers === null ? null : { ran: layers, all: model.file.metadata.exits.at(-1) };
}

function resultOf(prediction, labels) {
  if (prediction instanceof ClassPrediction) return labelsResult(withFallback(prediction), (name) => name === prediction.label);
  if (prediction instanceof LabelSetPrediction) return labelsResult(prediction.classes, (name) => prediction.labels.includes(name));
  if (prediction instanceof ScorePrediction) return { kind: "score", value: prediction.score };
  if (prediction instanceof TagPrediction) return { kind: "highlights", highlights: highlightsOf(prediction, labels) };
  throw new FailedError(failure(FailureKind.OTHER_TASK));
}

/** The classes, and first the label of a text that belongs to none of them, with the probability that was too low. */
function withFallback({ classes, label, score }) {
  return classes.some(({ name }) => name === label) ? classes : [{ name: label, probability: score }, ...classes];
}

function labelsResult(classes, isChosen) {
  const bars = classes.map(({ name, probability }) => ({ name, probability, isChosen: isChosen(name) }));
  return { kind: "labels", bars: bars.sort((one, other) => other.probability - one.probability) };
}
