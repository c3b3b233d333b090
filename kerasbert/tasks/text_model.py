"""A Keras model of texts: an encoder, a tokenizer and a processor."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tf_keras as keras

from kerasbert.arguments import check_whole_number
from kerasbert.encoders.base import Encoder
from kerasbert.errors import KerasBertError
from kerasbert.layers.config import EncoderConfig
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.processors import Features, Processor
from kerasbert.sharing import ThreadLock
from kerasbert.text import Tokenizer
from kerasbert.text.encoded import Encoded

_LONGEST = 1 << 20  # tokens in a row


class TextModel(keras.Model):
    """The part of every task that has its encoder, and tokenizes texts. `Task` makes the attributes."""

    encoder: Encoder
    _tokenizer: Tokenizer | None
    sequence_length: int
    truncated_texts: int = 0  # also while Keras replaces the attribute: it deletes the old value first
    predict_function: Any  # of Keras
    _state_lock: ThreadLock
    _predict_lock: ThreadLock
    _notes: set[str]

    @property
    def config(self) -> EncoderConfig:
        """The encoder's config."""
        return self.encoder.config

    @property
    def policy(self) -> QuantizationPolicy | None:
        """The quantization policy that the task is trained under, or None."""
        return self.encoder.policy

    @property
    def processor(self) -> Processor:
        """The task's processor: examples to features, outputs to predictions and metrics.

        Raises:
            KerasBertError: When the task reads packed inputs only, as those for pretraining do.
        """
        raise KerasBertError(f"expected a task that reads texts, received {type(self).__name__}; give it packed inputs")

    @property
    def output_name(self) -> str:
        """The output of the exported file that `predict` returns for packed inputs."""
        return self.processor.outputs[0]

    @property
    def per_token(self) -> bool:
        """True if outputs have an axis of tokens. Then `predict` pads packed inputs to `sequence_length`."""
        return self.processor.per_token

    def prompted(self, texts: Sequence[str]) -> Sequence[str]:
        """Return texts with what the task puts before each one; most tasks put nothing there.

        Args:
            texts: The texts.

        Returns:
            The texts to tokenize.
        """
        return texts

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer.

        Raises:
            KerasBertError: When the task was made without one.
        """
        if self._tokenizer is None:
            raise KerasBertError(
                "expected packed inputs, received texts: this model came without a tokenizer (vocab.txt, tokenizer.json, spiece.model, "
                "or vocab.json with merges.txt); pack them with the tokenizer that it was trained with"
            )
        return self._tokenizer

    @property
    def has_tokenizer(self) -> bool:
        """True if the task has a tokenizer."""
        return self._tokenizer is not None

    def tokenize_as(self, client: str) -> None:
        """Tokenize texts by a client's rules from now on, so that training and client agree.

        The setting is saved with the task, and in its `.tflite` files.

        Args:
            client: "mediapipe" or "task-library"; see `kerasbert.text.ClientWordPiece`.

        Raises:
            KerasBertError: When there is no such client, it does not support the task, or the tokenizer is not WordPiece.
        """
        from kerasbert.processors.client_tasks import client_tokenizer

        self._tokenizer = client_tokenizer(self.tokenizer, client, self.processor)

    def encode(self, texts: Sequence[str], pairs: Sequence[str] | None = None) -> Encoded:
        """Tokenize texts, or pairs of texts, and truncate them to `sequence_length`.

        Args:
            texts: The texts.
            pairs: The second text of each pair.

        Returns:
            The token ids, without padding.

        Raises:
            KerasBertError: When the task has no tokenizer, or an entry is not a text.
        """
        encoded = self.tokenizer.encode(self.prompted(texts), pairs, max_length=self.sequence_length)
        self._count_truncated(encoded.truncated)
        return encoded

    def pack(
        self, texts: Sequence[str], pairs: Sequence[str] | None = None, length: int | None = None
    ) -> dict[str, np.ndarray]:
        """Tokenize and pad texts, or pairs of texts.

        Args:
            texts: The texts.
            pairs: The second text of each pair.
            length: Tokens in each row; by default `sequence_length`.

        Returns:
            `input_ids`, `attention_mask` and `token_type_ids`, int32 arrays `(rows, length)`.

        Raises:
            KerasBertError: When the task has no tokenizer, or an entry is not a text.
        """
        length = self.sequence_length if length is None else check_whole_number(length, "a length", most=_LONGEST)
        features = Features.from_encoded(self.tokenizer.encode(self.prompted(texts), pairs, max_length=length))
        return features.pack(range(len(features)), length, self.tokenizer.pad_id)

    def _count_truncated(self, texts: int) -> None:
        if texts:
            with self._state_lock.held:
                self.truncated_texts += texts
