"""Replaced token detection with replacements of the same batch."""

from typing import Any

import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.processors.pretraining import ReplacedTokens
from kerasbert.tasks.pretraining_objectives import OBJECTIVES, REPLACED_TOKENS
from kerasbert.tasks.pretraining_task import PretrainingTask
from kerasbert.text import Tokenizer


@keras.utils.register_keras_serializable("kerasbert")
class ReplacedTokenDetector(PretrainingTask):
    """Replaced token detection (ELECTRA, Clark et al. 2020, section 2). Calling it returns logits `(batch, length)`, positive for replaced
    tokens.

    `fit(texts)` replaces other tokens in every epoch, and `score(texts)` always the same ones, by tokens of the same batch. The paper takes
    the replacements from a small generator, which makes the task harder: `kb.Pretrainer` does that. This task also takes packed inputs with
    replaced tokens, and labels `(rows, length)`: 1 for replaced tokens, 0 for others and -100 where there is none. `predict(texts)` returns
    the tokens of each text with the probability that each was replaced. There is no file for applications.

    Args:
        encoder: The encoder.
        tokenizer: The tokenizer, or None for packed inputs only.
        sequence_length: Longest input in tokens, special tokens included; see `Task`.
        share: Fraction of the tokens that are replaced, special tokens not counted.
        kwargs: Arguments of `keras.Model`.

    Raises:
        KerasBertError: When the sequence length or the vocabulary does not fit the encoder; see `Task`.

    Example:
        ```python
        detector = kb.ReplacedTokenDetector(encoder, task.tokenizer, sequence_length=32)
        detector.compile(optimizer=kb.adamw(1e-4))
        detector.fit(["the film was a joy", "a dull book"])
        detector.predict(["the film was a joy"])[0]["tokens"][0]
        ```
    """

    objectives = (OBJECTIVES[REPLACED_TOKENS],)
    not_exported = "convert a task that was trained from it, such as kb.TextClassifier.from_pretrained(folder)"

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None = None,
        sequence_length: int | None = None,
        share: float = 0.15,
        **kwargs: Any,
    ) -> None:
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        self.share = share
        self.make_heads()

    @property
    def processor(self) -> ReplacedTokens:
        return ReplacedTokens(share=self.share)

    @property
    def soft_loss(self) -> str:
        return "sigmoid"

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "share": self.share}
