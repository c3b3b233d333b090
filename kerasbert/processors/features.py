"""The token rows that examples become, and the way back from a row to its example."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from kerasbert.text.packing import pack

WHOLE = 1 << 30  # more tokens than any text has: a `max_length` that cuts nothing
IGNORED = -100  # the target of a place that has none, as in PyTorch


@dataclass(frozen=True)
class TokenLists:
    """Token ids and types of some rows, special tokens included, not padded; what `kerasbert.text.pack` takes."""

    input_ids: Sequence[Sequence[int]]
    token_type_ids: Sequence[Sequence[int]]


@dataclass(frozen=True)
class Rows:
    """What a model reads for some examples.

    A *row* goes through the model at once. An example has one row, or several (windows over a long text). A row holds `group` token
    lists: 1, or as many as there are choices of a question, or both texts of a pair. Nothing is padded.

    Attributes:
      tokens: the token lists, `len(rows) * group` of them, those of a row next to each other.
      example: the number of each row's example, (rows,) int.
      group: token lists in a row.
      truncated: how many examples lost tokens.
      places: one thing a row by which its problem finds the way back to the text (where words or answers stand); or nothing.
    """

    tokens: TokenLists
    example: np.ndarray
    group: int = 1
    truncated: int = 0
    places: Sequence[Any] = field(default=(), repr=False)

    @classmethod
    def of(cls, encoded) -> "Rows":
        """One row a text, from a tokenizer's `encode`."""
        tokens = TokenLists(encoded.input_ids, encoded.token_type_ids)
        return cls(tokens, np.arange(len(encoded.input_ids)), truncated=encoded.truncated)

    def __len__(self) -> int:
        return len(self.example)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Tokens in the longest list of each row, (rows,) int32."""
        lists = np.fromiter(map(len, self.tokens.input_ids), np.int32, len(self.tokens.input_ids))
        return lists.reshape(-1, self.group).max(axis=1) if len(lists) else lists

    def pack(self, index, length: int, pad_id: int) -> dict[str, np.ndarray]:
        """int32 arrays by input name of the rows numbered `index`: (n, length), or (n, group, length) where a row has several lists."""
        lists = [int(i) * self.group + k for i in index for k in range(self.group)]
        chosen = TokenLists([self.tokens.input_ids[i] for i in lists], [self.tokens.token_type_ids[i] for i in lists])
        packed = pack(chosen, length=length, pad_id=pad_id)
        if self.group == 1:
            return packed
        return {name: values.reshape(-1, self.group, length) for name, values in packed.items()}

    def part(self, rows: Sequence[int], example: np.ndarray) -> "Rows":
        """Some rows. example: the number of each one's example among those that are left, (rows,)."""
        lists = [int(row) * self.group + k for row in rows for k in range(self.group)]
        tokens = TokenLists([self.tokens.input_ids[i] for i in lists], [self.tokens.token_type_ids[i] for i in lists])
        places = [self.places[int(row)] for row in rows] if len(self.places) else ()
        return Rows(tokens, np.asarray(example), self.group, 0, places)

    def of_example(self, number: int) -> np.ndarray:
        """The numbers of an example's rows."""
        return np.flatnonzero(self.example == number)

    def by_example(self) -> list[list[int]]:
        """The numbers of the rows of each example, in their order."""
        found: list[list[int]] = [[] for _ in range(int(self.example.max(initial=-1)) + 1)]
        for row, number in enumerate(self.example):
            found[number].append(row)
        return found
