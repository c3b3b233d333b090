/** The public names of the core: tokenizers, model files, tasks and search. It needs no page, no Node and no network. */

export { KerasBertError } from "./core/error.js";

export { Decimal } from "./core/file/decimals.js";
export { isResizable, withLength } from "./core/file/fixed_length.js";
export { Json } from "./core/file/json.js";
export { Metadata } from "./core/file/metadata.js";
export { ModelFile } from "./core/file/model_file.js";
export { Port, Signature } from "./core/file/signature.js";
export { SecondInput, TASK_TYPES, TaskType } from "./core/file/task_type.js";

export { Lengths } from "./core/model/lengths.js";
export { Outputs, Row } from "./core/model/row.js";
export { TextModel } from "./core/model/text_model.js";

export { IndexFile } from "./core/search/index_file.js";
export { rerank } from "./core/search/reranking.js";
export { SentenceSearch } from "./core/search/sentence_search.js";
export { TaughtClasses } from "./core/search/taught_classes.js";
export { taughtFile } from "./core/search/taught_file.js";
export { COSINE_SCALE, TaughtLayer } from "./core/search/taught_layer.js";
export { TextImport } from "./core/search/text_import.js";
export { VectorIndex } from "./core/search/vector_index.js";

export { Classification, ClassPrediction } from "./core/tasks/classification.js";
export { Example } from "./core/tasks/example.js";
export { FewShotClassification } from "./core/tasks/few_shot_classification.js";
export { LabelSetClassification, LabelSetPrediction } from "./core/tasks/label_set_classification.js";
export { MaskedPrediction, MaskedWords } from "./core/tasks/masked_words.js";
export { ChoicePrediction, MultipleChoice } from "./core/tasks/multiple_choice.js";
export { Prediction } from "./core/tasks/prediction.js";
export { AnswerPrediction, QuestionAnswering } from "./core/tasks/question_answering.js";
export { Regression, ScorePrediction } from "./core/tasks/regression.js";
export { cosine, SentenceEncoding, SimilarityPrediction, VectorPrediction } from "./core/tasks/sentence_encoding.js";
export { Tagging, TagPrediction } from "./core/tasks/tagging.js";
export { Task } from "./core/tasks/task.js";
export { taskOf } from "./core/tasks/task_of.js";

export { CodePoints } from "./core/text/code_points.js";
export { Encoded } from "./core/text/encoded.js";
export { Tokenizer, Tokens } from "./core/text/tokenizer.js";
export { tokenizerOf } from "./core/text/tokenizer_of.js";
export { Truncation } from "./core/text/truncation.js";
export { defaultStride, maxContext, Window, windows } from "./core/text/windows.js";
export { Words } from "./core/text/words.js";

export { LatencyClock } from "./core/timing/latency_clock.js";
