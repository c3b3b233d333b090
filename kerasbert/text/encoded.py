"""What a tokenizer hands back: rows of token ids, and on demand where in the texts they came from."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Template:
    """How the special tokens stand in a row: `[CLS] a [SEP]`, or `[CLS] a [SEP] b [SEP]`.

    Attributes:
      separators: `[SEP]` tokens between the texts of a pair; RoBERTa has two.
      second_type: the token type of a pair's second text; RoBERTa knows only 0.
    """

    separators: int = 1
    second_type: int = 1

    def special_tokens(self, paired: bool) -> int:
        """How many tokens of a row are special ones."""
        return 2 + self.separators if paired else 2


@dataclass(frozen=True)
class Encoded:
    """The token ids of some rows, `[CLS] a [SEP]` or `[CLS] a [SEP] b [SEP]` each, not padded.

    Attributes:
      input_ids: one list of token ids a row.
      boundaries: where each row's second text begins: behind the `[SEP]` (RoBERTa: both) of the first; without pairs
        the length of the row.
      truncated: how many rows lost tokens to `max_length`.
      template: how the special tokens stand in a row.
    """

    input_ids: list[list[int]]
    boundaries: list[int]
    truncated: int
    template: Template
    _tokenize: Callable[[], tuple[list, list | None]] = field(repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.input_ids)

    @cached_property
    def token_type_ids(self) -> list[list[int]]:
        """0 up to and with the first `[SEP]`, 1 for what follows; RoBERTa's are all 0."""
        second = [self.template.second_type]
        rows = zip(self.input_ids, self.boundaries, strict=True)
        return [[0] * boundary + second * (len(ids) - boundary) for ids, boundary in rows]

    @cached_property
    def offsets(self) -> list[list[tuple[int, int]]]:
        """`(start, end)` characters of each token in its text as it was given; `(0, 0)` for `[CLS]` and `[SEP]`."""
        return self._rows(lambda segment, count, index: segment.offsets[:count], (0, 0))

    @cached_property
    def word_ids(self) -> list[list[int | None]]:
        """The number of each token's word within its own text; `None` for `[CLS]` and `[SEP]`."""
        return self._rows(lambda segment, count, index: segment.word_ids[:count], None)

    @cached_property
    def sequence_ids(self) -> list[list[int | None]]:
        """0 for tokens of the text, 1 for those of its pair, `None` for `[CLS]` and `[SEP]`."""
        return self._rows(lambda segment, count, index: [index] * count, None)

    @cached_property
    def _segments(self) -> tuple[list, list | None]:
        return self._tokenize()

    def _rows(self, values: Callable, special) -> list[list]:
        first, second = self._segments
        between = [special] * (1 if second is None else self.template.separators)
        rows = []
        for number, (ids, boundary) in enumerate(zip(self.input_ids, self.boundaries, strict=True)):
            row = [special, *values(first[number], boundary - 1 - len(between), 0), *between]
            if second is not None:
                row += [*values(second[number], len(ids) - boundary - 1, 1), special]
            rows.append(row)
        return rows
