"""Several heads on one encoder: a text to a class and to a tag for each word, from one pass."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from kerasbert.arguments import shown
from kerasbert.data.joint import read_joint
from kerasbert.errors import KerasBertError
from kerasbert.files.record import setting
from kerasbert.processors.base import Processor, RawResult, RawResults, check_same_number
from kerasbert.processors.classification import SingleLabel
from kerasbert.processors.display import Display, Record
from kerasbert.processors.features import Features
from kerasbert.processors.tagging import Tagging
from kerasbert.processors.texts import text_features
from kerasbert.text import Tokenizer

KINDS: dict[str, type[SingleLabel | Tagging]] = {"classification": SingleLabel, "tagging": Tagging}
_KEYS = {"task", "labels", "head", "head_settings"}
_OUTPUT = "probabilities"  # of each part by itself


def _lines(record: Record) -> list[list[str]]:
    return [[name, _summary(value), record["text"]] for name, value in record.items() if isinstance(value, dict)]


def _summary(prediction: Mapping[str, Any]) -> str:
    if "label" in prediction:
        return prediction["label"]
    entities = ", ".join(f"{entity['label']}: {entity['text']}" for entity in prediction["entities"])
    return entities or " ".join(prediction["tags"])


def _fields(example: str | Sequence[str]) -> dict[str, Any]:
    return {"text": example if isinstance(example, str) else " ".join(example)}


@dataclass(frozen=True)
class Joint(Processor):
    """A class a text and a tag a word by several heads, each under its name.

    Examples are those of `Tagging`: texts, or lists of words. Labels are a dict with those of each head. A text that is too long for tags
    has several rows; its class is that of the first one.

    Attributes:
        heads: `task` (`classification` or `tagging`) and `labels` of each head, by the name of its output.
    """

    heads: dict = setting(dict, hash=False)

    name = "joint"
    output_rank = 3
    per_token = True
    second_input = "none"
    reader = staticmethod(read_joint)
    display = Display(("head", "prediction", "text"), _lines, _fields)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.heads, Mapping) or not self.heads or not all(map(self._is_head, self.heads.items())):
            raise KerasBertError(
                f"expected heads by name, such as {{'intent': {{'task': 'classification', 'labels': [...]}}}}, received "
                f"{shown(self.heads)}; each has a task ({' or '.join(KINDS)}) and two or more labels"
            )

    @staticmethod
    def _is_head(item: tuple[Any, Any]) -> bool:
        name, head = item
        if not isinstance(name, str) or not name.isidentifier() or not isinstance(head, Mapping):
            return False
        labels = head.get("labels")
        if unread := head.keys() - _KEYS:
            raise KerasBertError(
                f"expected the head {name!r} with {', '.join(sorted(_KEYS))}, received {shown(min(map(str, unread)))} too; leave it out"
            )
        if head.get("task") not in KINDS or not isinstance(labels, list | tuple):
            return False
        return all(isinstance(label, str) for label in labels) and len(set(labels)) == len(labels) >= 2

    @classmethod
    def settings_of(cls, y: Any) -> dict[str, Any]:
        rows: list[Mapping[str, Any]] = list(y or ())
        heads: dict[str, Any] = {}
        for name in dict.fromkeys(key for row in rows for key in row):
            values = [row[name] for row in rows if name in row]
            kind: type[Processor] = Tagging if isinstance(values[0], list) else SingleLabel
            task = next(name for name, each in KINDS.items() if each is kind)
            names = kind.label_names(values) or ()
            heads[name] = {"task": task, "labels": list(names)}
        return {"heads": heads}

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the heads, which are those of the file's outputs."""
        return tuple(self.heads)

    @cached_property
    def parts(self) -> dict[str, SingleLabel | Tagging]:
        """The processor of each head."""
        return {name: KINDS[head["task"]](labels=tuple(head["labels"])) for name, head in self.heads.items()}

    @cached_property
    def _tagging(self) -> Tagging | None:
        return next((part for part in self.parts.values() if isinstance(part, Tagging)), None)

    def output_form(self, name: str) -> tuple[int, bool, int | None]:
        part = self.parts[name]
        return part.output_rank, part.per_token, len(part.labels or ())

    def examples(self, x: Any) -> list:
        return (self._tagging or SingleLabel()).examples(x)

    def features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        if self._tagging is None:
            return text_features(examples, tokenizer, length)
        return self._tagging.features(examples, tokenizer, length)

    def check_labels(self, y: Any, examples: Sequence) -> None:
        for name, part in self.parts.items():
            part.check_labels(self._labels(y)[name], examples)

    def encode_labels(self, y: Any, examples: Sequence, features: Features) -> dict[str, Any]:
        encoded = {}
        for name, part in self.parts.items():
            labels = self._labels(y)[name]
            if isinstance(part, Tagging):
                encoded[name] = part.encode_labels(labels, examples, features)
            else:
                check_same_number(labels, examples)
                encoded[name] = part.numbers(labels)[features.example]
        return encoded

    def _labels(self, y: Any) -> Mapping[str, Any]:
        if isinstance(y, list | tuple) and y and all(isinstance(row, Mapping) for row in y):  # those of a file
            y = {name: [row.get(name) for row in y] for name in dict.fromkeys(key for row in y for key in row)}
        if not isinstance(y, Mapping) or set(y) != set(self.heads):
            received = f"a dict with {', '.join(map(str, y))[:100]}" if isinstance(y, Mapping) else type(y).__name__
            raise KerasBertError(
                f"expected labels as a dict with those of {' and '.join(self.heads)}, received {received}; give one list a head"
            )
        return y

    def raw_result(self, outputs: RawResult, features: Features, row: int) -> RawResult:
        return {
            name: part.raw_result({_OUTPUT: outputs[name]}, features, row)[_OUTPUT] for name, part in self.parts.items()
        }

    def _of_part(self, name: str, features: Features, raw_results: RawResults) -> list[RawResult]:
        """Return the raw results of one head under the name that its processor knows; of a class, those of first rows."""
        rows = range(len(raw_results))
        if not isinstance(self.parts[name], Tagging):
            rows = [group[0] for group in features.by_example()]
        return [{_OUTPUT: raw_results[row][name]} for row in rows]

    def predictions(self, examples: Sequence, features: Features, raw_results: RawResults) -> list:
        by_head = {
            name: part.predictions(examples, features, self._of_part(name, features, raw_results))
            for name, part in self.parts.items()
        }
        return [dict(zip(by_head, values, strict=True)) for values in zip(*by_head.values(), strict=True)]

    def decisions(self, examples: Sequence, features: Features, raw_results: RawResults) -> list[tuple[Any, ...]]:
        by_head = [
            self.parts[name].decisions(examples, features, self._of_part(name, features, raw_results))
            for name in sorted(self.parts)
        ]
        return [tuple(chain.from_iterable(each)) for each in zip(*by_head, strict=True)]

    def metrics(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> dict[str, float]:
        """Compute the metrics of all heads; the first is the mean of the first of each."""
        scores = {
            name: part.metrics(self._labels(y)[name], examples, features, self._of_part(name, features, raw_results))
            for name, part in self.parts.items()
        }
        mean = sum(next(iter(values.values())) for values in scores.values()) / len(scores)
        return {
            "mean": mean,
            **{f"{name} {key}": value for name, each in scores.items() for key, value in each.items()},
        }
