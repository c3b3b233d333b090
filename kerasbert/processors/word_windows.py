"""Sentences of words to token rows, aligned with the words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kerasbert.processors.features import Features, TokenLists, whole_texts
from kerasbert.processors.words import Words
from kerasbert.text import Tokenizer
from kerasbert.text.windows import default_stride, max_context, windows


@dataclass(frozen=True, eq=False)
class WordWindow:
    """The words of a sentence that are classified in one row. Each word and each piece with a token belongs to one row.

    Attributes:
        sentence: All words.
        words: Numbers of the row's words, `(n,)` int.
        positions: Position in the row of each word's first token, `(n,)` int. Words may share a token.
        pieces: Numbers of the row's pieces, `(m,)` int.
        piece_positions: Position in the row of each piece's first token, `(m,)` int.
    """

    sentence: Words
    words: np.ndarray
    positions: np.ndarray
    pieces: np.ndarray
    piece_positions: np.ndarray


def leads(positions: np.ndarray) -> np.ndarray:
    """Return whether each position differs from the one before, bool `(n,)`."""
    return np.diff(positions, prepend=-1) != 0


def word_features(sentences: Sequence[Words], tokenizer: Tokenizer, length: int, stride: int | None) -> Features:
    """Return one row for each window over each sentence; `alignment` has the `WordWindow` of each row.

    A word or piece belongs to the window in which its first token has most context.

    Args:
        sentences: The words of each sentence.
        tokenizer: The tokenizer.
        length: Tokens in the longest row.
        stride: Tokens from the start of a window to that of the next one; see `Tagging`.

    Raises:
        KerasBertError: When rows have no room for a token.
    """
    room = length - 2
    step = default_stride(length, room) if stride is None else min(stride, room)
    lists, numbers, alignment = [], [], []
    encoded = whole_texts([sentence.text for sentence in sentences], tokenizer)
    for number, (sentence, (ids, offsets)) in enumerate(zip(sentences, encoded, strict=True)):
        parts, first = windows(len(ids), room, step), sentence.first_tokens(offsets)
        owners, is_head = _owner_windows(first, parts), _first_pieces(first, sentence.owners)
        for part, (start, end) in enumerate(parts):
            pieces = np.flatnonzero(owners == part)
            heads = pieces[is_head[pieces]]
            lists.append([tokenizer.cls_id, *ids[start:end], tokenizer.sep_id])
            numbers.append(number)
            alignment.append(
                WordWindow(
                    sentence, sentence.owners[heads], first[heads] - start + 1, pieces, first[pieces] - start + 1
                )
            )
    return Features(
        TokenLists(lists, [[0] * len(row) for row in lists]), np.array(numbers, np.int64), alignment=alignment
    )


def _owner_windows(first: np.ndarray, parts: Sequence[tuple[int, int]]) -> np.ndarray:
    """Return the number of each piece's window, the first of equals; -1 for a piece without tokens."""
    owners, most = np.full(len(first), -1), np.full(len(first), -1)
    for part, window in enumerate(parts):
        context = np.where(first < 0, -1, max_context(first, *window))
        better = context > most
        owners[better], most[better] = part, context[better]
    return owners


def _first_pieces(first: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """Return whether each piece is the first one of its word with a token, bool `(pieces,)`."""
    with_token = np.flatnonzero(first >= 0)
    is_first = np.zeros(len(first), bool)
    is_first[with_token[leads(owners[with_token])]] = True
    return is_first
