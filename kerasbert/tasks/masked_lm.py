"""Masked language modelling: texts with masks to the words at the masks."""

from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.processors import Features, Processor, RawResult
from kerasbert.processors.base import Inputs
from kerasbert.processors.masked_lm import MaskedWords
from kerasbert.tasks.pretraining_task import PretrainingTask, masked_words
from kerasbert.text import Tokenizer


@keras.utils.register_keras_serializable("kerasbert")
class MaskedLM(PretrainingTask):
    """Masked language modelling (Devlin et al. 2018, section 3.1). Calling it returns logits `(batch, length, vocabulary)`.

    `fit(texts)` masks other words in every epoch, and `score(texts)` always the same ones. `predict(texts)` fills the masks of texts that
    have the tokenizer's mask token.

    Inputs may have `positions`, int `(n, 2)`: (row, token) of the logits to compute, which then are `(n, vocabulary)`. Training and
    scoring ask for the masked tokens only: the decoder, by far the largest product, is computed for 15 % of the tokens.

    Args:
        encoder: The encoder.
        tokenizer: The tokenizer, or None for packed inputs only.
        sequence_length: Longest input in tokens, special tokens included; see `Task`.
        share: Fraction of the tokens that are masked, special tokens not counted; at least one token of each text.
        whole_words: Whether all tokens of a word are masked together.
        top: Number of words that a prediction lists for each mask.
        masking: What is masked together: `tokens` (the default), `words`, `n-grams`, `spans` or `entities`; see `MaskedWords`.
        kwargs: Arguments of `keras.Model`.

    Raises:
        KerasBertError: When the share is not between 0 and 1, or `top` is below 1.

    Example:
        ```python
        language_model = kb.MaskedLM.from_pretrained("small-en", sequence_length=32)
        language_model.predict(["the film was [MASK]"])[0]
        language_model.score(texts[:4])  # masked accuracy and perplexity
        ```
    """

    objectives = (masked_words(metric="masked_accuracy"),)

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None = None,
        sequence_length: int | None = None,
        share: float = 0.15,
        whole_words: bool = False,
        top: int = 5,
        masking: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        self.share, self.whole_words, self.top, self.masking = share, whole_words, top, masking
        self.make_heads()

    def _raw_results_of(self, inputs: Inputs, features: Features, index: np.ndarray) -> list[RawResult]:
        if not len(features.alignment):
            return super()._raw_results_of(inputs, features, index)
        serve = self._traced(
            "_served_positions", lambda: tf.function(self.serve, reduce_retracing=True, autograph=False)
        )
        tokens = [features.alignment[row].index for row in index]
        counts = [len(each) for each in tokens]
        rows = np.repeat(np.arange(len(index)), counts)
        positions = np.stack([rows, np.concatenate(tokens)], axis=1).astype(np.int32)
        outputs = serve({**inputs, "positions": tf.constant(positions)})
        parts = np.split(outputs[self.output_name].numpy(), np.cumsum(counts)[:-1])
        processor = self.processor
        return [processor.raw_result_at(part, features, int(row)) for part, row in zip(parts, index, strict=True)]

    def _examples(self, x: Any, scoring: bool = False, processor: Processor | None = None) -> tuple[list, Features]:
        examples, features = super()._examples(x, scoring, processor)
        if not scoring:
            self.processor.check_masks(examples, features)
        return examples, features

    @property
    def float_parts(self) -> str:
        return "the norm and the word scores of its head"

    @property
    def processor(self) -> MaskedWords:
        return MaskedWords(None, self.share, self.whole_words, self.top, self.masking)

    def get_config(self) -> dict[str, Any]:
        masks = {"share": self.share, "whole_words": self.whole_words, "top": self.top}
        return {**super().get_config(), **masks, **({"masking": self.masking} if self.masking else {})}
