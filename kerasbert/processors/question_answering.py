"""Extractive question answering: a question and a text to the part of the text that answers it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from kerasbert.arguments import shown
from kerasbert.data.reading import read_questions
from kerasbert.errors import KerasBertError
from kerasbert.files.record import setting
from kerasbert.processors.base import LARGEST, Processor, RawResult, RawResults, check_same_number
from kerasbert.processors.contributions import Contributions, Ratio
from kerasbert.processors.display import Display, Record
from kerasbert.processors.features import Features
from kerasbert.processors.gold_answers import right_answers
from kerasbert.processors.metrics import softmax
from kerasbert.processors.span_search import ScoredSpan, best_spans
from kerasbert.processors.span_windows import questions_fit, window_features
from kerasbert.processors.squad_scores import UNITS, best_threshold, f1, squad_scores
from kerasbert.processors.texts import split_pairs
from kerasbert.text import Tokenizer
from kerasbert.text.strings import as_strings


def _fields(example: tuple[str, str]) -> dict[str, Any]:
    question, context = example
    return {"question": question, "context": context}


def _lines(record: Record) -> list[list[str]]:
    characters = "" if record["start"] is None else f"{record['start']}-{record['end']}"
    return [[record["answer"] or "(no answer)", f"{record['score']:.4f}", characters, record["question"]]]


@dataclass(frozen=True)
class QuestionAnswering(Processor):
    """The span of a text that answers a question (Rajpurkar et al. 2016; Devlin et al. 2018, sections 4.2 and 4.3).

    Examples are `(question, context)` tuples, dicts with both, or `(questions, contexts)`. A label is an answer, a list of several, or None
    where the context has none. An answer is `{"text": ..., "answer_start": ...}` as in SQuAD, `start` in characters from 0 on, or
    `(start, text)`; `{"text": [...], "answer_start": [...]}` are several. Training takes the first one; metrics accept all of them.

    A row is `[CLS] question [SEP] context [SEP]`. A context that is too long has several rows, overlapping windows of it. The label of a
    row without the answer is `[CLS]`, position 0. `features.alignment` has a `Window` for each row. A raw result is both logits of each
    token, `(1, length)`.

    Attributes:
        stride: Tokens from the start of a window to that of the next one (BERT's `doc_stride`), at most those of a window. By default
            windows overlap by a third of a row (128 tokens of 384), but not by more than half of themselves.
        longest_answer: Tokens in the longest answer.
        n_best: Number of spans that a prediction lists as `best`.
        no_answer: Whether a question may have no answer.
        no_answer_threshold: The margin by which the score of no answer must exceed that of the best span; see `best_threshold`.
        unit: Unit of the metrics, "word" (English, as SQuAD) or "character" (Chinese, Japanese, Korean); see
            `kerasbert.processors.squad_scores`.

    Raises:
        KerasBertError: When a setting cannot be used.
    """

    stride: int | None = setting(None, at_least=1, at_most=LARGEST)
    longest_answer: int = setting(30, at_least=1, at_most=LARGEST)
    n_best: int = setting(20, at_least=1, at_most=LARGEST)
    no_answer: bool = False
    no_answer_threshold: float = setting(0.0, at_least=-LARGEST, at_most=LARGEST)
    unit: str = setting("word", choices=UNITS)

    name = "question_answering"
    outputs = ("start_logits", "end_logits")
    per_token = True
    second_input = "context"
    truncated_items = "questions"
    default_length = 384  # as in the literature
    not_tokenized = ("longest_answer", "n_best", "no_answer", "no_answer_threshold", "unit")
    reader = staticmethod(read_questions)
    display = Display(
        ("answer", "score", "characters", "question"),
        _lines,
        _fields,
        lambda record: record["answer"] or "no answer",
        lambda prediction, top_k: {**prediction, "best": prediction["best"][:top_k]},
    )

    def check_labels(self, y: Any, examples: Sequence) -> None:
        right_answers(y, examples)

    def notes_on_labels(self, y: Any, examples: Sequence) -> list[str]:
        unanswered = 0 if self.no_answer else sum(not answers for answers in right_answers(y, examples))
        if not unanswered:
            return []
        return [
            f"note: {unanswered:,} of {len(examples):,} questions have no answer, but no_answer is off: the model always gives one "
            "(--no-answer turns it on)"
        ]

    def examples(self, x: Any) -> list:
        if isinstance(x, Mapping):
            raise KerasBertError(
                "expected a list of questions with contexts, received one dict; put each question with its context into a list"
            )
        if isinstance(x, list | tuple) and len(x) and all(isinstance(row, Mapping) for row in x):
            x = [_pair(row, number) for number, row in enumerate(x)]
        questions, contexts = split_pairs(x)
        if contexts is None:
            if questions:
                raise KerasBertError(_no_pair_message(questions))
            return []
        if len(questions) != len(contexts):
            raise KerasBertError(
                f"expected a context for each question, received {len(questions)} questions, {len(contexts)} contexts"
            )
        return list(zip(as_strings(questions, "questions"), as_strings(contexts, "contexts"), strict=True))

    def features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        return window_features(examples, tokenizer, length, self.stride)

    def fits(self, features: Features, length: int) -> bool:
        return super().fits(features, length) and questions_fit(features.alignment, length)

    def encode_labels(self, y: Any, examples: Sequence, features: Features) -> Any:
        if not len(features.alignment):
            return _packed_labels(y, features)
        answers = right_answers(y, examples)
        positions = np.zeros((len(features), 2), np.int32)
        for row, (number, window) in enumerate(zip(features.example, features.alignment, strict=True)):
            if answers[number]:
                first, last = window.context.tokens(*answers[number][0][:2])
                if window.first <= first <= last < window.end:
                    positions[row] = np.array([first, last]) - window.first + window.begin
        return dict(zip(self.outputs, positions.T.copy(), strict=True))

    def raw_result(self, outputs: RawResult, features: Features, row: int) -> RawResult:
        return {name: outputs[name].reshape(1, -1)[:, : features.lengths[row]] for name in self.outputs}

    def comparable(self, outputs: RawResult, features: Features, row: int) -> RawResult:
        """Select one decision a row for each end of the answer: the probabilities of its positions, `(1, length)`."""
        return {name: softmax(logits) for name, logits in self.raw_result(outputs, features, row).items()}

    def predictions(self, examples: Sequence, features: Features, raw_results: RawResults) -> list:
        """Return the best answer to each question.

        A prediction has `answer`, `start` and `end` in characters, `score` (the sum of both logits), `probability` (among the `best`),
        `no_answer_score`, and `best`, the best spans in the same form. No answer is "" from None to None.
        """
        all_spans = self._best_spans(features, raw_results)
        return [self._prediction(context, *spans) for (_, context), spans in zip(examples, all_spans, strict=True)]

    def metrics(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> dict[str, float]:
        """Compute the metrics of SQuAD; for packed inputs, the fractions of rows with the right positions.

        See `kerasbert.processors.squad_scores`.
        """
        if not len(features.alignment):
            return _position_scores(self.encode_labels(y, examples, features), raw_results)
        answers = [prediction["answer"] for prediction in self.predictions(examples, features, raw_results)]
        return squad_scores(answer_texts(y, examples), answers, self.unit)

    def contributions(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> Contributions:
        if not len(features.alignment):
            start, end = _correct_positions(self.encode_labels(y, examples, features), raw_results)
            return Ratio.of_decisions(start & end)
        answers = [prediction["answer"] for prediction in self.predictions(examples, features, raw_results)]
        right = answer_texts(y, examples)
        scores = [f1(*pair, self.unit) for pair in zip(right, answers, strict=True)]
        if not self.no_answer:
            return Ratio.of_decisions(scores)
        return Ratio.of_decisions(scores, float(np.mean([f1(each, "", self.unit) for each in right])), "no answer")

    def effective_settings(self) -> dict[str, Any]:
        settings = super().effective_settings()
        if not self.no_answer:
            del settings["no_answer_threshold"]
        return settings

    def listing(self, top_k: int) -> Self:
        return replace(self, n_best=max(top_k, self.n_best))

    def best_threshold(
        self, y: Any, examples: Sequence, features: Features, raw_results: RawResults
    ) -> tuple[float, float]:
        """Return the `no_answer_threshold` with the highest F1 on this data, and that F1."""
        answers, margins = [], []
        best = self._best_spans(features, raw_results)
        for (_, context), (spans, no_answer_score) in zip(examples, best, strict=True):
            answers.append(context[spans[0].start : spans[0].end] if spans else "")
            margins.append(no_answer_score - spans[0].score if spans else np.inf)
        threshold, best_f1 = best_threshold(answer_texts(y, examples), answers, margins, self.unit)
        return float(np.clip(threshold, -LARGEST, LARGEST)), best_f1

    def _best_spans(self, features: Features, raw_results: RawResults) -> list[tuple[list[ScoredSpan], float]]:
        """Return the best spans for each question, and the score of no answer."""
        return [
            best_spans(
                [features.alignment[i] for i in rows], [raw_results[i] for i in rows], self.longest_answer, self.n_best
            )
            for rows in features.by_example()
        ]

    def _prediction(self, context: str, spans: list[ScoredSpan], no_answer_score: float) -> dict[str, Any]:
        best: list[dict[str, Any]] = [
            {"answer": context[start:end], "start": start, "end": end, "score": score} for start, end, score in spans
        ]
        no_answer: dict[str, Any] = {"answer": "", "start": None, "end": None, "score": no_answer_score}
        unanswered = not best or (self.no_answer and no_answer_score - best[0]["score"] > self.no_answer_threshold)
        chosen = no_answer if unanswered else best[0]
        if self.no_answer or not best:
            best = sorted([*best, no_answer], key=lambda each: -each["score"])
        exponentials = np.exp(np.array([each["score"] for each in best]) - best[0]["score"])
        for each, value in zip(best, exponentials / exponentials.sum(), strict=True):
            each["probability"] = float(value)
        return {**chosen, "no_answer_score": no_answer_score, "best": best}


def _pair(example: Mapping, number: int) -> tuple:
    for key in ("question", "context"):
        if not isinstance(example.get(key), str | bytes):
            raise KerasBertError(f"row {number}: expected a {key} that is a text, received {shown(example.get(key))}")
    return example["question"], example["context"]


def _no_pair_message(rows: list) -> str:
    """Return the message about the first row that is no pair."""
    are_pairs = (isinstance(row, tuple | list) and len(row) == 2 for row in rows)
    number = next(i for i, is_pair in enumerate(are_pairs) if not is_pair)
    return f"row {number}: expected (question, context), or a dict with both, received {shown(rows[number])}"


def answer_texts(y: Any, examples: Sequence) -> list[list[str]]:
    """Return the texts of the right answers to each question; none for a question that its context does not answer.

    Args:
        y: Labels, as `QuestionAnswering` takes them.
        examples: The questions with their contexts.
    """
    return [[answer.text for answer in answers] for answers in right_answers(y, examples)]


def _position_scores(labels: Mapping[str, np.ndarray], raw_results: RawResults) -> dict[str, float]:
    start, end = _correct_positions(labels, raw_results)
    correct = {"exact match": start & end, "start accuracy": start, "end accuracy": end}
    return {name: float(rows.mean()) for name, rows in correct.items()}


def _correct_positions(labels: Mapping[str, np.ndarray], raw_results: RawResults) -> list[np.ndarray]:
    """Return whether the first and the last token of each row is right, two bool arrays `(rows,)`."""
    return [
        np.array([raw_result[name][0].argmax() for raw_result in raw_results]) == positions
        for name, positions in labels.items()
    ]


def _packed_labels(y: Any, features: Features) -> dict[str, np.ndarray]:
    """Return the positions of the first and the last token of packed rows, from a dict by output name or an array `(rows, 2)`."""
    names = QuestionAnswering.outputs
    if isinstance(y, Mapping):
        if set(y) != set(names):
            raise KerasBertError(f"expected targets {' and '.join(names)}, received {', '.join(map(str, y)) or 'none'}")
        for name in names:
            check_same_number(y[name], features.example, name)
        y = np.stack([np.asarray(y[name]) for name in names], axis=-1)
    check_same_number(y, features.example, "targets")
    y = np.asarray(y)
    if y.ndim != 2 or y.shape[1] != 2 or not np.issubdtype(y.dtype, np.integer):
        raise KerasBertError(
            f"expected whole numbers of shape (rows, 2), first and last token of each answer, received {y.dtype} {y.shape}"
        )
    lengths = np.inf if features.tokens is None else features.lengths[:, None]
    wrong = np.flatnonzero(((y < 0) | (y >= lengths)).any(axis=1))
    if wrong.size:
        raise KerasBertError(f"row {wrong[0]}: expected places of the row's tokens, received {y[wrong[0]].tolist()}")
    return {name: y[:, side].astype(np.int32) for side, name in enumerate(names)}
