"""What the tokens of a vocabulary are: words, parts of words, special tokens; and how a person reads them."""

import string
from dataclasses import dataclass
from functools import lru_cache

import numpy as np


@dataclass(frozen=True)
class WordPieces:
    """Masks over a vocabulary, (V,) bool each, and the ids that are words or parts of them.

    Attributes:
      special: `[CLS]`, `[SEP]`, `[PAD]`, `[MASK]` and `[UNK]`, whatever they are called.
      continues: whether a token goes on with the word of the token before it, where that is not `closed`.
      closed: tokens with which a word ends.
      words: ids of all tokens that are not special, int32.
    """

    special: np.ndarray
    continues: np.ndarray
    closed: np.ndarray
    words: np.ndarray

    def is_special(self, ids: np.ndarray) -> np.ndarray:
        """For each id; a model's table may have rows behind the vocabulary, which are no words."""
        return self.special.take(ids, mode="clip") | (ids >= len(self.special))

    def word_numbers(self, ids: np.ndarray) -> np.ndarray:
        """The number of each token's word in a row of ids (n,)."""
        goes_on = self.continues.take(ids[1:], mode="clip") & ~self.closed.take(ids[:-1], mode="clip")
        return np.concatenate([[0], np.cumsum(~goes_on)])


@lru_cache(maxsize=4)
def word_pieces(tokenizer) -> WordPieces:
    """Those of a tokenizer's vocabulary.

    WordPiece marks a continuation by `##`. SentencePiece and byte-level BPE mark the space before a word instead (by U+2581 and U+0120):
    what has no mark continues the word, unless it or what stands before it is ASCII punctuation.
    """
    vocabulary = tokenizer.vocabulary
    special = np.zeros(len(vocabulary), bool)
    special[[tokenizer.cls_id, tokenizer.sep_id, tokenizer.pad_id, tokenizer.mask_id, tokenizer.unk_id]] = True
    space = {"sentencepiece": "\u2581", "byte_level_bpe": "\u0120"}.get(tokenizer.kind)
    if space is None:
        continues = np.array([token.startswith("##") and len(token) > 2 for token in vocabulary])
        closed = special
    else:
        continues = np.array([token[:1] not in {space, "", *string.punctuation} for token in vocabulary])
        closed = special | np.array([token[-1:] in {"", *string.punctuation} for token in vocabulary])
    return WordPieces(special, continues & ~special, closed, np.flatnonzero(~special).astype(np.int32))


def readable(tokenizer, token_id: int) -> str:
    """A token without the mark of a space before it; `##` stays, since it says that the token is no word of its own."""
    token = tokenizer.vocabulary[token_id] if token_id < tokenizer.vocabulary_size else f"[{token_id}]"
    if tokenizer.kind == "sentencepiece":
        return token.replace("\u2581", " ").strip() or token
    if tokenizer.kind == "byte_level_bpe":
        from tokenizers import decoders

        return decoders.ByteLevel().decode([token]).strip() or token
    return token
