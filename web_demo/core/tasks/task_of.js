import { TaskType } from "../file/task_type.js";
import { Classification } from "./classification.js";
import { FewShotClassification } from "./few_shot_classification.js";
import { LabelSetClassification } from "./label_set_classification.js";
import { MaskedWords } from "./masked_words.js";
import { MultipleChoice } from "./multiple_choice.js";
import { QuestionAnswering } from "./question_answering.js";
import { Regression } from "./regression.js";
import { SentenceEncoding } from "./sentence_encoding.js";
import { Tagging } from "./tagging.js";

const TASKS = new Map([
  [TaskType.SINGLE_LABEL, Classification],
  [TaskType.MULTI_LABEL, LabelSetClassification],
  [TaskType.REGRESSION, Regression],
  [TaskType.EMBEDDING, SentenceEncoding],
  [TaskType.TAGGING, Tagging],
  [TaskType.QUESTION_ANSWERING, QuestionAnswering],
  [TaskType.MULTIPLE_CHOICE, MultipleChoice],
  [TaskType.MASKED_LM, MaskedWords],
  [TaskType.FEW_SHOT, FewShotClassification],
]);

/**
 * Returns the task of a model.
 *
 * @param {import("../model/text_model.js").TextModel} model
 * @returns {import("./task.js").Task}
 */
export function taskOf(model) {
  return new (TASKS.get(model.file.metadata.type))(model);
}
