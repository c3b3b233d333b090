"""The result of a tokenizer: token ids with their special tokens, and on demand the place of each token in its text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeVar

ValueT = TypeVar("ValueT")


class Numbered(Protocol):
    """The ids of the tokens of one text without special tokens, and the word of each."""

    @property
    def ids(self) -> Sequence[int]:
        """The id of each token."""
        ...

    @property
    def word_ids(self) -> Sequence[int | None]:
        """The word of each token."""
        ...


class Segment(Numbered, Protocol):
    """The tokens of one text without special tokens, as the engine returns them."""

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """(start, end) characters of each token."""
        ...


Segments = tuple[Sequence[Segment], Sequence[Segment] | None]  # of the texts, and of their pairs


@dataclass(frozen=True)
class Template:
    """The arrangement of special tokens in a sequence: `[CLS] a [SEP]`, or `[CLS] a [SEP] b [SEP]`.

    Attributes:
        separators: Number of `[SEP]` tokens between the texts of a pair. RoBERTa has two.
        second_type: The token type of a pair's second text. RoBERTa has only type 0.
    """

    separators: int = 1
    second_type: int = 1

    def special_tokens(self, paired: bool) -> int:
        """Return the number of special tokens in a sequence."""
        return 2 + self.separators if paired else 2

    def assemble(self, texts: list[list[int]], budget: int, cls_id: int, sep_id: int) -> tuple[list[list[int]], int]:
        """Add special tokens to truncated texts.

        Args:
            texts: The token ids of each text.
            budget: The maximum number of tokens of a text.
            cls_id: Id of `[CLS]`.
            sep_id: Id of `[SEP]`.

        Returns:
            The sequences, and the number of truncated ones.
        """
        sequences = [[cls_id, *ids[:budget], sep_id] for ids in texts]
        return sequences, sum(len(ids) > budget for ids in texts)

    def assemble_pair(self, first: list[int], second: list[int], cls_id: int, sep_id: int) -> tuple[list[int], int]:
        """Add special tokens to a pair of texts.

        Args:
            first: The token ids of the first text.
            second: The token ids of the second text.
            cls_id: Id of `[CLS]`.
            sep_id: Id of `[SEP]`.

        Returns:
            The sequence, and the index at which its second text starts.
        """
        separators = [sep_id] * self.separators
        return [cls_id, *first, *separators, *second, sep_id], 1 + len(first) + len(separators)


@dataclass(frozen=True)
class Encoded:
    """Token ids of some sequences, `[CLS] a [SEP]` or `[CLS] a [SEP] b [SEP]` each, without padding.

    Attributes:
        input_ids: The token ids of each sequence.
        boundaries: The index at which each sequence's second text starts, after the first text's `[SEP]` (RoBERTa: both). Without
            pairs, the length of the sequence.
        truncated: Number of sequences that lost tokens to `max_length`.
        template: The arrangement of the special tokens.

    Example:
        ```python
        encoded = task.tokenizer.encode(["wake me at six"], max_length=16)
        encoded.input_ids[0], encoded.offsets[0], encoded.word_ids[0]
        ```
    """

    input_ids: list[list[int]]
    boundaries: list[int]
    truncated: int
    template: Template
    _tokenize: Callable[[], Segments] = field(repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.input_ids)

    @cached_property
    def token_type_ids(self) -> list[list[int]]:
        """0 for the first text and its special tokens, 1 for the second text and its `[SEP]`. For RoBERTa all are 0."""
        second = [self.template.second_type]
        sequences = zip(self.input_ids, self.boundaries, strict=True)
        return [[0] * boundary + second * (len(ids) - boundary) for ids, boundary in sequences]

    @cached_property
    def offsets(self) -> list[list[tuple[int, int]]]:
        """(start, end) characters of each token in its text as passed; (0, 0) for special tokens around the texts."""
        return self._align(lambda segment, count, index: segment.offsets[:count], (0, 0))

    @cached_property
    def word_ids(self) -> list[list[int | None]]:
        """Index of each token's word within its own text; None for special tokens around the texts."""
        return self._align(lambda segment, count, index: segment.word_ids[:count], None)

    @cached_property
    def sequence_ids(self) -> list[list[int | None]]:
        """0 for tokens of the first text, 1 for those of the second, None for special tokens around the texts."""
        return self._align(lambda segment, count, index: [index] * count, None)

    @cached_property
    def _segments(self) -> Segments:
        return self._tokenize()

    def _align(self, values: Callable[[Segment, int, int], Sequence[ValueT]], special: ValueT) -> list[list[ValueT]]:
        """Return one value for each token: `values(segment, count, text index)` for texts, `special` for special tokens."""
        first, second = self._segments
        between = [special] * (1 if second is None else self.template.separators)
        aligned = []
        for number, (ids, boundary) in enumerate(zip(self.input_ids, self.boundaries, strict=True)):
            row = [special, *values(first[number], boundary - 1 - len(between), 0), *between]
            if second is not None:
                row += [*values(second[number], len(ids) - boundary - 1, 1), special]
            aligned.append(row)
        return aligned
