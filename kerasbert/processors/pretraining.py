"""Pretraining: pairs of sentences with masked words, and texts with replaced tokens."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.processors import metrics
from kerasbert.processors.base import Inputs, RawResult, RawResults, check_same_number, concatenate
from kerasbert.processors.classification import SingleLabel
from kerasbert.processors.contributions import Contributions, Ratio
from kerasbert.processors.features import IGNORED, Features
from kerasbert.processors.masked_lm import SCORING_SEED, MaskedPositions, MaskedWords
from kerasbert.processors.masking import choose_tokens
from kerasbert.processors.texts import text_examples, text_features
from kerasbert.processors.word_pieces import WordPieces, readable, splits_words_itself, word_pieces
from kerasbert.text import Tokenizer


@dataclass(frozen=True)
class MaskedTexts(MaskedWords):
    """Masked words of running text, for pretraining.

    Attributes:
        mask_all: Whether all chosen tokens become masks, as a generator of replacements reads them (Clark et al. 2020, section 2).
    """

    mask_all: bool = False

    name = "pretraining"
    outputs = ("prediction_logits",)

    def replacements(
        self, ids: np.ndarray, mask_id: int, pieces: WordPieces, random: np.random.Generator, groups: np.ndarray
    ) -> np.ndarray:
        if self.mask_all:
            return np.full_like(ids, mask_id)
        return super().replacements(ids, mask_id, pieces, random, groups)

    def raw_result(self, outputs: RawResult, features: Features, row: int) -> RawResult:
        masks = features.alignment[row]
        return self.raw_result_at(outputs[self.outputs[0]][masks.index], features, row)

    def predictions(self, examples: Sequence, features: Features, raw_results: RawResults) -> list:
        raise KerasBertError(
            "expected packed inputs to predict with the heads of pretraining, received texts; kb.MaskedLM (--task masked-lm) "
            "fills masks and kb.NextSentencePredictor (--task next-sentence) judges pairs, from the same folder"
        )


@dataclass(frozen=True)
class PretrainingPairs(MaskedTexts):
    """Masked words of pairs of sentences, and whether the second sentence belongs there (Devlin et al. 2018, section 3.1).

    Examples are pairs of texts; labels are those of the pairs, by name or number. A raw result is that of `MaskedWords`, and `pair`: the
    logits of the pair.

    Attributes:
        pair_output: The output with the logits of the pair, `(batch, 2)`.
    """

    pair_output: str = "seq_relationship_logits"

    second_input = "pair"
    needs_labels = True

    def examples(self, x: Any) -> list:
        pairs = text_examples(x)
        if pairs and not isinstance(pairs[0], tuple):
            raise KerasBertError(f"row 0: expected a pair of texts, received one text: {pairs[0][:40]!r}")
        return pairs

    def features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        if self.unit != "tokens" and splits_words_itself(tokenizer):
            raise KerasBertError("expected whole_words=False for pairs of Japanese texts, received True; leave it out")
        return text_features(examples, tokenizer, length)

    def scoring_features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        return self.masked(self.features(examples, tokenizer, length), tokenizer)

    def encode_labels(self, y: Any, examples: Sequence, features: Features) -> Any:
        """Encode the labels of pairs as `{pair_output: numbers}`; labels of packed inputs may have the masked words as well."""
        if isinstance(y, dict):
            return {name: np.asarray(values, np.int32) for name, values in y.items()}
        check_same_number(y, examples)
        return {self.pair_output: SingleLabel(self.labels).numbers(y)}

    def raw_result(self, outputs: RawResult, features: Features, row: int) -> RawResult:
        return {**super().raw_result(outputs, features, row), "pair": outputs[self.pair_output][np.newaxis]}

    def metrics(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> dict[str, float]:
        """Compute those of `MaskedWords`, and `pair accuracy`."""
        pairs = concatenate(raw_results, "pair").argmax(axis=1)
        truth = self.encode_labels(y, examples, features)[self.pair_output]
        words = super().metrics(None, examples, features, raw_results)
        return {**words, "pair accuracy": metrics.accuracy(truth, pairs)}


@dataclass(frozen=True)
class ReplacedTokens(MaskedWords):
    """Texts in which some tokens are replaced (Clark et al. 2020, section 2). Examples are texts.

    The replacements are other tokens of the batch. The paper takes them from a generator: give packed inputs of its texts, and labels.
    A raw result is `logits`, `(tokens,)`.
    """

    name = "replaced_tokens"
    outputs = ("logits",)
    output_rank = 2

    def scoring_features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        """Tokenize texts and replace tokens, the same ones every time."""
        features = self.features(examples, tokenizer, length)
        packed = features.pack(range(len(features)), int(features.lengths.max()), tokenizer.pad_id)
        packed, labels = self.corrupt(packed, tokenizer, np.random.default_rng(SCORING_SEED))
        lengths = features.lengths
        rows = [ids[:length].tolist() for ids, length in zip(packed["input_ids"], lengths, strict=True)]
        alignment = [
            MaskedPositions(np.flatnonzero(row != IGNORED), tokenizer, labels=row[row != IGNORED]) for row in labels
        ]
        return replace(features, tokens=replace(features.token_lists, input_ids=rows), alignment=alignment)

    def encode_labels(self, y: Any, examples: Sequence, features: Features) -> Any:
        """Encode the labels of packed inputs, `(rows, length)`: 1 for replaced tokens, 0 for others, -100 where there is none."""
        labels = np.asarray(y)
        if labels.ndim != 2 or labels.shape[0] != len(features) or not np.isin(labels, (0, 1, IGNORED)).all():
            raise KerasBertError(
                f"expected labels 0, 1 and {IGNORED} of packed inputs, (rows, length), received shape {labels.shape}; leave them out for "
                "texts, whose tokens are replaced in training"
            )
        return [row[:length].astype(np.int32) for row, length in zip(labels, features.lengths, strict=True)]

    def corrupt(
        self, inputs: Inputs, tokenizer: Tokenizer, random: np.random.Generator, alignment: Sequence[Any] = ()
    ) -> tuple[Inputs, np.ndarray]:
        pieces, ids = word_pieces(tokenizer), inputs["input_ids"].copy()
        real = (inputs["attention_mask"] > 0) & ~pieces.is_special(ids)
        others = ids[real]
        for row in range(len(ids)):
            index, _ = choose_tokens(
                np.where(real[row], ids[row], tokenizer.pad_id), pieces, self.share, "tokens", random
            )
            ids[row, index] = random.choice(others, len(index)) if len(index) else []
        labels = np.where(real, ids != inputs["input_ids"], IGNORED).astype(np.int32)
        return {**inputs, "input_ids": ids}, labels

    def raw_result(self, outputs: RawResult, features: Features, row: int) -> RawResult:
        return {"logits": outputs["logits"][: features.lengths[row]]}

    def check_masks(self, examples: Sequence[str], features: Features) -> None:
        """Do nothing: texts need no masks."""

    def predictions(self, examples: Sequence, features: Features, raw_results: RawResults) -> list:
        """Return for each text its `tokens`, each with the `probability` that it was replaced."""
        predictions: list[dict[str, Any]] = [{"text": text, "tokens": []} for text in examples]
        rows = zip(features.example, features.token_lists.input_ids, features.alignment, raw_results, strict=True)
        for number, ids, positions, raw_result in rows:
            probabilities = 1 / (1 + np.exp(-raw_result["logits"].astype(np.float64)))
            names = [readable(positions.tokenizer, int(token)) for token in ids]
            found = zip(names[1:-1], probabilities[1:-1].tolist(), strict=True)
            predictions[number]["tokens"] += [{"token": name, "probability": value} for name, value in found]
        return predictions

    def metrics(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> dict[str, float]:
        """Compute `F1` of replaced tokens and `token accuracy`, over the tokens of `scoring_features`."""
        truth, found = self._decisions(features, raw_results)
        return {"F1": metrics.f1(truth, found), "token accuracy": metrics.accuracy(truth, found)}

    def contributions(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> Contributions:
        parts = [self._decisions(features, raw_results, row) for row in range(len(features))]
        both = np.array([2 * np.sum(truth & found) for truth, found in parts], np.float64)
        either = np.array([np.sum(truth) + np.sum(found) for truth, found in parts], np.float64)
        return Ratio(np.bincount(features.example, both), np.bincount(features.example, either))

    @staticmethod
    def _decisions(
        features: Features, raw_results: RawResults, row: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return whether each token was replaced, and whether the model says so."""
        rows = range(len(features)) if row is None else [row]
        truth = [features.alignment[i].labels > 0 for i in rows]
        found = [raw_results[i]["logits"][features.alignment[i].index] > 0 for i in rows]
        return np.concatenate(truth), np.concatenate(found)
