"""Sentence embedding: a text to one vector."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.checkpoints.hugging_face import max_sequence_length
from kerasbert.encoders.base import Encoder
from kerasbert.encoders.pooling import POOLINGS, pool
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import read_json
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.losses.pairs import PairLoss, SentenceLoss, text_numbers
from kerasbert.processors import Features
from kerasbert.processors.embedding import Embedding
from kerasbert.tasks.base import Task
from kerasbert.text import Tokenizer

# sentence-transformers' names in 1_Pooling/config.json
POOLING_KEYS = {"mean": "pooling_mode_mean_tokens", "cls": "pooling_mode_cls_token", "max": "pooling_mode_max_tokens"}


@keras.utils.register_keras_serializable("kerasbert")
class SentenceEncoder(Task):
    """Pooled token vectors (Reimers & Gurevych 2019).

    Calling it, and `predict`, return float32 vectors `(rows, hidden)`, and for pairs `(rows, 2, hidden)`. `fit` takes pairs of texts with
    scores from 0 to 1, similar pairs without scores, or texts with target vectors; see `kerasbert.losses.pairs.SentenceLoss` and the other
    losses there.

    Args:
        encoder: The encoder.
        tokenizer: The tokenizer, or None for packed inputs only.
        pooling: `mean`, `cls` or `max` over the tokens.
        normalize: Whether vectors have length 1.
        sequence_length: Tokens in the longest row; see `Task`.
        kwargs: Arguments of `keras.Model`.

    Raises:
        KerasBertError: When the pooling is unknown.
    """

    architecture = "Model"
    pools = None
    reads_mask = True
    predicts_arrays = True

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None,
        pooling: str = "mean",
        normalize: bool = True,
        sequence_length: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        if pooling not in POOLINGS:
            raise KerasBertError(f"expected a pooling of {POOLINGS}, received {pooling!r}")
        self.pooling, self.normalize = pooling, normalize
        self._create_variables()
        if encoder.pooler is not None:
            encoder.pooler.trainable = False  # the loss does not depend on it

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | os.PathLike,
        pooling: str | None = None,
        normalize: bool | None = None,
        sequence_length: int | None = None,
        **sizes: Any,
    ) -> Self:
        """Load a sentence encoder from a checkpoint or sentence-transformers folder, or the hub.

        Args:
            name_or_path: The folder, or a name on the hub.
            pooling: See `SentenceEncoder`; by default the folder's, or `mean`.
            normalize: See `SentenceEncoder`; by default the folder's, or True.
            sequence_length: Tokens in the longest row; by default the folder's.
            sizes: Other arguments of `Task.from_pretrained`.

        Raises:
            KerasBertError: When files are damaged or do not match.
        """
        return super().from_pretrained(
            name_or_path, pooling=pooling, normalize=normalize, sequence_length=sequence_length, **sizes
        )

    @classmethod
    def settings_of(cls, config: dict[str, Any], folder: Path) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        modes = _read(folder / "1_Pooling" / "config.json", {})
        poolings = [name for name, key in POOLING_KEYS.items() if modes.get(key)]
        if len(poolings) == 1:
            settings["pooling"] = poolings[0]
        modules = _read(folder / "modules.json", None)
        if modules is not None:
            settings["normalize"] = any(module.get("type", "").endswith("Normalize") for module in modules)
        length = _read(folder / "sentence_bert_config.json", {}).get("max_seq_length")
        if isinstance(length, int):
            settings["sequence_length"] = min(length, max_sequence_length(config))
        return settings

    def write_companions(self, folder: Path) -> None:
        """Write the files in which sentence-transformers stores pooling and normalization."""
        kinds = ["Transformer", "Pooling"] + ["Normalize"] * self.normalize
        paths = ["", "1_Pooling", "2_Normalize"]
        modules = [
            {"idx": i, "name": str(i), "path": paths[i], "type": f"sentence_transformers.models.{kind}"}
            for i, kind in enumerate(kinds)
        ]
        modes = {key: name == self.pooling for name, key in POOLING_KEYS.items()}
        _write(folder / "modules.json", modules)
        _write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": self.config.hidden_size, **modes})
        _write(folder / "sentence_bert_config.json", {"max_seq_length": self.sequence_length, "do_lower_case": False})

    def call(
        self, inputs: dict[str, tf.Tensor], training: bool | None = None, lowering: LoweringOptions = TRAINING_OPTIONS
    ) -> tf.Tensor:
        if inputs["input_ids"].shape.rank == 3:  # pairs (B, 2, S) -> (B, 2, H)
            group = tf.shape(inputs["input_ids"])[1]
            flat = {name: tf.reshape(ids, (-1, tf.shape(ids)[2])) for name, ids in inputs.items()}
            vectors = self.call(flat, training=training, lowering=lowering)
            return tf.reshape(vectors, (-1, group, vectors.shape[-1]))
        sequence = self.encoder(inputs, training=training, lowering=lowering).sequence  # (B, S, H)
        vectors = tf.cast(pool(sequence, inputs["attention_mask"], self.pooling), tf.float32)  # (B, H)
        if not self.normalize:
            return vectors
        # The mean square, not the sum: the converter would make an operator of the sum that no GPU delegate supports.
        width = self.config.hidden_size
        square = tf.reduce_mean(tf.square(vectors), axis=-1, keepdims=True)
        return vectors * (tf.math.rsqrt(tf.maximum(square, 1e-12 / width)) * width**-0.5)

    def serve(self, inputs: dict[str, tf.Tensor], lowering: LoweringOptions = TRAINING_OPTIONS) -> dict[str, tf.Tensor]:
        return {self.output_name: self(inputs, training=False, lowering=lowering)}

    @property
    def processor(self) -> Embedding:
        return Embedding(width=self.config.hidden_size)

    def default_loss(self) -> keras.losses.Loss:
        return SentenceLoss()

    def encode_targets(self, y: Any, examples: Sequence | np.ndarray, features: Features) -> Any:
        """Encode scores or vectors as the loss takes them; for pairs without scores, the numbers of both texts if the loss needs them.

        Raises:
            KerasBertError: When the loss cannot learn from the data.
        """
        y, loss = super().encode_targets(y, examples, features), getattr(self, "loss", None)
        if not isinstance(loss, PairLoss):
            return y
        if features.group == 2:
            loss.check(y)
            return text_numbers(features) if y is None and loss.numbers_texts else y
        if not isinstance(loss, SentenceLoss):
            raise KerasBertError(
                f"expected pairs of texts for {type(loss).__name__}, received single texts; give each text a second one"
            )
        return y

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "pooling": self.pooling, "normalize": self.normalize}


def _read(path: Path, default: Any) -> Any:
    return read_json(path) if path.is_file() else default


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", "utf-8")
