"""Masked language modelling: texts with masks to words, and masked texts to train on."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from kerasbert.data.reading import read_plain_texts
from kerasbert.errors import KerasBertError
from kerasbert.files.record import setting
from kerasbert.masking_units import UNITS
from kerasbert.processors.base import LARGEST, Inputs, Processor, RawResult, RawResults, concatenate
from kerasbert.processors.contributions import Contributions, Ratio
from kerasbert.processors.display import Display, Record, pair_cell, text_fields
from kerasbert.processors.features import IGNORED, WHOLE, Features, TokenLists
from kerasbert.processors.masked_pairs import PairMasks, pair_features
from kerasbert.processors.masking import choose_tokens, corrupt_tokens
from kerasbert.processors.metrics import softmax
from kerasbert.processors.texts import text_examples
from kerasbert.processors.word_pieces import WordPieces, readable, splits_words_itself, word_numbers, word_pieces
from kerasbert.text import Tokenizer
from kerasbert.text.encoded import Encoded
from kerasbert.text.windows import windows

SCORING_SEED = 20181011  # arbitrary, but constant: metrics are for the same masks every time


def _lines(record: Record) -> list[list[str]]:
    return [
        [
            " ".join(f"{word['word']} {word['probability']:.4f}" for word in mask["words"]),
            record["text"],
            *pair_cell(record),
        ]
        for mask in record["masks"]
    ]


@dataclass(frozen=True)
class MaskedPositions:
    """The masks of one row.

    Attributes:
        index: Positions of the masked tokens in the row, `(masks,)`.
        tokenizer: The tokenizer, for the words of predictions.
        spans: `(start, end)` characters of each mask in the example's text, if the text itself has masks.
        labels: Ids of the masked tokens if the processor chose them, else None.
        words: The number of each token's word in the row, `(tokens,)`, where only the tokenizer knows words; else None.
        parts: The text of a pair that each mask is in, 0 or 1; None for single texts.
    """

    index: np.ndarray
    tokenizer: Tokenizer = field(repr=False)
    spans: tuple[tuple[int, int], ...] = ()
    labels: np.ndarray | None = None
    words: np.ndarray | None = field(default=None, repr=False)
    parts: tuple[int, ...] | None = None


@dataclass(frozen=True)
class MaskedWords(Processor):
    """Masked language modelling (Devlin et al. 2018, section 3.1). Examples are texts or pairs of texts; there are no labels.

    A text that is longer than a row is split into windows. If the text itself has masks, only windows around them are made: masks that are
    near each other share a window. A pair is one row, and is truncated.

    A raw result is `logits`: the probabilities of all words at each mask of the text, `(masks, vocabulary)`. For `scoring_features` it has
    the right word and the most likely other word only, `(masks, 2)`: whole distributions of a corpus would fill the memory.

    Attributes:
        share: Fraction of the tokens that are masked, special ones not counted; at least one in a row.
        whole_words: Whether all tokens of a word are masked together. Words are those of the tokenizer: split at spaces and punctuation,
            each Chinese character by itself, Japanese by MeCab.
        top: Number of words that a prediction lists for a mask.
        masking: What is masked together: `tokens` (the default), `words` (as `whole_words`), `n-grams` of up to three words (Lan et al.
            2019), `spans` of words (Joshi et al. 2020), or `entities` of the data and the words beside them (Sun et al. 2019).

    Raises:
        KerasBertError: When the share is not between 0 and 1, `top` is below 1, or `whole_words` contradicts `masking`.
    """

    share: float = setting(0.15, above=0, below=1)
    whole_words: bool = False
    top: int = setting(5, at_least=1, at_most=LARGEST)
    masking: str | None = setting(None, choices=UNITS, omitted_if_none=True)

    name = "masked_lm"
    outputs = ("logits",)
    output_rank = 3
    per_token = True
    self_supervised = True
    needs_labels = False
    not_tokenized = ("top",)
    reader = staticmethod(read_plain_texts)
    display = Display(("words", "text"), _lines, limit=lambda prediction, top_k: prediction)

    def check(self) -> None:
        self.expect(not self.whole_words or self.masking in (None, "words"), "masking", "as 'words' beside whole_words")

    @property
    def unit(self) -> str:
        """What is masked together; one of `masking_units.UNITS`."""
        return self.masking or ("words" if self.whole_words else "tokens")

    def examples(self, x: Any) -> list:
        texts = text_examples(x)
        for row, text in enumerate(texts):
            if not all(part.strip() for part in (text if isinstance(text, tuple) else (text,))):
                raise KerasBertError(f"row {row}: expected a text, received an empty one; leave it out")
        return texts

    def features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        if examples and isinstance(examples[0], tuple):
            features, pairs = pair_features(examples, tokenizer, length)
            each = zip(examples, pairs, self._words_of_pairs(pairs, tokenizer), strict=True)
            return replace(features, alignment=[_of_pair(*row, tokenizer) for row in each])
        encoded = tokenizer.encode(examples, max_length=WHOLE)
        texts, words = encoded.input_ids, self._words_of(encoded, tokenizer)
        masks = _masks(examples, texts, tokenizer)
        none = MaskedPositions(np.zeros(0, np.int64), tokenizer)
        parts, alignment, truncated = [], [], 0
        for number, ids in enumerate(texts):
            if number not in masks or len(ids) <= length:
                for start, end in _windows(len(ids) - 2, length - 2):
                    parts.append((number, start, end))
                    positions = masks.get(number, none)
                    row_words = None if words is None else _window(words[number], start, end)
                    alignment.append(positions if row_words is None else replace(positions, words=row_words))
                continue
            truncated += 1
            for start, end, group in _windows_around(masks[number].index - 1, len(ids) - 2, length - 2):
                index, spans = masks[number].index[group] - start, masks[number].spans[group]
                parts.append((number, start, end))
                alignment.append(MaskedPositions(index, tokenizer, spans))
        return replace(_windowed(texts, parts), truncated=truncated, alignment=alignment)

    def scoring_features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        """Tokenize whole texts, or truncated pairs, with the same masks every time."""
        if examples and isinstance(examples[0], tuple):
            features, pairs = pair_features(examples, tokenizer, length)
            numbers = self._words_of_pairs(pairs, tokenizer)
            return self.masked(features, tokenizer, None if numbers[0] is None else numbers)
        encoded = tokenizer.encode(examples, max_length=WHOLE)
        texts, words = encoded.input_ids, self._words_of(encoded, tokenizer)
        parts = [(i, *part) for i, ids in enumerate(texts) for part in _windows(len(ids) - 2, length - 2)]
        row_words = None if words is None else [_window(words[text], start, end) for text, start, end in parts]
        return self.masked(_windowed(texts, parts), tokenizer, row_words)

    def masked(self, features: Features, tokenizer: Tokenizer, words: Sequence[np.ndarray] | None = None) -> Features:
        """Return features with masks, the same ones every time.

        Args:
            features: Rows without masks.
            tokenizer: The tokenizer.
            words: The number of each token's word in each row, where only the tokenizer knows words.
        """
        pieces, corrupted, alignment = word_pieces(tokenizer), [], []
        for number, row in enumerate(features.token_lists.input_ids):
            ids, random = np.array(row, np.int32), np.random.default_rng((SCORING_SEED, number))
            numbers = None if words is None else words[number]
            index, replacements = self.replaced(ids, tokenizer.mask_id, pieces, random, numbers)
            alignment.append(MaskedPositions(index, tokenizer, labels=ids[index]))
            ids[index] = replacements
            corrupted.append(ids.tolist())
        return replace(features, tokens=replace(features.token_lists, input_ids=corrupted), alignment=alignment)

    def encode_labels(self, y: Any, examples: Sequence, features: Features) -> Any:
        raise KerasBertError("expected texts alone for masked words, received labels with them; leave the labels out")

    def _words_of(self, encoded: Encoded, tokenizer: Tokenizer) -> list[np.ndarray] | None:
        return None if self.unit == "tokens" else word_numbers(encoded, tokenizer)

    def _words_of_pairs(self, pairs: Sequence[PairMasks], tokenizer: Tokenizer) -> list[Any]:
        """Return the word numbers of each row, where only the tokenizer knows words; None of each otherwise."""
        known = self.unit == "tokens" or not splits_words_itself(tokenizer)
        return [None if known else pair.words for pair in pairs]

    def corrupt(
        self, inputs: Inputs, tokenizer: Tokenizer, random: np.random.Generator, alignment: Sequence[Any] = ()
    ) -> tuple[Inputs, np.ndarray]:
        if self.unit != "tokens" and not len(alignment) and splits_words_itself(tokenizer):
            raise KerasBertError(
                "expected texts for masks of words with a Japanese tokenizer, received packed inputs, which show no words; give the texts"
            )
        pieces, ids = word_pieces(tokenizer), inputs["input_ids"].copy()
        labels, owed = np.full_like(ids, IGNORED), 0.0
        for row, length in enumerate(inputs["attention_mask"].sum(axis=1)):
            numbers = alignment[row].words if len(alignment) else None
            index, replacements = self.replaced(ids[row, :length], tokenizer.mask_id, pieces, random, numbers, owed)
            owed += self.share * np.count_nonzero(~pieces.is_special(ids[row, :length])) - len(index)
            labels[row, index] = ids[row, index]
            ids[row, index] = replacements
        return {**inputs, "input_ids": ids}, labels

    def replaced(
        self,
        ids: np.ndarray,
        mask_id: int,
        pieces: WordPieces,
        random: np.random.Generator,
        numbers: np.ndarray | None = None,
        owed: float = 0.0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Choose the tokens of a row to predict, and what stands in their place.

        Args:
            ids: Token ids `(n,)`.
            mask_id: The id of the mask.
            pieces: The word pieces of the vocabulary.
            random: The random generator.
            numbers: The number of each token's word `(n,)`, by the tokenizer; None to tell words by the vocabulary.
            owed: The tokens that the rows before it chose too few.

        Returns:
            Positions in the row, in their order, and the ids that take their place.
        """
        index, groups = choose_tokens(ids, pieces, self.share, self.unit, random, numbers, owed)
        return index, self.replacements(ids[index], mask_id, pieces, random, groups)

    def replacements(
        self, ids: np.ndarray, mask_id: int, pieces: WordPieces, random: np.random.Generator, groups: np.ndarray
    ) -> np.ndarray:
        """Return the ids that take the place of chosen ones.

        Args:
            ids: The chosen ids `(n,)`.
            mask_id: The id of the mask.
            pieces: The word pieces of the vocabulary.
            random: The random generator.
            groups: The number of the word or span that each is in `(n,)`.
        """
        together = groups if self.unit == "spans" else None  # Joshi et al. 2020, section 3.1: a span has one draw
        return corrupt_tokens(ids, mask_id, pieces, random, together)

    def raw_result(self, outputs: RawResult, features: Features, row: int) -> RawResult:
        if not len(features.alignment):
            return self.comparable(outputs, features, row)
        return self.raw_result_at(outputs["logits"][features.alignment[row].index], features, row)

    def comparable(self, outputs: RawResult, features: Features, row: int) -> RawResult:
        """Select the probabilities of all words at the row's masks, `(masks, vocabulary)`; for packed rows, at all tokens."""
        index = features.alignment[row].index if len(features.alignment) else slice(features.lengths[row])
        return {"logits": softmax(outputs["logits"][index], np.float32)}

    def raw_result_at(self, logits: np.ndarray, features: Features, row: int) -> dict[str, np.ndarray]:
        """Return the raw result from the logits `(masks, vocabulary)` at the row's masks only."""
        probabilities, labels = softmax(logits, np.float32), features.alignment[row].labels
        if labels is None:
            return {"logits": probabilities}
        each = np.arange(len(labels))
        right = probabilities[each, labels]
        probabilities[each, labels] = 0
        return {"logits": np.stack([right, probabilities.max(axis=1)], axis=1)}

    def check_masks(self, examples: Sequence[str], features: Features) -> None:
        """Check that each text has a mask.

        Raises:
            KerasBertError: When a text has none; it names the first one.
        """
        masks = np.zeros(len(examples), int)
        np.add.at(masks, features.example, [len(alignment.index) for alignment in features.alignment])
        if (masks == 0).any():
            row, token = int(masks.argmin()), features.alignment[0].tokenizer.mask_token
            text = examples[row] if isinstance(examples[row], str) else " ".join(examples[row])
            raise KerasBertError(f"row {row}: expected a text with {token}, received none in {text[:40]!r}")

    def predictions(self, examples: Sequence, features: Features, raw_results: RawResults) -> list:
        self.check_masks(examples, features)
        predictions: list[dict[str, Any]] = [{**text_fields(example), "masks": []} for example in examples]
        for number, alignment, raw_result in zip(features.example, features.alignment, raw_results, strict=True):
            for mask, probabilities in zip(_places(alignment), raw_result["logits"], strict=True):
                words = self._words(probabilities, alignment.tokenizer)
                predictions[number]["masks"].append({**mask, "words": words})
        return predictions

    def probes(self, examples: Sequence, tokenizer: Tokenizer) -> list:
        """Return texts with a mask: one word in the middle of each, or of the second text of a pair, is replaced."""

        def probe(text: str) -> str:
            words = text.split()
            words[len(words) // 2] = tokenizer.mask_token
            return " ".join(words)

        return [(each[0], probe(each[1])) if isinstance(each, tuple) else probe(each) for each in examples]

    def listing(self, top_k: int) -> Self:
        return replace(self, top=top_k)

    def _words(self, probabilities: np.ndarray, tokenizer: Tokenizer) -> list[dict[str, Any]]:
        best = np.argsort(-probabilities, kind="stable")[: self.top]
        return [{"word": readable(tokenizer, int(i)), "probability": float(probabilities[i])} for i in best]

    def metrics(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> dict[str, float]:
        """Compute `masked accuracy`, and the `perplexity` of the right words, over the masks of `scoring_features`."""
        if y is not None:
            self.encode_labels(y, examples, features)
        right, other = concatenate(raw_results, "logits").astype(np.float64).T
        if not len(right):
            raise KerasBertError("expected texts with words to mask, received none but special and unknown tokens")
        surprisal = -np.log(np.maximum(right, np.finfo(np.float32).tiny))
        return {"masked accuracy": float(np.mean(right > other)), "perplexity": math.exp(surprisal.mean())}

    def contributions(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> Contributions:
        correct = [raw_result["logits"][:, 0] > raw_result["logits"][:, 1] for raw_result in raw_results]
        parts, wholes = (np.array([count(row) for row in correct], np.float64) for count in (np.sum, np.size))
        return Ratio(np.bincount(features.example, parts), np.bincount(features.example, wholes))


def _window(words: np.ndarray, start: int, end: int) -> np.ndarray:
    """Return the word numbers of a row of `_windowed`."""
    return np.concatenate([[-1], words[1 + start : 1 + end], [-1]])


def _windowed(texts: Sequence[list[int]], parts: Sequence[tuple[int, int, int]]) -> Features:
    """Return rows of `(text, first token, end)`, special tokens not counted; each row gets the special tokens of its text."""
    lists = [[texts[i][0], *texts[i][1 + start : 1 + end], texts[i][-1]] for i, start, end in parts]
    return Features(TokenLists(lists, [[0] * len(ids) for ids in lists]), np.array([i for i, _, _ in parts], np.int64))


def _windows(tokens: int, room: int) -> list[tuple[int, int]]:
    """Return the fewest windows without overlap, all of one size: words in a last window of few tokens would be hard to predict."""
    size = math.ceil(tokens / math.ceil(tokens / room)) if tokens else 1
    return windows(tokens, size, size)


def _windows_around(masks: np.ndarray, tokens: int, room: int) -> list[tuple[int, int, slice]]:
    """Return windows around masks, as (first token, end, masks in it).

    The masks of a window are no further apart than half of it, and in its middle.
    """
    around, first = [], 0
    while first < len(masks):
        last = int(np.searchsorted(masks, masks[first] + max(room // 2, 1)))
        start = int(masks[first] + masks[last - 1] + 1 - room) // 2
        start = min(max(start, 0), tokens - room)
        around.append((start, start + room, slice(first, last)))
        first = last
    return around


def _masks(examples: Sequence[str], texts: Sequence[list[int]], tokenizer: Tokenizer) -> dict[int, MaskedPositions]:
    """Return the masks in the texts themselves, by the number of the text."""
    numbers = [i for i, ids in enumerate(texts) if tokenizer.mask_id in ids]
    if not numbers:
        return {}
    offsets = tokenizer.encode([examples[i] for i in numbers], max_length=WHOLE).offsets
    masks = {}
    for number, token_spans in zip(numbers, offsets, strict=True):
        index = np.flatnonzero(np.array(texts[number]) == tokenizer.mask_id)
        spans = tuple(_trimmed(examples[number], *token_spans[i]) for i in index)
        masks[number] = MaskedPositions(index, tokenizer, spans)
    return masks


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without the space before it, which some masks include."""
    return end - len(text[start:end].lstrip()), end


def _of_pair(
    example: tuple[str, str], masks: PairMasks, words: np.ndarray | None, tokenizer: Tokenizer
) -> MaskedPositions:
    texts = (example[part] for part in masks.parts)
    spans = tuple(_trimmed(text, *span) for text, span in zip(texts, masks.spans, strict=True))
    return MaskedPositions(masks.index, tokenizer, spans, words=words, parts=masks.parts)


def _places(masks: MaskedPositions) -> list[dict[str, int]]:
    """Return where each mask stands, as a prediction tells it."""
    places = [{"start": start, "end": end} for start, end in masks.spans]
    return (
        places
        if masks.parts is None
        else [{**place, "part": part} for place, part in zip(places, masks.parts, strict=True)]
    )
