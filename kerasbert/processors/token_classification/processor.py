"""Token classification: a tag for every word of a sentence, and the entities that tags mark."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kerasbert.data.reading import read_tags
from kerasbert.errors import KerasBertError
from kerasbert.processors import class_metrics
from kerasbert.processors.base import Processor, RawResult, check_same_number
from kerasbert.processors.class_metrics import ClassMetrics
from kerasbert.processors.contributions import Contributions, Ratio, most_frequent
from kerasbert.processors.display import Display, Record
from kerasbert.processors.features import IGNORED, Features
from kerasbert.processors.token_classification.entities import (  # fmt: skip
    OUTSIDE,
    Span,
    entity_counts,
    entity_scores,
    scheme_of,
    spans,
    stretched,
)
from kerasbert.processors.token_classification.word_windows import leads, word_features
from kerasbert.processors.token_classification.written_tags import (
    check_list,
    in_order,
    is_number,
    tags_of_entities,
    written_tags,
)
from kerasbert.processors.words import Words, words_of
from kerasbert.text import Tokenizer
from kerasbert.text.strings import as_strings

_LISTED = 12


def _fields(example: str | Sequence[str]) -> dict[str, Any]:
    return {"text": example if isinstance(example, str) else " ".join(example)}


def _lines(record: Record) -> list[list[str]]:
    """A line an entity; a text without any has one line."""
    return [
        [
            entity["label"],
            f"{entity['score']:.4f}",
            entity["text"],
            f"{entity['start']}-{entity['end']}",
            record["text"],
        ]
        for entity in record["entities"]
    ] or [["-", "", "", "", record["text"]]]


def _summary(record: Record) -> str:
    if not record["entities"] and set(record["tags"]) - {OUTSIDE}:
        return " ".join(record["tags"])
    return ", ".join(f"{entity['label']}: {entity['text']}" for entity in record["entities"]) or "none"


@dataclass(frozen=True)
class Tagging(Processor):
    """A class a word (Devlin et al. 2018, section 5.3).

    Examples are sentences, each a list of its words, or raw texts, which are split as `kerasbert.processors.words.words_of` does it. Words
    are joined by single spaces and tokenized as any text is, so both ways give the same tokens. A label is a list with one tag a word, by
    name or number; of a raw text also a list of its entities, dicts of `start`, `end` in characters of the text, and `label`.

    A row is `[CLS] tokens [SEP]`. A word is classified on its first token; words that share a token share the first one's tag. Training
    labels that token. Where a raw text would have several words (`U.S.`) of an entity, it labels the first token of each of these pieces
    as well: a model that was trained on words would otherwise meet tokens in raw texts of which it learned nothing.

    A sentence that is too long has several rows, windows that overlap. Each word belongs to the window in which it has most context.
    `features.alignment` has a `WordWindow` a row. A raw result is `probabilities` `(n, labels)` of the row's words; of packed inputs, of
    all tokens.

    Attributes:
        stride: Tokens from the start of a window to that of the next one, at most those of a window. By default windows overlap by a third
            of a row, but not by more than half of themselves.
    """

    stride: int | None = None

    name = "tagging"
    outputs = ("probabilities",)
    output_rank = 3
    per_token = True
    second_input = "none"
    learns_labels = True
    reader = staticmethod(read_tags)
    display = Display(("label", "score", "entity", "characters", "text"), _lines, _fields, _summary)

    def __post_init__(self):
        whole = isinstance(self.stride, int) and not isinstance(self.stride, bool) and self.stride >= 1
        if self.stride is not None and not whole:
            raise KerasBertError(f"expected stride as a whole number of tokens, at least 1, received {self.stride!r}")

    @classmethod
    def label_names(cls, y: Any) -> tuple[str, ...]:
        """`O` first, then by label; tags in IOB come in pairs `B-`, `I-`, since data that lacks one of them is just small."""
        values = {value for number, row in enumerate(y) for value in written_tags(row, number)}
        if values and all(map(is_number, values)):
            names = tuple(map(str, range(int(max(values)) + 1)))
        else:
            names = in_order({str(value) for value in values})
        if len(names) < 2:
            raise KerasBertError(f"expected two or more different tags, received {', '.join(names) or 'none'} alone")
        return names

    def check_labels(self, y: Any, examples: Sequence) -> None:
        self._numbers(y, examples)

    def examples(self, x: Any) -> list:
        """Texts, or tuples of words."""
        if isinstance(x, str | bytes | Mapping) or not isinstance(x, Iterable):
            raise KerasBertError(
                f"expected a list of sentences or texts, received {type(x).__name__}; put it in a list"
            )
        return [_example(value, row) for row, value in enumerate(x)]

    def features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        return word_features([words_of(example) for example in examples], tokenizer, length, self.stride)

    def encode_labels(self, y: Any, examples: Sequence, features: Features) -> Any:
        if not len(features.alignment):
            return self._packed_targets(y, features)
        numbers, inner = self._numbers(y, examples), self._inner()
        found = [np.full(length, IGNORED, np.int32) for length in features.lengths]
        for row, window, number in zip(found, features.alignment, features.example, strict=True):
            classes = _of_pieces(numbers[number], window.sentence, inner)[window.pieces]
            own = leads(window.piece_positions)
            row[window.piece_positions[own]] = classes[own]
        return found

    def raw_result(self, outputs: RawResult, features: Features, row: int) -> RawResult:
        probabilities = outputs["probabilities"]
        if not len(features.alignment):
            return {"probabilities": probabilities[: features.lengths[row]]}
        return {"probabilities": probabilities[features.alignment[row].positions]}

    def predictions(self, examples: Sequence, features: Features, raw_results: Sequence[RawResult]) -> list:
        """Of each sentence `words`, `tags`, and `entities`: `label`, `text`, `start` and `end` in characters, and `score`, the mean of the
        probabilities of its words' tags. The characters are those of the text, or of the words joined by single spaces.
        """
        return [
            self._answer([features.alignment[i] for i in of], [raw_results[i] for i in of])
            for of in features.by_example()
        ]

    def metrics(
        self, y: Any, examples: Sequence, features: Features, raw_results: Sequence[RawResult]
    ) -> dict[str, float]:
        """See `entity_scores`; where no tag has a prefix (parts of speech) the first is `tag accuracy`. Of packed inputs, over the tokens
        that have a target.
        """
        scores = entity_scores(*self._tags(y, examples, features, raw_results))
        if self._scheme is not None:
            return scores
        return {name: scores[name] for name in sorted(scores, key=lambda name: name != "tag accuracy")}

    def contributions(
        self, y: Any, examples: Sequence, features: Features, raw_results: Sequence[RawResult]
    ) -> Contributions:
        truth, found = self._tags(y, examples, features, raw_results)
        if self._scheme is not None:
            counts = np.array([entity_counts(*pair) for pair in zip(truth, found, strict=True)], np.float64)
            return Ratio(2 * counts[:, 2], counts[:, 0] + counts[:, 1])
        same = [sum(map(str.__eq__, *pair)) for pair in zip(truth, found, strict=True)]
        share, tag = most_frequent([tag for row in truth for tag in row])
        return Ratio(np.array(same, np.float64), np.array([len(row) for row in truth], np.float64), share, str(tag))

    def class_metrics(
        self, y: Any, examples: Sequence, features: Features, raw_results: Sequence[RawResult]
    ) -> dict[str, ClassMetrics]:
        tags = self._tags(y, examples, features, raw_results)
        return class_metrics.of_tags(*tags) if self._scheme is None else class_metrics.of_entities(*tags)

    def _tags(self, y, examples, features: Features, raw_results) -> tuple[list[list[str]], list[list[str]]]:
        """Of each sentence the right tags and those found, by name; of packed inputs, those of the tokens that have a target."""
        if len(features.alignment):
            truth = [self._names(row) for row in self._numbers(y, examples)]
            return truth, [answer["tags"] for answer in self.predictions(examples, features, raw_results)]
        targets = self._packed_targets(y, features)
        best = [raw_result["probabilities"].argmax(axis=1) for raw_result in raw_results]
        sides = (
            [self._names(row[t != IGNORED]) for row, t in zip(side, targets, strict=True)] for side in (targets, best)
        )
        return tuple(sides)

    def _names(self, numbers: np.ndarray) -> list[str]:
        return [str(number) if self.labels is None else self.labels[number] for number in numbers.tolist()]

    def _answer(self, windows: Sequence, raw_results: Sequence) -> dict:
        sentence = windows[0].sentence
        tags, scores = [self._outside()] * len(sentence), np.ones(len(sentence))
        for window, raw_result in zip(windows, raw_results, strict=True):
            if not len(window.words):
                continue
            probabilities = raw_result["probabilities"]
            scores[window.words] = probabilities.max(axis=1)
            names = self._names(probabilities.argmax(axis=1))
            begins = np.flatnonzero(leads(window.positions)).tolist()
            for begin, end in zip(begins, [*begins[1:], len(names)], strict=True):
                for place, tag in enumerate(self._stretched(names[begin], end - begin), begin):
                    tags[window.words[place]] = tag
        found = [_entity(sentence, span, scores) for span in spans(tags)] if self._marks_entities() else []
        return {"words": list(sentence.words), "tags": tags, "entities": found}

    def _inner(self) -> np.ndarray:
        """The classes of a first, a middle and a last piece of a word of each class, (labels, 3); `IGNORED` where no label says it."""
        index = {name: number for number, name in enumerate(self.labels or ())}
        found = [[index.get(tag, IGNORED) for tag in self._stretched(name, 3)] for name in index]
        found = np.array(found, np.int32).reshape(-1, 3)
        found[:, 0] = np.where(found[:, 0] == IGNORED, np.arange(len(found)), found[:, 0])
        if self._scheme is not None and OUTSIDE in index:
            # An address or a number has dozens of pieces: as targets they drown the entities (WNUT-17, entity F1: 0.28 with them, 0.38).
            found[index[OUTSIDE], 1:] = IGNORED
        return found

    def _outside(self) -> str:
        """The tag of words without tokens; where there is no `O` the first one."""
        labels = self.labels or (OUTSIDE,)
        return OUTSIDE if OUTSIDE in labels else labels[0]

    def _marks_entities(self) -> bool:
        return OUTSIDE in (self.labels or ()) or self._scheme is not None

    @cached_property
    def _scheme(self) -> str | None:
        """How the labels mark entities; None where they do not."""
        return scheme_of([self.labels or ()])

    def _stretched(self, tag: str, words: int) -> list[str]:
        return [tag] * words if self._scheme is None else stretched(tag, words)

    def _numbers(self, y, examples: Sequence) -> list[np.ndarray]:
        """Of each sentence the class numbers of its words, int32."""
        check_same_number(y, examples, "lists of tags")
        index = {name: number for number, name in enumerate(self.labels or ())}
        scheme = self._scheme or "iob2"
        return [
            self._of_sentence(tags, example, row, index, "iob2" if scheme == "iob1" else scheme)
            for row, (tags, example) in enumerate(zip(y, examples, strict=True))
        ]

    def _of_sentence(self, tags, example, row: int, index: Mapping[str, int], scheme: str) -> np.ndarray:
        check_list(tags, row)
        if any(isinstance(tag, Mapping) for tag in tags) or (isinstance(example, str) and not len(tags)):
            tags = tags_of_entities(tags, words_of(example), row, scheme)
        words = len(words_of(example)) if isinstance(example, str) else len(example)
        if len(tags) != words:
            raise KerasBertError(f"row {row}: expected one tag a word, received {len(tags)} tags for {words} words")
        return np.array([self._number(tag, row, index) for tag in tags], np.int32)

    def _number(self, tag, row: int, index: Mapping[str, int]) -> int:
        if is_number(tag):
            if not 0 <= tag < (np.inf if self.labels is None else len(self.labels)):
                raise KerasBertError(
                    f"row {row}: expected class numbers from 0 to {len(self.labels or ()) - 1}, received {tag}"
                )
            return int(tag)
        if str(tag) not in index:
            more = ", ..." if len(index) > _LISTED else ""
            raise KerasBertError(
                f"row {row}: expected a tag among {', '.join(list(index)[:_LISTED])}{more}, received {str(tag)!r}"
            )
        return index[str(tag)]

    def _packed_targets(self, y, features: Features) -> list[np.ndarray]:
        """Class numbers of tokens, `IGNORED` where there is none, as far as the rows have tokens."""
        check_same_number(y, features.example, "rows of class numbers")
        lengths = [len(row) for row in y] if features.tokens is None else features.lengths
        found = [np.asarray(row) for row in y]
        classes = np.inf if self.labels is None else len(self.labels)
        for number, (row, length) in enumerate(zip(found, lengths, strict=True)):
            if row.ndim != 1 or len(row) < length or not (np.issubdtype(row.dtype, np.integer) or not len(row)):
                raise KerasBertError(
                    f"row {number}: expected a class number for each of {length} tokens, received {row.dtype} {row.shape}"
                )
            wrong = row[(row != IGNORED) & ((row < 0) | (row >= classes))]
            if wrong.size:
                raise KerasBertError(
                    f"row {number}: expected class numbers from 0 to {classes - 1}, or {IGNORED} for none, received {wrong[0]}"
                )
        return [row[:length].astype(np.int32) for row, length in zip(found, lengths, strict=True)]


def _example(value, row: int) -> str | tuple[str, ...]:
    try:
        if isinstance(value, str | bytes):
            return as_strings([value])[0]
        return tuple(as_strings(value, "words"))
    except KerasBertError as error:
        raise KerasBertError(f"row {row}: {error}") from None


def _of_pieces(numbers: np.ndarray, sentence: Words, inner: np.ndarray) -> np.ndarray:
    """The classes of a sentence's pieces, from those of its words."""
    owners = sentence.owners
    first, last = leads(owners), leads(owners[::-1])[::-1]
    if not len(inner):  # nothing tells what the classes are
        return np.where(first, numbers[owners], IGNORED)
    column = np.where(first, 0, np.where(last, 2, 1))
    return np.where(first & last, numbers[owners], inner[numbers[owners], column])


def _entity(sentence: Words, span: Span, scores: np.ndarray) -> dict:
    start, end = int(sentence.starts[span.first]), int(sentence.ends[span.end - 1])
    score = float(scores[span.first : span.end].mean())
    return {"label": span.label, "text": sentence.text[start:end], "start": start, "end": end, "score": score}
