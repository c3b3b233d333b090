"""Features: token ids of examples, and the example of each row."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from kerasbert.text import Tokenizer
from kerasbert.text.encoded import Encoded
from kerasbert.text.packing import pack
from kerasbert.text.truncation import WHOLE

_CHUNK = 512  # texts that are tokenized at once: offsets need much memory before they are arrays
IGNORED = -100  # the label of a token that has none, as in PyTorch


@dataclass(frozen=True)
class TokenLists:
    """Token ids and types of some sequences, special tokens included, without padding.

    Attributes:
        input_ids: Token ids of each sequence.
        token_type_ids: Token types of each sequence.
    """

    input_ids: Sequence[Sequence[int]]
    token_type_ids: Sequence[Sequence[int]]


@dataclass(frozen=True)
class Features:
    """Token ids of some examples: the input of a model ("features" in BERT's own code).

    A *row* is one input of the model. An example has one row, or several (windows over a long text). A row has `group` token lists: one, or
    one for each choice of a question, or one for each text of a pair. There is no padding.

    Attributes:
        tokens: The token lists, `len(features) * group` of them, row by row; None where only labels are checked.
        example: The number of each row's example, `(rows,)` int.
        group: Token lists in a row.
        truncated: Number of examples that lost tokens.
        alignment: One object for each row that maps its tokens to the text (positions of words or answers); or nothing.
        topics: The topic of each row, for batches of training; see `LengthBatches`.

    Example:
        ```python
        features = task.processor.features(["wake me at six"], task.tokenizer, 16)
        features.lengths, features.pack([0], length=16, pad_id=0)["input_ids"].shape
        ```
    """

    tokens: TokenLists | None
    example: np.ndarray
    group: int = 1
    truncated: int = 0
    alignment: Sequence[Any] = field(default=(), repr=False)
    topics: np.ndarray | None = field(default=None, repr=False)

    @classmethod
    def from_encoded(cls, encoded: Encoded) -> "Features":
        """Return one row for each text of a tokenizer's `encode`.

        Args:
            encoded: The result of a tokenizer's `encode`.
        """
        tokens = TokenLists(encoded.input_ids, encoded.token_type_ids)
        return cls(tokens, np.arange(len(encoded.input_ids)), truncated=encoded.truncated)

    def __len__(self) -> int:
        return len(self.example)

    @property
    def token_lists(self) -> TokenLists:
        """The token lists.

        Raises:
            ValueError: When there are none.
        """
        if self.tokens is None:
            raise ValueError("these features are for checking labels, and have no tokens")
        return self.tokens

    @cached_property
    def lengths(self) -> np.ndarray:
        """Tokens in the longest list of each row, `(rows,)` int32."""
        ids = self.token_lists.input_ids
        lists = np.fromiter(map(len, ids), np.int32, len(ids))
        return lists.reshape(-1, self.group).max(axis=1) if len(lists) else lists

    def pack(self, index: Iterable[int], length: int, pad_id: int) -> dict[str, np.ndarray]:
        """Pad some rows to one length.

        Args:
            index: Numbers of the rows.
            length: Tokens in each padded row.
            pad_id: Id of the padding token.

        Returns:
            int32 arrays by input name, `(n, length)`, or `(n, group, length)` where a row has several lists.
        """
        packed = pack(self._lists(index), length=length, pad_id=pad_id)
        if self.group == 1:
            return packed
        return {name: values.reshape(-1, self.group, length) for name, values in packed.items()}

    def each_list(
        self, rows: Iterable[int], length: int, pad_id: int, names: Iterable[str]
    ) -> Iterator[dict[str, np.ndarray]]:
        """Pad the token lists of some rows to one length, one list after the other.

        Args:
            rows: Numbers of the rows.
            length: Tokens in each padded list.
            pad_id: Id of the padding token.
            names: Names of the inputs.

        Yields:
            int32 arrays by input name, `(1, length)`.
        """
        for row in rows:
            packed = self.pack([row], length, pad_id)
            arrays = {name: packed[name].reshape(-1, 1, length) for name in names}
            for number in range(self.group):
                yield {name: values[number] for name, values in arrays.items()}

    def part(self, rows: Sequence[int], example: np.ndarray) -> "Features":
        """Return the features of some rows.

        Args:
            rows: Numbers of the rows.
            example: The number of each row's example among the remaining ones, `(rows,)`.

        Returns:
            The features.
        """
        alignment = [self.alignment[int(row)] for row in rows] if len(self.alignment) else ()
        return Features(self._lists(rows), np.asarray(example), self.group, 0, alignment)

    def _lists(self, rows: Iterable[int]) -> TokenLists:
        tokens = self.token_lists
        lists = [int(row) * self.group + k for row in rows for k in range(self.group)]
        return TokenLists([tokens.input_ids[i] for i in lists], [tokens.token_type_ids[i] for i in lists])

    def by_example(self) -> list[list[int]]:
        """Return the numbers of the rows of each example, in their order."""
        rows: list[list[int]] = [[] for _ in range(int(self.example.max(initial=-1)) + 1)]
        for row, number in enumerate(self.example):
            rows[number].append(row)
        return rows


def whole_texts(texts: Sequence[str], tokenizer: Tokenizer) -> Iterator[tuple[list[int], list[tuple[int, int]]]]:
    """Yield the token ids of each text and their characters, special tokens left out."""
    for start in range(0, len(texts), _CHUNK):
        encoded = tokenizer.encode(texts[start : start + _CHUNK], max_length=WHOLE)
        for ids, offsets in zip(encoded.input_ids, encoded.offsets, strict=True):
            yield ids[1:-1], offsets[1:-1]
