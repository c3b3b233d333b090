"""A tag for every word of a sentence, and the entities that tags mark."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.processors import class_scores
from kerasbert.processors.base import Processor, same_number
from kerasbert.processors.contributions import Ratio, most_frequent
from kerasbert.processors.features import IGNORED, Rows
from kerasbert.processors.token_classification.entities import (  # fmt: skip
    OUTSIDE,
    Span,
    entity_counts,
    entity_scores,
    scheme_of,
    spans,
    stretched,
)
from kerasbert.processors.token_classification.word_windows import leads, word_rows
from kerasbert.processors.token_classification.written_tags import (
    check_list,
    in_order,
    is_number,
    tags_of_entities,
    written_tags,
)
from kerasbert.processors.words import Words, words_of
from kerasbert.text.strings import as_strings

_LISTED = 12


@dataclass(frozen=True)
class Tagging(Processor):
    """A class a word (Devlin et al. 2018, section 5.3).

    x: sentences, each a list of its words, or raw texts, which are split as `kerasbert.processors.words.words_of` says. Words are joined by
    single spaces and read as any text is, so both ways give the same tokens.
    y: of each sentence a list with one tag a word, by name or number; of a raw text also a list of its entities, dicts of `start`, `end` in
    characters of the text as it is given, and `label`.

    A row is `[CLS] tokens [SEP]`. A word is read on its first token; words that share a token, on the first one's tag. Training has a
    target on that token, and where a raw text would have several words (`U.S.`) of an entity, on the first token of each of these pieces:
    else a model that was trained on words would meet tokens in a raw text of which it learned nothing. A sentence that is too long has
    several rows, windows that overlap, and each word belongs to the one in which it has most context. `rows.places` holds a `WordWindow` a
    row. A reading is `probabilities` (n, labels), of the words that the row speaks for, or of packed inputs, of all tokens.

    Settings:
      stride: tokens from the begin of a window to the next one's, at most those of a window. By default windows overlap by a third of a
        row, but not by more than half of themselves.
    """

    stride: int | None = None

    name = "tagging"
    outputs = ("probabilities",)

    def __post_init__(self):
        whole = isinstance(self.stride, int) and not isinstance(self.stride, bool) and self.stride >= 1
        if self.stride is not None and not whole:
            raise KerasBertError(f"expected stride as a whole number of tokens, at least 1, received {self.stride!r}")

    @classmethod
    def label_names(cls, y):
        """`O` first, then by label; tags in IOB come in pairs `B-`, `I-`, since data that lacks one of them is just small."""
        values = {value for number, row in enumerate(y) for value in written_tags(row, number)}
        if values and all(map(is_number, values)):
            names = tuple(map(str, range(int(max(values)) + 1)))
        else:
            names = in_order({str(value) for value in values})
        if len(names) < 2:
            raise KerasBertError(f"expected two or more different tags, received {', '.join(names) or 'none'} alone")
        return names

    def check(self, y, examples):
        self._numbers(y, examples)

    def examples(self, x):
        """Texts, or tuples of words."""
        if isinstance(x, str | bytes | Mapping) or not isinstance(x, Iterable):
            raise KerasBertError(
                f"expected a list of sentences or texts, received {type(x).__name__}. Put it in a list"
            )
        return [_example(value, row) for row, value in enumerate(x)]

    def rows(self, examples, tokenizer, length):
        return word_rows([words_of(example) for example in examples], tokenizer, length, self.stride)

    def targets(self, y, examples, rows):
        if not len(rows.places):
            return self._packed_targets(y, rows)
        numbers, inner = self._numbers(y, examples), self._inner()
        found = [np.full(length, IGNORED, np.int32) for length in rows.lengths]
        for row, window, number in zip(found, rows.places, rows.example, strict=True):
            classes = _of_pieces(numbers[number], window.sentence, inner)[window.pieces]
            own = leads(window.piece_places)
            row[window.piece_places[own]] = classes[own]
        return found

    def read(self, outputs, rows, row):
        probabilities = outputs["probabilities"]
        if not len(rows.places):
            return {"probabilities": probabilities[: rows.lengths[row]]}
        return {"probabilities": probabilities[rows.places[row].places]}

    def answers(self, examples, rows, readings):
        """Of each sentence `words`, `tags`, and `entities`: `label`, `text`, `start` and `end` in characters, and `score`, the mean of the
        probabilities of its words' tags. The characters are those of the text, or of the words joined by single spaces.
        """
        return [self._answer([rows.places[i] for i in of], [readings[i] for i in of]) for of in rows.by_example()]

    def scores(self, y, examples, rows, readings):
        """See `entity_scores`; where no tag has a prefix (parts of speech) the first is `tag accuracy`. Of packed inputs, over the tokens
        that have a target.
        """
        scores = entity_scores(*self._tags(y, examples, rows, readings))
        if self._scheme is not None:
            return scores
        return {name: scores[name] for name in sorted(scores, key=lambda name: name != "tag accuracy")}

    def contributions(self, y, examples, rows, readings):
        truth, found = self._tags(y, examples, rows, readings)
        if self._scheme is not None:
            counts = np.array([entity_counts(*pair) for pair in zip(truth, found, strict=True)], np.float64)
            return Ratio(2 * counts[:, 2], counts[:, 0] + counts[:, 1])
        same = [sum(map(str.__eq__, *pair)) for pair in zip(truth, found, strict=True)]
        share, tag = most_frequent([tag for row in truth for tag in row])
        return Ratio(np.array(same, np.float64), np.array([len(row) for row in truth], np.float64), share, str(tag))

    def class_scores(self, y, examples, rows, readings):
        tags = self._tags(y, examples, rows, readings)
        return class_scores.of_tags(*tags) if self._scheme is None else class_scores.of_entities(*tags)

    def _tags(self, y, examples, rows: Rows, readings) -> tuple[list[list[str]], list[list[str]]]:
        """Of each sentence the right tags and those found, by name; of packed inputs, those of the tokens that have a target."""
        if len(rows.places):
            truth = [self._names(row) for row in self._numbers(y, examples)]
            return truth, [answer["tags"] for answer in self.answers(examples, rows, readings)]
        targets = self._packed_targets(y, rows)
        best = [reading["probabilities"].argmax(axis=1) for reading in readings]
        sides = (
            [self._names(row[t != IGNORED]) for row, t in zip(side, targets, strict=True)] for side in (targets, best)
        )
        return tuple(sides)

    def _names(self, numbers: np.ndarray) -> list[str]:
        return [str(number) if self.labels is None else self.labels[number] for number in numbers.tolist()]

    def _answer(self, windows: Sequence, readings: Sequence) -> dict:
        sentence = windows[0].sentence
        tags, scores = [self._outside()] * len(sentence), np.ones(len(sentence))
        for window, reading in zip(windows, readings, strict=True):
            if not len(window.words):
                continue
            probabilities = reading["probabilities"]
            scores[window.words] = probabilities.max(axis=1)
            names = self._names(probabilities.argmax(axis=1))
            begins = np.flatnonzero(leads(window.places)).tolist()
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
        same_number(y, examples, "lists of tags")
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

    def _packed_targets(self, y, rows: Rows) -> list[np.ndarray]:
        """Class numbers of tokens, `IGNORED` where there is none, as far as the rows have tokens."""
        same_number(y, rows.example, "rows of class numbers")
        lengths = [len(row) for row in y] if rows.tokens is None else rows.lengths
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
