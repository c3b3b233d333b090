"""Masks of pretraining: the tokens to mask, and what stands in their place."""

import numpy as np

from kerasbert.processors.word_pieces import WordPieces

MASKED, REPLACED = 0.8, 0.1  # fractions of the chosen tokens; the others stay (Devlin et al. 2018, section 3.1)
# Joshi et al. 2020, section 3.1: a geometric distribution of the words in a span, without the spans of more than 10 words; its mean is 3.8.
SPAN_STOPS, LONGEST_SPAN = 0.2, 10
LONGEST_N_GRAM = 3  # Lan et al. 2019, section 4.2: a length of n has the probability 1/n over the sum of all
_TRIES = 20  # places for a span, before it is left out
_SPAN_LENGTHS = (1 - SPAN_STOPS) ** np.arange(LONGEST_SPAN) * SPAN_STOPS
_N_GRAM_LENGTHS = 1 / np.arange(1, LONGEST_N_GRAM + 1)
_LENGTHS = {"n-grams": _N_GRAM_LENGTHS / _N_GRAM_LENGTHS.sum(), "spans": _SPAN_LENGTHS / _SPAN_LENGTHS.sum()}


def choose_tokens(
    ids: np.ndarray,
    pieces: WordPieces,
    share: float,
    unit: str,
    random: np.random.Generator,
    numbers: np.ndarray | None = None,
    owed: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Choose the tokens of a row to mask, at least one if the row has a word.

    Args:
        ids: Token ids `(n,)`.
        pieces: The word pieces of the vocabulary.
        share: Fraction of the tokens to choose, special ones not counted.
        unit: What is masked together, one of `masking_units.UNITS`.
        random: The random generator.
        numbers: The number of each token's word `(n,)`, by the tokenizer; None to tell words by the vocabulary.
        owed: For n-grams and spans: the tokens that other rows chose too few, negative for too many. Spans are drawn until there are enough
            tokens, and the last one is kept whole; otherwise long spans would be left out more often than short ones.

    Returns:
        Positions in the row, in their order, and the number of the unit that each is in.
    """
    free = np.flatnonzero(~pieces.is_special(ids))
    if not len(free):
        return free, free
    count = max(1, round(share * len(free)))
    if unit == "tokens":
        chosen = np.sort(random.permutation(free)[:count])
        return chosen, np.arange(len(chosen))
    numbers = pieces.word_numbers(ids) if numbers is None else numbers
    _, words = np.unique(numbers[free], return_inverse=True)  # (free,), from 0 on
    if unit in _LENGTHS:
        groups = _choose_spans(words, share * len(free) + owed, _LENGTHS[unit], random)
        inside = groups[words] >= 0
        return free[inside], groups[words][inside]
    order = random.permutation(words.max() + 1)
    sizes = np.bincount(words)[order]
    # The last word may exceed the count by half of its size, so that the mean fraction is right.
    taken = sizes.cumsum() - sizes / 2 <= count
    taken[0] = True
    inside = np.isin(words, order[taken])
    return free[inside], words[inside]


def _choose_spans(words: np.ndarray, count: float, lengths: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Draw spans of words that do not overlap, until they have enough tokens.

    Args:
        words: The number of each token's word, from 0 on.
        count: The number of tokens.
        lengths: The probabilities of one, two, ... words in a span.
        random: The random generator.

    Returns:
        The number of each word's span, -1 for words outside.
    """
    sizes = np.bincount(words)
    total, longest = len(sizes), len(lengths)
    groups, taken = np.full(total, -1), 0
    # A draw for each span, drawn at once: one call a draw would take most of the time.
    draws = 1 + random.choice(longest, size=max(4, 2 * int(count) + 2), p=lengths)
    for span, drawn in enumerate(draws.tolist()):
        if taken >= count and taken:
            break
        length = min(drawn, total)
        for first in random.integers(0, total - length + 1, _TRIES).tolist():
            place = groups[first : first + length]
            if place.max() < 0:
                place[:] = span
                taken += int(sizes[first : first + length].sum())
                break
    return groups


def corrupt_tokens(
    ids: np.ndarray,
    mask_id: int,
    pieces: WordPieces,
    random: np.random.Generator,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """Replace chosen ids: most by the mask, some by random words; some stay.

    Args:
        ids: The chosen ids `(n,)`.
        mask_id: The id of the mask.
        pieces: The word pieces of the vocabulary.
        random: The random generator.
        groups: The number of each token's span `(n,)`: all tokens of a span share a draw. None for a draw for each token.

    Returns:
        The ids that take their place.
    """
    if groups is None:
        draw = random.random(len(ids))
    else:
        _, groups = np.unique(groups, return_inverse=True)
        draw = random.random(groups.max(initial=-1) + 1)[groups]
    other = random.choice(pieces.words, len(ids))
    return np.where(draw < MASKED, mask_id, np.where(draw < MASKED + REPLACED, other, ids)).astype(np.int32)
