"""Classification and regression: a text or a pair of texts to a class, several classes, or a score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerasbert.console.output import note
from kerasbert.data.class_numbers import classes_of_numbers
from kerasbert.data.label_sets import LabelRows, detect_separator
from kerasbert.data.labels import LabelSet
from kerasbert.data.reading import read_label_sets
from kerasbert.errors import KerasBertError
from kerasbert.files.record import setting
from kerasbert.processors import class_metrics, metrics
from kerasbert.processors.arrays import as_array
from kerasbert.processors.base import Processor, RawResults, check_same_number, concatenate
from kerasbert.processors.class_metrics import ClassMetrics
from kerasbert.processors.contributions import Contributions, Correlation, Ratio, most_frequent
from kerasbert.processors.display import Display, Record, likeliest_classes, pair_cell
from kerasbert.processors.features import Features
from kerasbert.processors.texts import check_form, text_examples, text_features
from kerasbert.text import Tokenizer


def _class_lines(record: Record) -> list[list[str]]:
    return [[record["label"], f"{record['score']:.4f}", record["text"], *pair_cell(record)]]


def _label_set_lines(record: Record) -> list[list[str]]:
    scores = "|".join(f"{record['probabilities'][name]:.4f}" for name in record["labels"])
    return [["|".join(record["labels"]), scores, record["text"], *pair_cell(record)]]


def _score_lines(record: Record) -> list[list[str]]:
    return [["score", f"{record['score']:.4f}", record["text"], *pair_cell(record)]]


@dataclass(frozen=True)
class TextProcessor(Processor):
    """The base of processors with one row and one output vector for each text or pair of texts.

    Attributes:
        paired: Whether the training data was pairs of texts; None if that is not known. Examples of the other form are errors.
    """

    paired: bool | None = setting(None, omitted_if_none=True)

    not_tokenized = ("paired",)

    def examples(self, x: Any) -> list:
        examples = text_examples(x)
        check_form(examples, self.paired)
        return examples

    def features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        return text_features(examples, tokenizer, length)

    def check_labels(self, y: Any, examples: Sequence) -> None:
        check_same_number(y, examples)
        self.numbers(y)

    def encode_labels(self, y: Any, examples: Sequence, features: Features) -> Any:
        check_same_number(y, examples)
        return self.numbers(y)

    def numbers(self, y: Any) -> np.ndarray:
        """Encode a user's labels as numbers, one entry for each text."""
        raise NotImplementedError

    def table(self, raw_results: RawResults) -> np.ndarray:
        """Return the outputs of all rows, `(rows, width)`."""
        return concatenate(raw_results, self.outputs[0])

    def class_names(self, width: int) -> tuple[str, ...]:
        """Return the names of the outputs: the labels, or else their numbers."""
        return self.labels or tuple(map(str, range(width)))

    @property
    def known_labels(self) -> tuple[str, ...]:
        """The labels.

        Raises:
            KerasBertError: When the processor has none.
        """
        if self.labels is None:
            raise KerasBertError(
                "expected a model that names its labels, received one without; convert or save it again"
            )
        return self.labels


