"""What a tokenizer hands back: rows of token ids, and on demand where in the texts they came from."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Encoded:
    """The token ids of some rows, `[CLS] a [SEP]` or `[CLS] a [SEP] b [SEP]` each, not padded.

    Attributes:
      input_ids: one list of token ids a row.
      token_type_ids: 0 up to and with the first `[SEP]`, 1 for what follows.
      truncated: how many rows lost tokens to `max_length`.
    """

    input_ids: list[list[int]]
    token_type_ids: list[list[int]]
    truncated: int
    _tokenize: Callable[[], tuple[list, list | None]] = field(repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.input_ids)

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
        rows = []
        for number, types in enumerate(self.token_type_ids):
            in_second = sum(types)
            row = [special, *values(first[number], len(types) - in_second - 2, 0), special]
            if second is not None:
                row += [*values(second[number], in_second - 1, 1), special]
            rows.append(row)
        return rows
