"""The tags of a model: their names, their scheme, and the encoding of labels as class numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kerasbert.arguments import shown
from kerasbert.data.class_numbers import NUMBER, classes_of_numbers
from kerasbert.data.entities import (
    OTHER_OUTSIDE,
    OUTSIDE,
    expand_tag,
    is_prefixed,
    scheme_of,
    spans,
    tags_of,
)
from kerasbert.errors import KerasBertError
from kerasbert.processors.base import check_same_number
from kerasbert.processors.features import IGNORED, Features
from kerasbert.processors.words import words_of
from kerasbert.processors.written_tags import check_list, is_list, tags_of_entities
from kerasbert.values import is_whole_number

_LISTED = 12  # tags that an error lists


@dataclass(frozen=True)
class TagSet:
    """The tags of a model.

    Attributes:
        labels: Names of the tags in the order of the outputs, or None.
    """

    labels: tuple[str, ...] | None

    @cached_property
    def scheme(self) -> str | None:
        """The tagging scheme; None if the tags mark no entities."""
        return scheme_of([self.labels or ()])

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.labels or ())}

    @cached_property
    def _outsides(self) -> frozenset[str]:
        """The tags of words outside of entities. Beside tags with prefixes these have other names too, such as `0` or `_`."""
        others = OTHER_OUTSIDE & set(self._index) if self.scheme is not None else ()
        return frozenset((OUTSIDE, *others))

    @property
    def outside(self) -> str:
        """The tag of words without tokens: `O`, or the tag that stands for it, or the first tag."""
        labels = self.labels or (OUTSIDE,)
        return OUTSIDE if OUTSIDE in labels else next((tag for tag in labels if tag in self._outsides), labels[0])

    @property
    def marks_entities(self) -> bool:
        """True if the tags mark entities."""
        return OUTSIDE in (self.labels or ()) or self.scheme is not None

    def unknown_tags(self) -> list[str]:
        """Return tags without a prefix, and not `O`, beside tags with prefixes. Each is read as an entity of its own label."""
        if self.scheme is None:
            return []
        return [tag for tag in self._index if tag not in self._outsides and not is_prefixed(tag)]

    def with_usual_outside(self, tags: Sequence[str]) -> list[str]:
        """Return the tags of one sentence with `O` for every word outside of entities."""
        return [OUTSIDE if tag in self._outsides else tag for tag in tags]

    def names(self, numbers: np.ndarray) -> list[str]:
        """Return the tags of class numbers `(n,)`."""
        return [str(number) if self.labels is None else self.labels[number] for number in numbers.tolist()]

    def expand(self, tag: str, words: int) -> list[str]:
        """Return a tag for each of several words that share the token of the tag."""
        return [tag] * words if self.scheme is None else expand_tag(tag, words, self.scheme)

    def piece_classes(self) -> np.ndarray:
        """Return the classes of the first, a middle and the last piece of a word of each class.

        Returns:
            An int32 array `(labels, 3)`; `IGNORED` where there is no such tag.
        """
        expanded = [[self._index.get(tag, IGNORED) for tag in self.expand(name, 3)] for name in self._index]
        classes = np.array(expanded, np.int32).reshape(-1, 3)
        classes[:, 0] = np.where(classes[:, 0] == IGNORED, np.arange(len(classes)), classes[:, 0])
        if self.scheme is not None:
            # An address or a number has dozens of pieces. With labels they outweigh the entities (WNUT-17, entity F1: 0.28, else 0.38).
            classes[[self._index[tag] for tag in self._outsides if tag in self._index], 1:] = IGNORED
        return classes

    def encode(self, y: Any, examples: Sequence) -> list[np.ndarray]:
        """Return the class numbers of the words of each sentence, int32.

        Args:
            y: For each sentence a list of tags or of entities; see `Tagging`.
            examples: The sentences.

        Raises:
            KerasBertError: When a label cannot be used; it names the first one.
        """
        check_same_number(y, examples, "lists of tags")
        self._check_numbers(y)
        scheme = self.scheme or "iob2"
        return [
            self._encode_sentence(tags, example, row, "iob2" if scheme == "iob1" else scheme)
            for row, (tags, example) in enumerate(zip(y, examples, strict=True))
        ]

    def _encode_sentence(self, tags: Any, example: str | Sequence[str], row: int, scheme: str) -> np.ndarray:
        check_list(tags, row)
        if any(isinstance(tag, Mapping) for tag in tags) or (isinstance(example, str) and not len(tags)):
            tags = tags_of_entities(tags, words_of(example), row, scheme)
        words = len(words_of(example)) if isinstance(example, str) else len(example)
        if len(tags) != words:
            raise KerasBertError(f"row {row}: expected one tag a word, received {len(tags)} tags for {words} words")
        if self.scheme is not None and any(isinstance(tag, str) and tag not in self._index for tag in tags):
            tags = self._in_own_scheme(tags, scheme)
        return np.array([self._encode_tag(tag, row) for tag in tags], np.int32)

    def _check_numbers(self, y: Any) -> None:
        """Check that class numbers cannot be mistaken for tags whose names are numbers."""
        if self.labels is None or not any(map(NUMBER.fullmatch, self.labels)):
            return
        pairs = [(row, tag) for row, tags in enumerate(y) if is_list(tags) for tag in tags if is_whole_number(tag)]
        places = [int(tag) for _, tag in pairs]
        if places != classes_of_numbers(self.labels, places, [row for row, _ in pairs], written=False, inner=False):
            raise KerasBertError(
                f"row {pairs[0][0]}: expected tags by name where names are numbers, received {places[0]}; write {str(places[0])!r}"
            )

    def _in_own_scheme(self, tags: Sequence[Any], scheme: str) -> Sequence[Any]:
        """Return tags of another scheme in that of the model, or the tags themselves if that gives tags that the model does not have."""
        if not all(isinstance(tag, str) for tag in tags):
            return tags
        own = [self.outside if tag == OUTSIDE else tag for tag in tags_of(spans(tags), len(tags), scheme)]
        return own if all(tag in self._index for tag in own) else tags

    def _encode_tag(self, tag: Any, row: int) -> int:
        if is_whole_number(tag):
            if not 0 <= tag < (np.inf if self.labels is None else len(self.labels)):
                raise KerasBertError(
                    f"row {row}: expected class numbers from 0 to {len(self.labels or ()) - 1}, received {tag}"
                )
            return int(tag)
        if not isinstance(tag, str) or tag not in self._index:
            more = ", ..." if len(self._index) > _LISTED else ""
            raise KerasBertError(
                f"row {row}: expected a tag among {', '.join(list(self._index)[:_LISTED])}{more}, received {shown(tag)}"
            )
        return self._index[tag]

    def encode_packed(self, y: Any, features: Features) -> list[np.ndarray]:
        """Return the class numbers of the tokens of packed rows, `IGNORED` for none.

        Args:
            y: Class numbers `(rows, length)`, or a list with one array for each row.
            features: The rows.

        Raises:
            KerasBertError: When a row has too few numbers, or a number is no class.
        """
        check_same_number(y, features.example, "rows of class numbers")
        lengths = [len(row) for row in y] if features.tokens is None else features.lengths
        rows = [np.asarray(row) for row in y]
        classes = np.inf if self.labels is None else len(self.labels)
        for number, (row, length) in enumerate(zip(rows, lengths, strict=True)):
            if row.ndim != 1 or len(row) < length or not (np.issubdtype(row.dtype, np.integer) or not len(row)):
                raise KerasBertError(
                    f"row {number}: expected a class number for each of {length} tokens, received {row.dtype} {row.shape}"
                )
            wrong = row[(row != IGNORED) & ((row < 0) | (row >= classes))]
            if wrong.size:
                raise KerasBertError(
                    f"row {number}: expected class numbers from 0 to {classes - 1}, or {IGNORED} for none, received {wrong[0]}"
                )
        return [row[:length].astype(np.int32) for row, length in zip(rows, lengths, strict=True)]
