"""A text or a pair of texts to a class, several classes, or a score."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kerasbert.data.labels import LabelSet
from kerasbert.errors import KerasBertError
from kerasbert.processors import class_scores, metrics
from kerasbert.processors.base import Processor, joined, same_number
from kerasbert.processors.contributions import Correlation, Ratio, most_frequent
from kerasbert.processors.texts import text_examples, text_rows_of


@dataclass(frozen=True)
class _TextProblem(Processor):
    """One row and one output vector a text."""

    def examples(self, x):
        return text_examples(x)

    def rows(self, examples, tokenizer, length):
        return text_rows_of(examples, tokenizer, length)

    def check(self, y, examples):
        self.targets(y, examples, None)

    def targets(self, y, examples, rows):
        same_number(y, examples)
        return self.numbers(y)

    def numbers(self, y) -> np.ndarray:
        """Labels as they are written to numbers."""
        raise NotImplementedError

    def table(self, readings) -> np.ndarray:
        """(rows, width)."""
        return joined(readings, self.outputs[0])


@dataclass(frozen=True)
class SingleLabel(_TextProblem):
    """One class a text. y: names or class numbers."""

    name = "single_label"
    outputs = ("probabilities",)

    @classmethod
    def label_names(cls, y):
        check_one_kind(y)
        return LabelSet.from_values(y).names

    def numbers(self, y):
        check_one_kind(y)
        y = np.asarray(y)
        if y.ndim != 1:
            raise KerasBertError(f"expected one label a text, received labels of shape {y.shape}")
        if not np.issubdtype(y.dtype, np.integer):
            return LabelSet(self.labels).index([str(value) for value in y])
        wrong = np.flatnonzero((y < 0) | (y >= len(self.labels)))
        if wrong.size:
            raise KerasBertError(
                f"row {wrong[0]}: expected a class number from 0 to {len(self.labels) - 1}, received {y[wrong[0]]}"
            )
        return y.astype(np.int32)

    def answers(self, examples, rows, readings):
        return [self._answer(row) for row in self.table(readings)]

    def _answer(self, row: np.ndarray) -> dict:
        best = int(row.argmax())
        names = self.labels or tuple(map(str, range(len(row))))
        probabilities = dict(zip(names, map(float, row), strict=True))
        return {"label": names[best], "score": float(row[best]), "probabilities": probabilities}

    def scores(self, y, examples, rows, readings):
        outputs = self.table(readings)
        truth, found = self.targets(y, examples, rows), outputs.argmax(axis=1)
        accuracy = {"accuracy": metrics.accuracy(truth, found)}
        if outputs.shape[1] == 2:
            return {**accuracy, "F1": metrics.f1(truth == 1, found == 1), "MCC": metrics.matthews(truth, found)}
        return {**accuracy, "macro F1": metrics.macro_f1(truth, found)}

    def contributions(self, y, examples, rows, readings):
        truth, found = self.targets(y, examples, rows), self.table(readings).argmax(axis=1)
        share, label = most_frequent(truth)
        return Ratio.of_decisions(truth == found, share, self.labels[label] if self.labels else str(label))

    def class_scores(self, y, examples, rows, readings):
        outputs = self.table(readings)
        names = self.labels or tuple(map(str, range(outputs.shape[1])))
        return class_scores.of_classes(self.targets(y, examples, rows), outputs.argmax(axis=1), names)


@dataclass(frozen=True)
class MultiLabel(_TextProblem):
    """Any number of classes a text. y: label sets (see `kerasbert.data.labels.split_labels`), or 0/1 of shape (rows, classes)."""

    name = "multi_label"
    outputs = ("probabilities",)
    compared_as = "multi_label"

    @classmethod
    def label_names(cls, y):
        return LabelSet.from_cells(y).names

    def numbers(self, y):
        if all(isinstance(row, str) for row in y):
            return LabelSet(self.labels).multi_hot(y)
        if all(isinstance(row, list | tuple | set) and all(isinstance(name, str) for name in row) for row in y):
            return LabelSet(self.labels).multi_hot([json.dumps(list(row)) for row in y])
        y = np.asarray(y, np.float32)
        if y.ndim != 2 or y.shape[1] != len(self.labels):
            raise KerasBertError(
                f"expected label sets, or 0/1 of shape (rows, {len(self.labels)}), received shape {y.shape}"
            )
        return y

    def answers(self, examples, rows, readings):
        return [self._answer(row) for row in self.table(readings)]

    def _answer(self, row: Sequence[float]) -> dict:
        names = self.labels or tuple(map(str, range(len(row))))
        probabilities = dict(zip(names, map(float, row), strict=True))
        return {"labels": [name for name, p in probabilities.items() if p >= 0.5], "probabilities": probabilities}

    def scores(self, y, examples, rows, readings):
        truth, outputs = self.targets(y, examples, rows), self.table(readings)
        same = ((outputs >= 0.5) == (truth > 0)).all(axis=1)
        return {"micro F1": metrics.micro_f1(truth, outputs), "exact match": float(np.mean(same))}

    def contributions(self, y, examples, rows, readings):
        truth, found = self.targets(y, examples, rows) > 0, self.table(readings) >= 0.5
        return Ratio(2 * (truth & found).sum(axis=1), truth.sum(axis=1) + found.sum(axis=1))

    def class_scores(self, y, examples, rows, readings):
        truth, found = self.targets(y, examples, rows) > 0, self.table(readings) >= 0.5
        return class_scores.of_label_sets(truth, found, self.labels or tuple(map(str, range(truth.shape[1]))))


@dataclass(frozen=True)
class Regression(_TextProblem):
    """A number a text. y: numbers."""

    name = "regression"
    outputs = ("score",)
    compared_as = "regression"

    def numbers(self, y):
        return LabelSet.to_scores(y)

    def answers(self, examples, rows, readings):
        return [{"score": float(row[0])} for row in self.table(readings)]

    def scores(self, y, examples, rows, readings):
        truth, found = self.targets(y, examples, rows), self.table(readings)[:, 0]
        return {"Spearman": metrics.spearman(truth, found), "Pearson": metrics.pearson(truth, found)}

    def contributions(self, y, examples, rows, readings):
        sides = self.targets(y, examples, rows), self.table(readings)[:, 0]
        return Correlation(*map(metrics.ranks, sides))


def check_one_kind(y) -> None:
    """Raises KerasBertError for labels of which some are names and others numbers."""
    if isinstance(y, np.ndarray) and y.dtype != object:
        return
    kinds = [isinstance(value, str | bytes) for value in y]
    if any(kinds) and not all(kinds):
        name, number = kinds.index(True), kinds.index(False)
        raise KerasBertError(
            f"expected labels of one type, received {y[name]!r} in row {name} and {y[number]!r} in row {number}"
        )