@dataclass(frozen=True)
class SingleLabel(TextProcessor):
    """One class a text. Labels are names or class numbers; a number that may be either is an error.

    A text whose best class is less likely than `fallback_below` gets the label `fallback`. Labels of data may have that name too.

    Attributes:
        fallback: The label of texts that belong to no class; None without.
        fallback_below: The probability below which a text gets it; None if it was not chosen.
    """

    fallback: str | None = setting(None, omitted_if_none=True)
    fallback_below: float | None = setting(None, omitted_if_none=True, at_least=0, at_most=1)

    name = "single_label"
    outputs = ("probabilities",)
    learns_labels = True
    label_dtype = "int32"
    label_check = staticmethod(lambda label: LabelSet.check_label(label, 0))
    display = Display(
        ("label", "score", "text"), _class_lines, summary=lambda record: record["label"], limit=likeliest_classes
    )

    not_tokenized = (*TextProcessor.not_tokenized, "fallback", "fallback_below")

    def check(self) -> None:
        super().check()
        self.expect(self.fallback is not None or self.fallback_below is None, "fallback_below", "with a fallback")
        self.expect(self.fallback is None or bool(self.fallback), "fallback", "as a label")
        self.expect(self.fallback not in (self.labels or ()), "fallback", "as another name than the labels")

    @classmethod
    def label_names(cls, y: Any) -> tuple[str, ...]:
        check_one_kind(y)
        return LabelSet.from_values(y).names

    @property
    def known_labels(self) -> tuple[str, ...]:
        return super().known_labels + (() if self.fallback is None else (self.fallback,))

    def numbers(self, y: Any) -> np.ndarray:
        check_one_kind(y)
        y = as_array(y, "labels")
        if y.ndim != 1:
            raise KerasBertError(f"expected one label a text, received labels of shape {y.shape}")
        if y.dtype.kind not in "iuf":
            return LabelSet(self.known_labels).index([str(value) for value in y])
        classes = classes_of_numbers(self.known_labels, y.tolist(), range(len(y)), written=False)
        return np.array(classes, np.int32).reshape(-1)

    def predicted(self, outputs: np.ndarray) -> np.ndarray:
        """Return the number of the class that is predicted for each row of the outputs, `(rows,)`."""
        best = outputs.argmax(axis=1)
        return best if self.fallback_below is None else np.where(self._is_outside(outputs), outputs.shape[1], best)

    def _is_outside(self, outputs: np.ndarray) -> np.ndarray:
        return outputs.max(axis=1) < (self.fallback_below or 0)

    def predictions(self, examples: Sequence, features: Features, raw_results: RawResults) -> list:
        outputs = self.table(raw_results)
        return [self._prediction(row, best) for row, best in zip(outputs, self.predicted(outputs), strict=True)]

    def _prediction(self, row: np.ndarray, best: int) -> dict[str, Any]:
        names = self.class_names(len(row))
        probabilities = dict(zip(names, map(float, row), strict=True))
        label = names[best] if best < len(row) else self.fallback
        return {"label": label, "score": float(row.max()), "probabilities": probabilities}

    def metrics(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> dict[str, float]:
        """Compute accuracy and F1; with a fallback the accuracy of the classes' texts, and the share of the others that is found."""
        outputs = self.table(raw_results)
        truth, predicted = self.encode_labels(y, examples, features), self.predicted(outputs)
        if self.fallback is not None:
            return _metrics_with_fallback(truth, predicted, outputs.shape[1])
        accuracy = {"accuracy": metrics.accuracy(truth, predicted)}
        if outputs.shape[1] == 2:
            return {**accuracy, "F1": metrics.f1(truth == 1, predicted == 1), "MCC": metrics.matthews(truth, predicted)}
        return {**accuracy, "macro F1": metrics.macro_f1(truth, predicted)}

    def contributions(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> Contributions:
        outputs = self.table(raw_results)
        truth, predicted = self.encode_labels(y, examples, features), self.predicted(outputs)
        share, label = most_frequent(truth)
        return Ratio.of_decisions(truth == predicted, share, self.known_labels[label] if self.labels else str(label))

    def confidences(
        self, y: Any, examples: Sequence, features: Features, raw_results: RawResults
    ) -> tuple[np.ndarray, np.ndarray]:
        truth, outputs = self.encode_labels(y, examples, features), self.table(raw_results)
        return outputs.max(axis=1), truth == self.predicted(outputs)

    def class_metrics(
        self, y: Any, examples: Sequence, features: Features, raw_results: RawResults
    ) -> dict[str, ClassMetrics]:
        truth, outputs = self.encode_labels(y, examples, features), self.table(raw_results)
        names = self.class_names(outputs.shape[1]) if self.fallback is None else self.known_labels
        return class_metrics.of_classes(truth, self.predicted(outputs), names)


def _metrics_with_fallback(truth: np.ndarray, predicted: np.ndarray, classes: int) -> dict[str, float]:
    values, outside = {"accuracy": float(np.mean(truth == predicted))}, truth == classes
    if not outside.all():
        values["in-scope accuracy"] = float(np.mean((truth == predicted)[~outside]))
    if outside.any():
        values["out-of-scope recall"] = float(np.mean(predicted[outside] == classes))
    return values


@dataclass(frozen=True)
class MultiLabel(TextProcessor):
    """Any number of classes a text.

    Labels are a set for each text: a list of names or label numbers, or names in a text (see `kerasbert.data.label_sets.split_labels`). Or
    they are 0 and 1 of shape `(rows, classes)`. Files and Python agree.
    """

    name = "multi_label"
    outputs = ("probabilities",)
    compared_as = "multi_label"
    learns_labels = True
    label_dtype = "float32"
    label_rank = 2
    reader = staticmethod(read_label_sets)
    display = Display(
        ("label", "score", "text"),
        _label_set_lines,
        summary=lambda record: ", ".join(record["labels"]) or "none",
        limit=likeliest_classes,
    )

    @classmethod
    def label_names(cls, y: Any) -> tuple[str, ...]:
        names, rows = LabelSet.from_cells(y).names, LabelRows.read(y)
        texts = [cell for cell in rows.rows if isinstance(cell, str)]
        if (separator := detect_separator(texts)) in "".join(texts):
            note(f"note: labels are separated by {separator!r}; name another separator with --label-separator")
        if rows.width() is not None:
            note(
                f"note: labels are named {names[0]} to {names[-1]}, as lists of 0 and 1 have no names; name them with --labels"
            )
        return names

    def numbers(self, y: Any) -> np.ndarray:
        if not hasattr(y, "__len__") or isinstance(y, str | bytes | Mapping):
            raise KerasBertError(f"expected a list with the labels of each text, received {type(y).__name__}")
        return LabelSet(self.known_labels).multi_hot(y)

    def predictions(self, examples: Sequence, features: Features, raw_results: RawResults) -> list:
        return [self._prediction(row) for row in self.table(raw_results)]

    def _prediction(self, row: np.ndarray) -> dict[str, Any]:
        probabilities = dict(zip(self.class_names(len(row)), map(float, row), strict=True))
        return {"labels": [name for name, p in probabilities.items() if p >= 0.5], "probabilities": probabilities}

    def metrics(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> dict[str, float]:
        truth, outputs = self.encode_labels(y, examples, features), self.table(raw_results)
        same = ((outputs >= 0.5) == (truth > 0)).all(axis=1)
        return {"micro F1": metrics.micro_f1(truth, outputs), "exact match": float(np.mean(same))}

    def contributions(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> Contributions:
        truth, predicted = self.encode_labels(y, examples, features) > 0, self.table(raw_results) >= 0.5
        return Ratio(2 * (truth & predicted).sum(axis=1), truth.sum(axis=1) + predicted.sum(axis=1))

    def decisions(self, examples: Sequence, features: Features, raw_results: RawResults) -> list[tuple[bool, ...]]:
        order = np.argsort(self.known_labels)
        return [tuple(row) for row in (self.table(raw_results)[:, order] >= 0.5).tolist()]

    def class_metrics(
        self, y: Any, examples: Sequence, features: Features, raw_results: RawResults
    ) -> dict[str, ClassMetrics]:
        truth, predicted = self.encode_labels(y, examples, features) > 0, self.table(raw_results) >= 0.5
        return class_metrics.of_label_sets(truth, predicted, self.class_names(truth.shape[1]))


@dataclass(frozen=True)
class Regression(TextProcessor):
    """A number a text. Labels are numbers."""

    name = "regression"
    outputs = ("score",)
    compared_as = "regression"
    label_dtype = "float32"
    label_check = staticmethod(lambda label: LabelSet.to_scores([label]))
    display = Display(("label", "score", "text"), _score_lines)

    def numbers(self, y: Any) -> np.ndarray:
        return LabelSet.to_scores(y)

    def predictions(self, examples: Sequence, features: Features, raw_results: RawResults) -> list:
        return [{"score": float(row[0])} for row in self.table(raw_results)]

    def metrics(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> dict[str, float]:
        truth, predicted = self.encode_labels(y, examples, features), self.table(raw_results)[:, 0]
        return {"Spearman": metrics.spearman(truth, predicted), "Pearson": metrics.pearson(truth, predicted)}

    def contributions(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> Contributions:
        truth, predicted = self.encode_labels(y, examples, features), self.table(raw_results)[:, 0]
        return Correlation(metrics.ranks(truth), metrics.ranks(predicted))

    def decisions(self, examples: Sequence, features: Features, raw_results: RawResults) -> np.ndarray:
        return self.table(raw_results)[:, 0]


def check_one_kind(y: Any) -> None:
    """Check that labels are all names, or all numbers.

    Raises:
        KerasBertError: When they are mixed.
    """
    if isinstance(y, np.ndarray) and y.dtype != object:
        return
    kinds = [isinstance(value, str | bytes) for value in y]
    if any(kinds) and not all(kinds):
        name, number = kinds.index(True), kinds.index(False)
        raise KerasBertError(
            f"expected labels of one type, received {y[name]!r} in row {name} and {y[number]!r} in row {number}"
        )
