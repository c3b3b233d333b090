"""Texts with gaps to the words that fill them, and texts in which gaps are made to learn from."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.processors.base import Processor, joined
from kerasbert.processors.contributions import Ratio
from kerasbert.processors.features import IGNORED, WHOLE, Rows, TokenLists
from kerasbert.processors.texts import text_examples
from kerasbert.processors.word_pieces import WordPieces, readable, word_pieces
from kerasbert.text.windows import windows

MASKED, REPLACED = 0.8, 0.1  # of the chosen tokens; the rest stays as it is (Devlin et al. 2018, section 3.1)
SCORING_SEED = 20181011  # any number, but always the same


@dataclass(frozen=True)
class MaskedPlaces:
    """Where in a row something is to be found.

    index: places in the row, (m,). spans: `(start, end)` characters of each in the example's text; or targets: the ids that stood there.
    """

    index: np.ndarray
    tokenizer: Any = field(repr=False)
    spans: tuple[tuple[int, int], ...] = ()
    targets: np.ndarray | None = None


@dataclass(frozen=True)
class MaskedWords(Processor):
    """Masked language modelling (Devlin et al. 2018, section 3.1). x: texts; there is no y.

    share: of the tokens that are not special ones, how many are to be found, at least one a row. whole_words: all tokens of a word or
    none. top: how many words an answer lists for a mask.

    A text that is longer than the model is read in windows one after the other, and nothing is lost. If it has masks itself, it is read
    around them only: masks that are near each other share a window.

    A reading is `logits`: probabilities of all words at each mask of the text, (masks, V). In rows of `scoring_rows` they are only
    (masks, 2), those of the right word and of the likeliest other one, since whole distributions of a corpus would fill the memory.
    """

    share: float = 0.15
    whole_words: bool = False
    top: int = 5

    name = "masked_lm"
    outputs = ("logits",)
    self_supervised = True

    def __post_init__(self):
        if not 0 < self.share < 1:
            raise KerasBertError(f"expected a share of masked tokens between 0 and 1, received {self.share}")
        if self.top < 1:
            raise KerasBertError(f"expected a top of at least 1 word, received {self.top}")

    def examples(self, x):
        texts = text_examples(x)
        for row, text in enumerate(texts):
            if isinstance(text, tuple):
                raise KerasBertError(f"row {row}: expected one text for masked words, received a pair")
            if not text.strip():
                raise KerasBertError(f"row {row}: expected a text, received an empty one. Leave it out")
        return texts

    def rows(self, examples, tokenizer, length):
        texts = tokenizer.encode(examples, max_length=WHOLE).input_ids
        masks = _masks(examples, texts, tokenizer)
        none = MaskedPlaces(np.zeros(0, np.int64), tokenizer)
        parts, places, cut = [], [], 0
        for number, ids in enumerate(texts):
            if number not in masks or len(ids) <= length:
                for start, end in _windows(len(ids) - 2, length - 2):
                    parts.append((number, start, end))
                    places.append(masks.get(number, none))
                continue
            cut += 1
            for start, end, group in _around(masks[number].index - 1, len(ids) - 2, length - 2):
                index, spans = masks[number].index[group] - start, masks[number].spans[group]
                parts.append((number, start, end))
                places.append(MaskedPlaces(index, tokenizer, spans))
        return replace(_rows(texts, parts), truncated=cut, places=places)

    def scoring_rows(self, examples, tokenizer, length):
        """All of each text, with words taken out that are always the same ones for the same texts."""
        texts = tokenizer.encode(examples, max_length=WHOLE).input_ids
        rows = _rows(texts, [(i, *part) for i, ids in enumerate(texts) for part in _windows(len(ids) - 2, length - 2)])
        pieces, corrupted, places = word_pieces(tokenizer), [], []
        for number, ids in enumerate(rows.tokens.input_ids):
            ids, random = np.array(ids, np.int32), np.random.default_rng((SCORING_SEED, number))
            index = self._chosen(ids, pieces, random)
            places.append(MaskedPlaces(index, tokenizer, targets=ids[index]))
            ids[index] = _corrupted(ids[index], tokenizer.mask_id, pieces, random)
            corrupted.append(ids.tolist())
        return replace(rows, tokens=replace(rows.tokens, input_ids=corrupted), places=places)

    def targets(self, y, examples, rows):
        raise KerasBertError("expected texts alone for masked words, received labels with them. Leave the labels out")

    def corrupt(self, inputs, tokenizer, random):
        pieces, ids = word_pieces(tokenizer), inputs["input_ids"].copy()
        targets = np.full_like(ids, IGNORED)
        for row, length in enumerate(inputs["attention_mask"].sum(axis=1)):
            index = self._chosen(ids[row, :length], pieces, random)
            targets[row, index] = ids[row, index]
            ids[row, index] = _corrupted(ids[row, index], tokenizer.mask_id, pieces, random)
        return {**inputs, "input_ids": ids}, targets

    def _chosen(self, ids: np.ndarray, pieces: WordPieces, random: np.random.Generator) -> np.ndarray:
        """Places in a row (n,) that are to be found, in their order; at least one where there is a word."""
        free = np.flatnonzero(~pieces.is_special(ids))
        if not len(free):
            return free
        count = max(1, round(self.share * len(free)))
        if not self.whole_words:
            return np.sort(random.permutation(free)[:count])
        _, words = np.unique(pieces.word_numbers(ids)[free], return_inverse=True)
        order = random.permutation(words.max() + 1)
        sizes = np.bincount(words)[order]
        taken = (
            sizes.cumsum() - sizes / 2 <= count
        )  # the last word may be too long by half of it, so that on average the share is right
        taken[0] = True
        return free[np.isin(words, order[taken])]

    def read(self, outputs, rows, row):
        if not len(rows.places):
            return self.comparable(outputs, rows, row)
        return self.read_places(outputs["logits"][rows.places[row].index], rows, row)

    def comparable(self, outputs, rows, row):
        """Probabilities of all words at the row's places, (masks, V); of packed rows, which have none, at all tokens."""
        index = rows.places[row].index if len(rows.places) else slice(rows.lengths[row])
        return {"logits": _softmax(outputs["logits"][index])}

    def read_places(self, logits: np.ndarray, rows: Rows, row: int) -> dict[str, np.ndarray]:
        """`read` of logits (masks, V) at the row's places alone."""
        probabilities, targets = _softmax(logits), rows.places[row].targets
        if targets is None:
            return {"logits": probabilities}
        each = np.arange(len(targets))
        right = probabilities[each, targets]
        probabilities[each, targets] = 0
        return {"logits": np.stack([right, probabilities.max(axis=1)], axis=1)}

    def check_masks(self, examples: Sequence[str], rows: Rows) -> None:
        """Raises KerasBertError naming the first text without a mask."""
        masks = np.zeros(len(examples), int)
        np.add.at(masks, rows.example, [len(places.index) for places in rows.places])
        if (masks == 0).any():
            row, token = int(masks.argmin()), rows.places[0].tokenizer.mask_token
            raise KerasBertError(f"row {row}: expected a text with {token}, received none in {examples[row][:40]!r}")

    def answers(self, examples, rows, readings):
        self.check_masks(examples, rows)
        found = [{"text": text, "masks": []} for text in examples]
        for number, places, reading in zip(rows.example, rows.places, readings, strict=True):
            for (start, end), probabilities in zip(places.spans, reading["logits"], strict=True):
                words = self._words(probabilities, places.tokenizer)
                found[number]["masks"].append({"start": start, "end": end, "words": words})
        return found

    def _words(self, probabilities: np.ndarray, tokenizer) -> list[dict]:
        best = np.argsort(-probabilities, kind="stable")[: self.top]
        return [{"word": readable(tokenizer, int(i)), "probability": float(probabilities[i])} for i in best]

    def scores(self, y, examples, rows, readings):
        """Of the words taken out of `scoring_rows`: how many are found, and the perplexity of the right ones."""
        if y is not None:
            self.targets(y, examples, rows)
        right, other = joined(readings, "logits").astype(np.float64).T
        if not len(right):
            raise KerasBertError("expected texts with words to mask, received none but special and unknown tokens")
        surprise = -np.log(np.maximum(right, np.finfo(np.float32).tiny))
        return {"masked accuracy": float(np.mean(right > other)), "perplexity": math.exp(surprise.mean())}

    def contributions(self, y, examples, rows, readings):
        found = [reading["logits"][:, 0] > reading["logits"][:, 1] for reading in readings]
        parts, wholes = (np.array([count(row) for row in found], np.float64) for count in (np.sum, np.size))
        return Ratio(np.bincount(rows.example, parts), np.bincount(rows.example, wholes))


