"""More texts for a student to ask its teacher about: words replaced by what a masked language model finds likely in their place."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from kerasbert.errors import KerasBertError
from kerasbert.ids import INPUT_NAMES
from kerasbert.processors.features import TokenLists
from kerasbert.processors.texts import text_examples
from kerasbert.processors.word_pieces import readable, word_pieces
from kerasbert.tasks.masked_lm import MaskedLM
from kerasbert.text import pack

_BATCH = 32


@dataclass(frozen=True)
class _Gap:
    """A word that is replaced in some copies: where in the row it stands, its characters, its id, the copies."""

    text: int
    place: int
    start: int
    end: int
    word: int
    copies: np.ndarray


def augment(
    texts: Sequence,
    language_model,
    copies: int = 20,
    probability: float = 0.4,
    candidates: int = 15,
    seed: int = 0,
    report=None,
) -> list:
    """Variants of texts, `copies` of the first one, then those of the next: Jiao et al. 2020, "TinyBERT", section 3.2 and algorithm 1.

    A word that is one token is replaced with a probability by one of the words that the model finds likeliest where it is masked, any of
    `candidates` alike. Words of several tokens stay as they are (the paper looks those up in GloVe), and so do special tokens, punctuation
    and what is longer than the model. All else of a text, its white space included, stays. Labels of the result are
    `np.repeat(labels, copies)`; the texts themselves are not in it.

    Args:
      texts: texts, or pairs of texts, of which each side is replaced by itself.
      language_model: a `MaskedLM` with a tokenizer.
      report: called with (words done, all words).

    Raises:
      KerasBertError: another task than a MaskedLM, and numbers that cannot be.
    """
    _check(language_model, copies, probability, candidates)
    examples = text_examples(texts)
    sides = [side for example in examples for side in (example if isinstance(example, tuple) else (example,))]
    gaps = _gaps(sides, language_model, copies, probability, seed)
    replaced = _replaced(sides, gaps, language_model, candidates, copies, seed, report)
    found, first = [], 0
    for example in examples:
        count = len(example) if isinstance(example, tuple) else 1
        for copy in range(copies):
            parts = tuple(replaced[first + side][copy] for side in range(count))
            found.append(parts if isinstance(example, tuple) else parts[0])
        first += count
    return found


def _check(language_model, copies: int, probability: float, candidates: int) -> None:
    if not isinstance(language_model, MaskedLM) or not language_model.has_tokenizer:
        raise KerasBertError(
            f"expected a MaskedLM with a tokenizer as language_model, received {type(language_model).__name__}"
        )
    if copies < 1 or candidates < 1:
        raise KerasBertError(f"expected copies and candidates of at least 1, received {copies} and {candidates}")
    if not 0 <= probability <= 1:
        raise KerasBertError(f"expected a probability from 0 to 1, received {probability}")


def _gaps(sides: Sequence[str], model, copies: int, probability: float, seed: int) -> list[_Gap]:
    """The words that are replaced in one copy or more."""
    tokenizer = model.tokenizer
    encoded, pieces = tokenizer.encode(sides, max_length=model.sequence_length), word_pieces(tokenizer)
    found = []
    for number, (ids, offsets) in enumerate(zip(encoded.input_ids, encoded.offsets, strict=True)):
        ids = np.array(ids, np.int32)
        words, draw = pieces.word_numbers(ids), np.random.default_rng((seed, number))
        alone = np.bincount(words)[words] == 1
        for place in np.flatnonzero(alone & ~pieces.is_special(ids)):
            start, end = offsets[place]
            start = end - len(sides[number][start:end].lstrip())
            chosen = np.flatnonzero(draw.random(copies) < probability)
            if len(chosen) and any(map(str.isalnum, sides[number][start:end])):
                found.append(_Gap(number, int(place), start, end, int(ids[place]), chosen))
    return found


def _replaced(sides, gaps: Sequence[_Gap], model, candidates: int, copies: int, seed: int, report) -> list[list[str]]:
    """The copies of each side. Gaps come in the order of texts and places."""
    edits: list[list[list[tuple[int, int, str]]]] = [[[] for _ in range(copies)] for _ in sides]
    tokenizer, draw = model.tokenizer, np.random.default_rng((seed, len(sides), copies))
    encoded, allowed = tokenizer.encode(sides, max_length=model.sequence_length), _allowed(model)
    spec = {name: tf.TensorSpec((None, None), tf.int32) for name in INPUT_NAMES} | {
        "positions": tf.TensorSpec((None, 2), tf.int32)
    }
    predict = tf.function(lambda inputs: model.serve(inputs), input_signature=[spec], autograph=False)
    for first in range(0, len(gaps), _BATCH):
        batch = gaps[first : first + _BATCH]
        logits = _logits(encoded, batch, model, predict)
        for gap, scores in zip(batch, logits, strict=True):
            scores = np.where(allowed, scores, -np.inf)
            scores[gap.word] = -np.inf
            best = np.argsort(-scores, kind="stable")[:candidates]
            best = best[np.isfinite(scores[best])]
            for copy in gap.copies if len(best) else ():
                word = readable(tokenizer, int(draw.choice(best)))
                edits[gap.text][copy].append((gap.start, gap.end, word))
        if report is not None:
            report(first + len(batch), len(gaps))
    return [[_edited(side, changes) for changes in each] for side, each in zip(sides, edits, strict=True)]


def _logits(encoded, gaps: Sequence[_Gap], model, predict) -> np.ndarray:
    """Scores of all words in each gap, (gaps, V)."""
    ids = [list(encoded.input_ids[gap.text]) for gap in gaps]
    for row, gap in zip(ids, gaps, strict=True):
        row[gap.place] = model.tokenizer.mask_id
    types = [encoded.token_type_ids[gap.text] for gap in gaps]
    packed = pack(TokenLists(ids, types), length=max(map(len, ids)), pad_id=model.config.pad_token_id)
    places = np.array([(row, gap.place) for row, gap in enumerate(gaps)], np.int32)
    inputs = {name: tf.constant(packed[name]) for name in INPUT_NAMES}
    return predict({**inputs, "positions": tf.constant(places)})[model.output_name].numpy()


def _allowed(model) -> np.ndarray:
    """Which ids are words that may stand alone, (V,) bool."""
    tokenizer = model.tokenizer
    pieces, allowed = word_pieces(tokenizer), np.zeros(model.config.vocab_size, bool)
    names = [readable(tokenizer, i) for i in range(tokenizer.vocabulary_size)]
    letters = np.array([bool(name) and all(map(str.isalnum, name)) for name in names])
    allowed[: len(names)] = letters & ~pieces.special & ~pieces.continues
    return allowed


def _edited(text: str, changes: Sequence[tuple[int, int, str]]) -> str:
    for start, end, word in reversed(changes):
        text = f"{text[:start]}{word}{text[end:]}"
    return text
