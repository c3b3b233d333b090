"""TinyBERT's data augmentation: words are replaced by likely ones of a masked language model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Union

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.processors.texts import text_examples
from kerasbert.processors.word_pieces import word_pieces
from kerasbert.tasks.masked_lm import MaskedLM
from kerasbert.training.distillation.likely_words import LikelyWords, Place, likely_words

if TYPE_CHECKING:
    from kerasbert.export.runtime.pipeline import Pipeline

_REPORTED = 32  # words between two reports

_Report = Callable[[int, int], None]


@dataclass(frozen=True)
class _Masked:
    """A word that some copies replace, by their indices."""

    place: Place
    copies: np.ndarray


@dataclass(frozen=True)
class _Replacement:
    """Characters from `start` to `end` that become `word`."""

    start: int
    end: int
    word: str


def augment(
    texts: Sequence,
    language_model: Union[MaskedLM, "Pipeline"],
    copies: int = 20,
    probability: float = 0.4,
    candidates: int = 15,
    seed: int = 0,
    report: _Report | None = None,
    neighbours: bool = False,
) -> list:
    """Return variants of texts (Jiao et al. 2020, "TinyBERT", section 3.2 and algorithm 1).

    A word of one token is replaced, with a probability, by one of the words that the model finds most likely in its place. With
    `neighbours` a word of several tokens is replaced by one of the words with the nearest embeddings; otherwise it stays. Special tokens,
    punctuation, and text beyond the model's length stay too, and so does white space.

    Args:
        texts: Texts, or pairs of texts, of which each text is replaced by itself.
        language_model: A `MaskedLM` with a tokenizer, or what `kerasbert.open` returns for a file of one.
        copies: Number of variants of each text.
        probability: Probability that a word is replaced in a copy.
        candidates: Number of most likely words, from which one is drawn uniformly.
        seed: Random seed.
        report: Called with the words done and all words.
        neighbours: Whether words of several tokens are replaced by neighbours among the model's token embeddings. The paper takes GloVe's.
            A file does not give its embeddings: they are replaced by words that are likely in their place.

    Returns:
        `copies` variants of the first text, then those of the next, so that their labels are `np.repeat(labels, copies)`. The original
        texts are not included.

    Raises:
        KerasBertError: When the model is not a MaskedLM with a tokenizer, or a number is out of range.

    Example:
        ```python
        from kerasbert.training.distillation import augment
        language_model = kb.MaskedLM.from_pretrained("small-en", sequence_length=32)
        variants = augment(texts[:2], language_model, copies=3)  # 3 variants of each text
        variant_labels = np.repeat(labels[:2], 3)
        ```
    """
    model = likely_words(language_model)
    _check(copies, probability, candidates)
    examples = text_examples(texts)
    flat = [text for example in examples for text in (example if isinstance(example, tuple) else (example,))]
    masked = _choose_words(flat, model, copies, probability, seed, neighbours)
    variants = _replace_words(flat, masked, model, candidates, copies, seed, report)
    augmented, first = [], 0
    for example in examples:
        count = len(example) if isinstance(example, tuple) else 1
        for copy in range(copies):
            parts = tuple(variants[first + i][copy] for i in range(count))
            augmented.append(parts if isinstance(example, tuple) else parts[0])
        first += count
    return augmented


def _check(copies: int, probability: float, candidates: int) -> None:
    if copies < 1 or candidates < 1:
        raise KerasBertError(f"expected copies and candidates of at least 1, received {copies} and {candidates}")
    if not 0 <= probability <= 1:
        raise KerasBertError(f"expected a probability from 0 to 1, received {probability}")


def _choose_words(
    texts: Sequence[str], model: LikelyWords, copies: int, probability: float, seed: int, several: bool
) -> list[_Masked]:
    """The words that at least one copy replaces."""
    tokenizer = model.tokenizer
    encoded, pieces = tokenizer.encode(texts, max_length=model.length), word_pieces(tokenizer)
    masked = []
    for number, (row, offsets) in enumerate(zip(encoded.input_ids, encoded.offsets, strict=True)):
        ids = np.array(row, np.int32)
        words, random = pieces.word_numbers(ids), np.random.default_rng((seed, number))
        first = np.concatenate([[True], words[1:] != words[:-1]])
        tokens = np.bincount(words)[words]
        for position in np.flatnonzero(first & (several | (tokens == 1)) & ~pieces.is_special(ids)):
            last = position + tokens[position] - 1
            start, end = offsets[position][0], offsets[last][1]
            start = end - len(texts[number][start:end].lstrip())
            chosen = np.flatnonzero(random.random(copies) < probability)
            if len(chosen) and any(map(str.isalnum, texts[number][start:end])):
                word = tuple(ids[position : last + 1].tolist())
                masked.append(_Masked(Place(number, int(position), start, end, word), chosen))
    return masked


def _replace_words(
    texts: Sequence[str],
    masked: Sequence[_Masked],
    model: LikelyWords,
    candidates: int,
    copies: int,
    seed: int,
    report: _Report | None,
) -> list[list[str]]:
    """The copies of each text. `masked` is in the order of texts and positions."""
    replacements: list[list[list[_Replacement]]] = [[[] for _ in range(copies)] for _ in texts]
    random = np.random.default_rng((seed, len(texts), copies))
    ordered = sorted(masked, key=lambda word: len(word.place.ids) > 1)
    found = model.words(texts, [word.place for word in ordered], candidates)
    for number, (word, best) in enumerate(zip(ordered, found, strict=True), start=1):
        place = word.place
        for copy in word.copies if len(best) else ():
            chosen = best[int(random.integers(len(best)))]
            replacements[place.text][copy].append(_Replacement(place.start, place.end, chosen))
        if report is not None and (number % _REPORTED == 0 or number == len(ordered)):
            report(number, len(ordered))
    return [
        [_edit(text, sorted(changes, key=attrgetter("start"))) for changes in text_copies]
        for text, text_copies in zip(texts, replacements, strict=True)
    ]


def _edit(text: str, replacements: Sequence[_Replacement]) -> str:
    for replacement in reversed(replacements):
        text = f"{text[: replacement.start]}{replacement.word}{text[replacement.end :]}"
    return text