def _rows(texts: Sequence[list[int]], parts: Sequence[tuple[int, int, int]]) -> Rows:
    """Rows of (text, first token, behind the last), special ones not counted; each gets those of its text."""
    lists = [[texts[i][0], *texts[i][1 + start : 1 + end], texts[i][-1]] for i, start, end in parts]
    return Rows(TokenLists(lists, [[0] * len(ids) for ids in lists]), np.array([i for i, _, _ in parts], np.int64))


def _windows(tokens: int, room: int) -> list[tuple[int, int]]:
    """Windows one behind the other, as few as there can be, and of one size: a last one of few tokens would be hard to fill."""
    size = math.ceil(tokens / math.ceil(tokens / room)) if tokens else 1
    return windows(tokens, size, size)


def _around(masks: np.ndarray, tokens: int, room: int) -> list[tuple[int, int, slice]]:
    """(first, behind the last, which masks) of windows that have masks, no further apart than half a window, in their middle."""
    found, first = [], 0
    while first < len(masks):
        last = int(np.searchsorted(masks, masks[first] + max(room // 2, 1)))
        start = int(masks[first] + masks[last - 1] + 1 - room) // 2
        start = min(max(start, 0), tokens - room)
        found.append((start, start + room, slice(first, last)))
        first = last
    return found


def _masks(examples: Sequence[str], texts: Sequence[list[int]], tokenizer) -> dict[int, MaskedPlaces]:
    """The masks that stand in the texts themselves, by the number of the text."""
    numbers = [i for i, ids in enumerate(texts) if tokenizer.mask_id in ids]
    if not numbers:
        return {}
    offsets = tokenizer.encode([examples[i] for i in numbers], max_length=WHOLE).offsets
    found = {}
    for number, places in zip(numbers, offsets, strict=True):
        index = np.flatnonzero(np.array(texts[number]) == tokenizer.mask_id)
        spans = tuple(_trimmed(examples[number], *places[i]) for i in index)
        found[number] = MaskedPlaces(index, tokenizer, spans)
    return found


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without the space before it, which some masks include."""
    return end - len(text[start:end].lstrip()), end


def _corrupted(ids: np.ndarray, mask_id: int, pieces: WordPieces, random: np.random.Generator) -> np.ndarray:
    """What a model reads in place of the chosen ids: masks, random words, or the ids themselves."""
    draw = random.random(len(ids))
    other = random.choice(pieces.words, len(ids))
    return np.where(draw < MASKED, mask_id, np.where(draw < MASKED + REPLACED, other, ids)).astype(np.int32)


def _softmax(logits: np.ndarray) -> np.ndarray:
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True), dtype=np.float32)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)
