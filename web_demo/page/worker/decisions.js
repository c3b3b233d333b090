import { VectorIndex } from "../../core/search/vector_index.js";
import { ClassPrediction } from "../../core/tasks/classification.js";
import { Example } from "../../core/tasks/example.js";
import { LabelSetPrediction } from "../../core/tasks/label_set_classification.js";
import { MaskedPrediction, MaskedWords } from "../../core/tasks/masked_words.js";
import { ChoicePrediction, MultipleChoice } from "../../core/tasks/multiple_choice.js";
import { AnswerPrediction, QuestionAnswering } from "../../core/tasks/question_answering.js";
import { ScorePrediction } from "../../core/tasks/regression.js";
import { SentenceEncoding } from "../../core/tasks/sentence_encoding.js";
import { TagPrediction } from "../../core/tasks/tagging.js";
import { FailedError, failure, FailureKind } from "../state/failure.js";

/**
 * The decisions of a model for some texts, each as a text, so that two ways to run the model can be compared.
 *
 * A decision is a label, tags, an answer or a word. For sentence vectors it is the most similar one of the other texts.
 *
 * @param {import("../../core/tasks/task.js").Task} task
 * @param {string[]} texts
 * @param {() => Promise<void>} between called before each text
 * @returns {Promise<string[]>}
 */
export async function decisionsOf(task, texts, between) {
  const results = [];
  for (const number of texts.keys()) {
    await between();
    results.push(await resultOf(task, texts, number));
  }
  return task instanceof SentenceEncoding ? nearest(results) : results.map(decision);
}

async function resultOf(task, texts, number) {
  const [text, next, other] = [0, 1, 2].map((ahead) => texts[(number + ahead) % texts.length]);
  if (task instanceof SentenceEncoding) return (await task.encode(text)).vector;
  if (task instanceof QuestionAnswering) return task.answer(text, next);
  if (task instanceof MultipleChoice) return task.choose(text, [next, other]);
  if (task instanceof MaskedWords) return task.fill(`${text} ${task.model.tokenizer.vocabulary[task.model.tokenizer.maskId]}`);
  return task.predict(new Example.Single(text));
}

function decision(prediction) {
  if (prediction instanceof ClassPrediction) return prediction.label;
  if (prediction instanceof LabelSetPrediction) return prediction.labels.join("|");
  if (prediction instanceof ScorePrediction) return prediction.score.toFixed(2);
  if (prediction instanceof TagPrediction) return prediction.words.map((word) => word.tag).join(" ");
  if (prediction instanceof AnswerPrediction) return `${prediction.answer.start} ${prediction.answer.end}`;
  if (prediction instanceof ChoicePrediction) return String(prediction.choice);
  if (prediction instanceof MaskedPrediction) return prediction.masks.map((mask) => mask.words[0].word).join(" ");
  throw new FailedError(failure(FailureKind.OTHER_TASK));
}

function nearest(vectors) {
  const index = new VectorIndex(vectors[0].length);
  for (const vector of vectors) index.add(vector);
  return vectors.map((vector, number) => {
    const hits = index.search(vector, 2);
    return String(hits.find((hit) => hit.index !== number || vectors.length === 1).index);
  });
}
