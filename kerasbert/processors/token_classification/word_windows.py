"""Sentences of words to token rows, and the way back from tokens to words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kerasbert.processors.features import WHOLE, Features, TokenLists
from kerasbert.processors.words import Words
from kerasbert.text import Tokenizer
from kerasbert.text.windows import default_stride, max_context, windows

_CHUNK = 512  # texts whose offsets are held at once as the engine gives them, which is large


@dataclass(frozen=True, eq=False)
class WordWindow:
    """The words of a sentence that one row classifies. Each word and each piece with a token belongs to one row.

    Attributes:
        sentence: All words.
        words: Numbers of the words that this row classifies, `(n,)` int.
        positions: Position in the row of each word's first token, `(n,)` int. Words may share a token.
        pieces: Numbers of the pieces of words, as `words`.
        piece_positions: Positions of the pieces, as `positions`.
    """

    sentence: Words
    words: np.ndarray
    positions: np.ndarray
    pieces: np.ndarray
    piece_positions: np.ndarray


def leads(positions: np.ndarray) -> np.ndarray:
    """Whether each position is another than the one before, `(n,)` bool."""
    return np.diff(positions, prepend=-1) != 0


def word_features(sentences: Sequence[Words], tokenizer: Tokenizer, length: int, stride: int | None) -> Features:
    """One row for each window over each sentence; `alignment` has a `WordWindow` for each.

    A word or piece belongs to the window in which its first token has most context.

    Args:
        sentences: The words of each sentence.
        tokenizer: The tokenizer.
        length: Tokens a row has at most.
        stride: Tokens from the start of a window to that of the next one; see `Tagging`.

    Raises:
        KerasBertError: When rows have no room for a token.
    """
    room = length - 2
    step = default_stride(length, room) if stride is None else min(stride, room)
    lists, numbers, alignment = [], [], []
    for number, (sentence, (ids, first)) in enumerate(zip(sentences, _tokens(sentences, tokenizer), strict=True)):
        parts = windows(len(ids), room, step)
        owners, is_head = _owners(first, parts), _heads(first, sentence.owners)
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


def _tokens(sentences: Sequence[Words], tokenizer) -> Iterator[tuple[list[int], np.ndarray]]:
    """Of each sentence the ids without special tokens, and the number of each piece's first token or -1."""
    for begin in range(0, len(sentences), _CHUNK):
        chunk = sentences[begin : begin + _CHUNK]
        encoded = tokenizer.encode([sentence.text for sentence in chunk], max_length=WHOLE)
        for sentence, ids, offsets in zip(chunk, encoded.input_ids, encoded.offsets, strict=True):
            yield ids[1:-1], sentence.first_tokens(offsets[1:-1])


def _owners(first: np.ndarray, parts: Sequence[tuple[int, int]]) -> np.ndarray:
    """The number of the window that speaks for each piece, -1 for one without tokens; the earlier one of equals."""
    owners, most = np.full(len(first), -1), np.full(len(first), -1)
    for part, window in enumerate(parts):
        context = np.where(first < 0, -1, max_context(first, *window))
        better = context > most
        owners[better], most[better] = part, context[better]
    return owners


def _heads(first: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """Whether each piece is the first of its word that has a token, (pieces,) bool."""
    real = np.flatnonzero(first >= 0)
    found = np.zeros(len(first), bool)
    found[real[leads(owners[real])]] = True
    return found
