"""Masks for masked language modelling: the tokens to mask, and their replacements (Devlin et al. 2018, section 3.1)."""

import numpy as np

from kerasbert.processors.word_pieces import WordPieces

MASKED, REPLACED = 0.8, 0.1  # fractions of the chosen tokens; the others stay


def choose_tokens(
    ids: np.ndarray,
    pieces: WordPieces,
    share: float,
    whole_words: bool,
    random: np.random.Generator,
    numbers: np.ndarray | None = None,
) -> np.ndarray:
    """Choose the tokens of a row to mask, at least one if the row has a word.

    Args:
        ids: Token ids `(n,)`.
        pieces: The word pieces of the vocabulary.
        share: Fraction of the tokens to choose, special ones not counted.
        whole_words: Whether all tokens of a word are chosen together.
        random: The random generator.
        numbers: The number of each token's word `(n,)`, by the tokenizer; None to tell words by the vocabulary.

    Returns:
        Positions in the row, in their order.
    """
    free = np.flatnonzero(~pieces.is_special(ids))
    if not len(free):
        return free
    count = max(1, round(share * len(free)))
    if not whole_words:
        return np.sort(random.permutation(free)[:count])
    numbers = pieces.word_numbers(ids) if numbers is None else numbers
    _, words = np.unique(numbers[free], return_inverse=True)
    order = random.permutation(words.max() + 1)
    sizes = np.bincount(words)[order]
    # The last word may exceed the count by half of its size, so that the mean fraction is right.
    taken = sizes.cumsum() - sizes / 2 <= count
    taken[0] = True
    return free[np.isin(words, order[taken])]


def corrupt_tokens(ids: np.ndarray, mask_id: int, pieces: WordPieces, random: np.random.Generator) -> np.ndarray:
    """Replace chosen ids: most by the mask, some by random words; some stay."""
    draw = random.random(len(ids))
    other = random.choice(pieces.words, len(ids))
    return np.where(draw < MASKED, mask_id, np.where(draw < MASKED + REPLACED, other, ids)).astype(np.int32)
