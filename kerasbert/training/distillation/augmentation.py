"""TinyBERT's data augmentation: words are replaced by likely ones of a masked language model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.errors import KerasBertError
from kerasbert.ids import INPUT_NAMES
from kerasbert.processors import Features
from kerasbert.processors.features import TokenLists
from kerasbert.processors.texts import text_examples
from kerasbert.processors.word_pieces import readable, word_pieces
from kerasbert.tasks.masked_lm import MaskedLM
from kerasbert.text.encoded import Encoded
from kerasbert.training.distillation.word_neighbours import WordNeighbours

_BATCH = 32

_Predict = Callable[[dict[str, tf.Tensor]], Mapping[str, tf.Tensor]]
_Report = Callable[[int, int], None]


@dataclass(frozen=True)
class _Masked:
    """A word that some copies replace.

    Attributes:
        text: Index of the text.
        position: Index of the word's first token in the row.
        start: First character of the word.
        end: End of the word's characters.
        ids: Ids of its tokens; one, unless neighbours replace words of several.
        copies: Indices of the copies that replace it.
    """

    text: int
    position: int
    start: int
    end: int
    ids: tuple[int, ...]
    copies: np.ndarray


@dataclass(frozen=True)
class _Replacement:
    """Characters from `start` to `end` that become `word`."""

    start: int
    end: int
    word: str


def augment(
    texts: Sequence,
    language_model: MaskedLM,
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
        language_model: A `MaskedLM` with a tokenizer.
        copies: Number of variants of each text.
        probability: Probability that a word is replaced in a copy.
        candidates: Number of most likely words, from which one is drawn uniformly.
        seed: Random seed.
        report: Called with the words done and all words.
        neighbours: Whether words of several tokens are replaced by neighbours among the model's token embeddings. The paper takes GloVe's.

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
    _check(language_model, copies, probability, candidates)
    examples = text_examples(texts)
    flat = [text for example in examples for text in (example if isinstance(example, tuple) else (example,))]
    masked = _choose_words(flat, language_model, copies, probability, seed, neighbours)
    variants = _replace_words(flat, masked, language_model, candidates, copies, seed, report)
    augmented, first = [], 0
    for example in examples:
        count = len(example) if isinstance(example, tuple) else 1
        for copy in range(copies):
            parts = tuple(variants[first + i][copy] for i in range(count))
            augmented.append(parts if isinstance(example, tuple) else parts[0])
        first += count
    return augmented


def _check(language_model: Any, copies: int, probability: float, candidates: int) -> None:
    if not isinstance(language_model, MaskedLM) or not language_model.has_tokenizer:
        raise KerasBertError(
            f"expected a MaskedLM with a tokenizer as language_model, received {type(language_model).__name__}"
        )
    if copies < 1 or candidates < 1:
        raise KerasBertError(f"expected copies and candidates of at least 1, received {copies} and {candidates}")
    if not 0 <= probability <= 1:
        raise KerasBertError(f"expected a probability from 0 to 1, received {probability}")


def _choose_words(
    texts: Sequence[str], model: MaskedLM, copies: int, probability: float, seed: int, several: bool
) -> list[_Masked]:
    """The words that at least one copy replaces."""
    tokenizer = model.tokenizer
    encoded, pieces = tokenizer.encode(texts, max_length=model.sequence_length), word_pieces(tokenizer)
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
                masked.append(
                    _Masked(number, int(position), start, end, tuple(ids[position : last + 1].tolist()), chosen)
                )
    return masked


def _replace_words(
    texts: Sequence[str],
    masked: Sequence[_Masked],
    model: MaskedLM,
    candidates: int,
    copies: int,
    seed: int,
    report: _Report | None,
) -> list[list[str]]:
    """The copies of each text. `masked` is in the order of texts and positions."""
    replacements: list[list[list[_Replacement]]] = [[[] for _ in range(copies)] for _ in texts]
    tokenizer, random = model.tokenizer, np.random.default_rng((seed, len(texts), copies))
    encoded, allowed = tokenizer.encode(texts, max_length=model.sequence_length), _whole_words(model)
    spec = {name: tf.TensorSpec((None, None), tf.int32) for name in INPUT_NAMES} | {
        "positions": tf.TensorSpec((None, 2), tf.int32)
    }
    predict = tf.function(lambda inputs: model.serve(inputs), input_signature=[spec], autograph=False)
    predicted = [word for word in masked if len(word.ids) == 1]
    others = [word for word in masked if len(word.ids) > 1]

    def replace(word: _Masked, best: Sequence[str]) -> None:
        for copy in word.copies if len(best) else ():
            replacement = best[int(random.integers(len(best)))]
            replacements[word.text][copy].append(_Replacement(word.start, word.end, replacement))

    for first in range(0, len(predicted), _BATCH):
        batch = predicted[first : first + _BATCH]
        for word, scores in zip(batch, _logits(encoded, batch, model, predict), strict=True):
            replace(word, [readable(tokenizer, int(i)) for i in _best_ids(scores, allowed, word.ids[0], candidates)])
        if report is not None:
            report(first + len(batch), len(predicted))
    near = WordNeighbours(model, allowed)
    for word in others:
        replace(word, near.nearest(word.ids, candidates))
    return [
        [_edit(text, sorted(changes, key=attrgetter("start"))) for changes in text_copies]
        for text, text_copies in zip(texts, replacements, strict=True)
    ]


def _best_ids(scores: np.ndarray, allowed: np.ndarray, token_id: int, candidates: int) -> np.ndarray:
    """The ids of the most likely words but the present one."""
    scores = np.where(allowed, scores, -np.inf)
    scores[token_id] = -np.inf
    best = np.argsort(-scores, kind="stable")[:candidates]
    return best[np.isfinite(scores[best])]


def _logits(encoded: Encoded, masked: Sequence[_Masked], model: MaskedLM, predict: _Predict) -> np.ndarray:
    """The logits at each masked word, (words, V)."""
    ids = [list(encoded.input_ids[word.text]) for word in masked]
    for row, word in zip(ids, masked, strict=True):
        row[word.position] = model.tokenizer.mask_id
    types = [encoded.token_type_ids[word.text] for word in masked]
    features = Features(TokenLists(ids, types), np.arange(len(ids)))
    packed = features.pack(range(len(ids)), max(map(len, ids)), model.config.pad_token_id)
    positions = np.array([(row, word.position) for row, word in enumerate(masked)], np.int32)
    inputs = {name: tf.constant(packed[name]) for name in INPUT_NAMES}
    return predict({**inputs, "positions": tf.constant(positions)})[model.output_name].numpy()


def _whole_words(model: MaskedLM) -> np.ndarray:
    """Return a mask of the ids that are whole words of letters and digits, (V,) bool."""
    tokenizer = model.tokenizer
    pieces, allowed = word_pieces(tokenizer), np.zeros(model.config.vocab_size, bool)
    names = [readable(tokenizer, i) for i in range(tokenizer.vocabulary_size)]
    alphanumeric = np.array([bool(name) and all(map(str.isalnum, name)) for name in names])
    allowed[: len(names)] = alphanumeric & ~pieces.special & ~pieces.continues
    return allowed


def _edit(text: str, replacements: Sequence[_Replacement]) -> str:
    for replacement in reversed(replacements):
        text = f"{text[: replacement.start]}{replacement.word}{text[replacement.end :]}"
    return text
