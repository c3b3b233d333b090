"""Word pieces: the tokens of a vocabulary that are words, parts of words or special tokens."""

import string
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kerasbert.text import Tokenizer
from kerasbert.text.encoded import Encoded

_SPACE_MARKS = {
    "sentencepiece": "\u2581",
    "xlm_roberta": "\u2581",
    "byte_level_bpe": "\u0120",
}  # of tokenizers that mark the space before a word


@dataclass(frozen=True)
class WordPieces:
    """Masks over a vocabulary, bool `(vocabulary,)`, and the ids of words and their parts.

    Attributes:
        special: Whether a token is `[CLS]`, `[SEP]`, `[PAD]`, `[MASK]` or `[UNK]`, whatever its name is.
        continues: Whether a token continues the word of the token before it, unless that one is `closed`.
        closed: Whether a word ends with the token.
        words: Ids of all tokens that are not special, int32.
    """

    special: np.ndarray
    continues: np.ndarray
    closed: np.ndarray
    words: np.ndarray

    def is_special(self, ids: np.ndarray) -> np.ndarray:
        """Return whether each id is no word. A model's token table may have rows beyond the vocabulary, which are no words."""
        return self.special.take(ids, mode="clip") | (ids >= len(self.special))

    def word_numbers(self, ids: np.ndarray) -> np.ndarray:
        """Return the number of each token's word in a row of ids `(n,)`."""
        continues = self.continues.take(ids[1:], mode="clip") & ~self.closed.take(ids[:-1], mode="clip")
        return np.concatenate([[0], np.cumsum(~continues)])


@lru_cache(maxsize=4)
def word_pieces(tokenizer: Tokenizer) -> WordPieces:
    """Return the word pieces of a tokenizer's vocabulary.

    WordPiece marks a continuation by `##`. SentencePiece and byte-level BPE mark the space before a word instead, by U+2581 and U+0120: a
    token without the mark continues the word, unless it or the token before it is ASCII punctuation.
    """
    vocabulary = tokenizer.vocabulary
    special = np.zeros(len(vocabulary), bool)
    special[[tokenizer.cls_id, tokenizer.sep_id, tokenizer.pad_id, tokenizer.mask_id, tokenizer.unk_id]] = True
    space = _SPACE_MARKS.get(tokenizer.kind)
    if space is None:
        continues = np.array([token.startswith("##") and len(token) > 2 for token in vocabulary])
        closed = special
    else:
        continues = np.array([token[:1] not in {space, "", *string.punctuation} for token in vocabulary])
        closed = special | np.array([token[-1:] in {"", *string.punctuation} for token in vocabulary])
    return WordPieces(special, continues & ~special, closed, np.flatnonzero(~special).astype(np.int32))


def splits_words_itself(tokenizer: Tokenizer) -> bool:
    """Tell whether the tokens do not show where words begin: a Japanese tokenizer finds words first, and may split them into characters."""
    return tokenizer.kind == "japanese"


def word_numbers(encoded: Encoded, tokenizer: Tokenizer) -> list[np.ndarray] | None:
    """Return the number of each token's word by the tokenizer, special tokens included as -1; None where the vocabulary shows words.

    Args:
        encoded: Encoded texts, without pairs.
        tokenizer: The tokenizer.
    """
    if not splits_words_itself(tokenizer):
        return None
    return [np.array([-1 if word is None else word for word in row]) for row in encoded.word_ids]


def token_words(
    texts: Sequence[str], tokenizer: Tokenizer, words: str | Callable[[str], Iterable[str]] | None = None
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the ids of whole texts without special tokens, and the number of each token's word, the fastest way of the tokenizer.

    Args:
        texts: The texts.
        tokenizer: The tokenizer.
        words: What finds words, see `Tokenizer.token_words`. None: the vocabulary where it shows words, else the tokenizer.

    Returns:
        Ids and word numbers of each text, int32 `(tokens,)`.
    """
    if words is not None or splits_words_itself(tokenizer):
        return tokenizer.token_words(texts, words)
    ids, pieces = tokenizer.token_ids(texts), word_pieces(tokenizer)
    return ids, [pieces.word_numbers(row)[: len(row)].astype(np.int32) for row in ids]


def readable(tokenizer: Tokenizer, token_id: int) -> str:
    """Return a token without the mark of a space before it; `##` stays, as it shows that the token is no word of its own."""
    token = tokenizer.vocabulary[token_id] if token_id < tokenizer.vocabulary_size else f"[{token_id}]"
    if tokenizer.kind in ("sentencepiece", "xlm_roberta"):
        return token.replace("\u2581", " ").strip() or token
    if tokenizer.kind == "byte_level_bpe":
        from tokenizers import decoders

        return decoders.ByteLevel().decode([token]).strip() or token
    return token
