"""Sentence embedding: a text to one vector."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.arguments import argument
from kerasbert.checkpoints.hugging_face import max_sequence_length
from kerasbert.checkpoints.sentence_transformers import lowercases, read_settings, write_modules, write_prompts
from kerasbert.encoders.base import Encoder, complete_inputs
from kerasbert.encoders.pooling import POOLINGS, pool
from kerasbert.errors import KerasBertError
from kerasbert.layers.lowering.half_range import half_range_scale
from kerasbert.layers.lowering.options import lowering_options
from kerasbert.layers.quantization.activation_quantizers import TANH_RANGE
from kerasbert.layers.quantization.connections import tie_sequence
from kerasbert.layers.quantization.factory import LayerFactory
from kerasbert.losses.pairs import PairLoss, SentenceLoss, text_numbers
from kerasbert.processors import Features
from kerasbert.processors.embedding import Embedding
from kerasbert.processors.prompts import checked_prompts
from kerasbert.tasks.base import Task
from kerasbert.tasks.inputs import is_packed
from kerasbert.tasks.losses_on_logits import is_of_keras
from kerasbert.text import Tokenizer
from kerasbert.text.lowercasing import lowercased
from kerasbert.text.strings import as_strings

# `projection_activation=` -> the function; None is the identity
_ACTIVATIONS = {"identity": None, "tanh": tf.tanh}


@keras.utils.register_keras_serializable("kerasbert")
class SentenceEncoder(Task):
    """Pooled token vectors (Reimers & Gurevych 2019).

    Calling it, and `predict`, return float32 vectors `(rows, width)`, and for pairs `(rows, 2, width)`. `fit` takes pairs of texts with
    scores from 0 to 1, similar pairs without scores, or texts with target vectors; see `kerasbert.losses.pairs.SentenceLoss` and the other
    losses there.

    Args:
        encoder: The encoder.
        tokenizer: The tokenizer, or None for packed inputs only.
        pooling: `mean`, `cls` (the first token), `max`, `lasttoken`, `weightedmean` (by position) or `mean_sqrt_len_tokens` (the sum
            over the square root of the number of tokens).
        normalize: Whether vectors have length 1.
        sequence_length: Tokens in the longest row; see `Task`.
        dimensions: Numbers in a vector: a Dense layer projects the pooled vector. None: as many as the encoder is wide.
        projection_bias: Whether that Dense layer has a bias.
        projection_activation: The activation of that Dense layer, `identity` or `tanh`.
        prompts: Texts that may stand before each text, by name, such as `{"query": "query: "}`.
        default_prompt_name: The name of the prompt that stands before each text, in training too, unless a call names another one.
        kwargs: Arguments of `keras.Model`.

    Raises:
        KerasBertError: When the pooling, the activation or the default prompt is unknown, or `dimensions` is not a positive number.

    Example:
        ```python
        sentences = kb.SentenceEncoder.from_pretrained("small-en", sequence_length=32)
        vectors = sentences.predict(["wake me at six", "set an alarm"])  # float32 (2, width)
        float(vectors[0] @ vectors[1])  # the cosine similarity: vectors have length 1
        ```
    """

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
        dimensions: int | None = None,
        projection_bias: bool = False,
        projection_activation: str = "identity",
        prompts: Mapping[str, str] | None = None,
        default_prompt_name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        if pooling not in POOLINGS:
            raise KerasBertError(f"expected a pooling of {POOLINGS}, received {pooling!r}")
        self.pooling, self.normalize, self.dimensions = pooling, normalize, dimensions
        self.prompts, self.default_prompt_name = checked_prompts(prompts, default_prompt_name)
        self.projection_bias, self.projection_activation = projection_bias, projection_activation
        self.projection = None
        if dimensions is not None:
            self._make_projection(dimensions)
        elif projection_bias or projection_activation != "identity":
            raise KerasBertError(
                f"expected {argument('dimensions')} with a bias or an activation of the projection, received none"
            )
        self._create_variables()
        if encoder.pooler is not None:
            encoder.pooler.trainable = False  # the loss does not depend on it

    def _make_projection(self, dimensions: int) -> None:
        if type(dimensions) is not int or dimensions < 1:
            raise KerasBertError(
                f"expected {argument('dimensions')} as a positive whole number, received {dimensions!r}"
            )
        if not isinstance(self.projection_activation, str) or self.projection_activation not in _ACTIVATIONS:
            raise KerasBertError(
                f"expected a projection_activation of {', '.join(_ACTIVATIONS)}, received {self.projection_activation!r}"
            )
        make = LayerFactory(self.config, self.policy)
        activation = _ACTIVATIONS[self.projection_activation]
        fixed_range = TANH_RANGE if activation is tf.tanh else None
        self.heads = ("projection",)
        self.projection_input = make.quantizer("projection.input")
        if self.pooling == "cls":
            tie_sequence(self.encoder, self.projection_input)
        self.projection = make.dense(
            "projection", dimensions, self.projection_input, has_bias=self.projection_bias, activation=activation
        )
        self.projected = make.quantizer("projection.activated", integer_only=True, fixed_range=fixed_range)

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return self.dimensions or self.config.hidden_size

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | os.PathLike,
        pooling: str | None = None,
        normalize: bool | None = None,
        sequence_length: int | None = None,
        dimensions: int | None = None,
        **sizes: Any,
    ) -> Self:
        """Load a sentence encoder from a checkpoint or sentence-transformers folder, or the hub.

        Args:
            name_or_path: The folder, or a name on the hub.
            pooling: See `SentenceEncoder`; by default the folder's, or `mean`.
            normalize: See `SentenceEncoder`; by default the folder's, or True.
            sequence_length: Tokens in the longest row; by default the folder's.
            dimensions: Numbers in a vector; by default the folder's. A folder without projection gets a new one.
            sizes: Other arguments of `Task.from_pretrained`.

        Returns:
            The sentence encoder, with the checkpoint's weights.

        Raises:
            KerasBertError: When files are damaged or do not match.
        """
        return super().from_pretrained(
            name_or_path,
            pooling=pooling,
            normalize=normalize,
            sequence_length=sequence_length,
            dimensions=dimensions,
            **sizes,
        )

    @classmethod
    def settings_of(cls, config: dict[str, Any], folder: Path) -> dict[str, Any]:
        return read_settings(folder, config.get("hidden_size", config.get("dim")), max_sequence_length(config))

    @classmethod
    def read_tokenizer(cls, folder: Path) -> Tokenizer | None:
        tokenizer = super().read_tokenizer(folder)
        return lowercased(tokenizer) if tokenizer is not None and lowercases(folder) else tokenizer

    def write_companions(self, folder: Path) -> None:
        """Write the files in which sentence-transformers stores pooling, projection and normalization.

        Args:
            folder: The folder of `save_pretrained`.
        """
        write_modules(
            folder,
            self.config.hidden_size,
            self.sequence_length,
            pooling=self.pooling,
            normalize=self.normalize,
            dimensions=self.dimensions,
            projection_bias=self.projection_bias,
            projection_activation=self.projection_activation,
        )
        if self.prompts is not None:
            write_prompts(folder, self.prompts, self.default_prompt_name)

    def call(self, inputs: dict[str, tf.Tensor], training: bool | None = None) -> tf.Tensor:
        if inputs["input_ids"].shape.rank == 3:  # pairs (B, 2, S) -> (B, 2, W)
            group = tf.shape(inputs["input_ids"])[1]
            flat = {name: tf.reshape(ids, (-1, tf.shape(ids)[2])) for name, ids in inputs.items()}
            vectors = self.call(flat, training=training)
            return tf.reshape(vectors, (-1, group, vectors.shape[-1]))
        sequence = self.encoder(inputs, training=training).sequence  # (B, S, H)
        mask = complete_inputs(inputs)[1]
        pooled = pool(sequence, mask, self.pooling)  # (B, H)
        if self.projection is not None:
            pooled = self.projection(self.projection_input(pooled, training=training), training=training)  # (B, W)
            if self.projection.activation is not None:
                pooled = self.projected(pooled, training=training)
        vectors = tf.cast(pooled, tf.float32)
        if not self.normalize:
            return vectors
        # The mean square, not the sum: the converter would make an operator of the sum that no GPU delegate supports.
        smallest: float | tf.Tensor = 1e-12 / self.width
        if lowering_options().half_range:
            scale = half_range_scale(vectors)
            vectors, smallest = vectors * scale, smallest * tf.square(scale)
        square = tf.reduce_mean(tf.square(vectors), axis=-1, keepdims=True)
        return vectors * (tf.math.rsqrt(tf.maximum(square, smallest)) * self.width**-0.5)

    @property
    def float_parts(self) -> str | None:
        parts = [f"{self.pooling} pooling"] * (self.pooling != "cls") + ["vectors of length 1"] * self.normalize
        return " and ".join(parts) or None

    @property
    def processor(self) -> Embedding:
        return Embedding(width=self.width, prompts=self.prompts, default_prompt_name=self.default_prompt_name)

    def prompted(self, texts: Sequence[str]) -> Sequence[str]:
        prefix = self.processor.prefix
        return [prefix + text for text in as_strings(texts)] if prefix else texts

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: int = 0,
        *,
        prompt_name: str | None = None,
        prompt: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Compute the vectors of texts; see `KerasTask.predict`.

        Args:
            x: Texts, pairs of texts, a dataset, packed inputs or a `tf.data.Dataset`.
            batch_size: Rows in a batch; by default 32.
            verbose: As in Keras.
            prompt_name: The name of the prompt that stands before each text; by default `default_prompt_name`.
            prompt: A text to use instead of a named prompt; "" for none.
            kwargs: Other arguments of Keras' `predict`.

        Returns:
            Float32 vectors `(rows, width)`, and for pairs `(rows, 2, width)`.

        Raises:
            KerasBertError: When there is no such prompt, or inputs are packed already.
        """
        if prompt_name is None and prompt is None:
            return super().predict(x, batch_size, verbose, **kwargs)
        if isinstance(x, tf.data.Dataset) or is_packed(x):
            raise KerasBertError(
                f"expected texts for a prompt, received {type(x).__name__}; put the prompt before its texts"
            )
        _, features = self.features(x, processor=self.processor.with_prompt(prompt_name, prompt))
        return self.predict_features(features, batch_size, verbose, **kwargs)

    def default_loss(self) -> keras.losses.Loss:
        return SentenceLoss()

    def encode_targets(self, y: Any, examples: Sequence | np.ndarray, features: Features) -> Any:
        """Encode scores or vectors as the loss takes them; for pairs without scores, the numbers of both texts if the loss needs them.

        Args:
            y: Scores `(pairs,)`, vectors `(texts, width)`, or None for pairs without scores.
            examples: The texts or pairs.
            features: Their features.

        Returns:
            The scores, the vectors, the numbers of the texts `(pairs, 2)`, or None.

        Raises:
            KerasBertError: When the loss cannot learn from the data.
        """
        y, loss = super().encode_targets(y, examples, features), getattr(self, "loss", None)
        if not isinstance(loss, PairLoss):
            if features.group == 2 and is_of_keras(loss):
                raise KerasBertError(
                    f"expected a loss over pairs of vectors, received {type(loss).__name__}; leave it out, or take CosineLoss"
                )
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
        config = {**super().get_config(), "pooling": self.pooling, "normalize": self.normalize}
        optional = {
            "dimensions": (self.dimensions, None),
            "projection_bias": (self.projection_bias, False),
            "projection_activation": (self.projection_activation, "identity"),
            "prompts": (self.prompts, None),
            "default_prompt_name": (self.default_prompt_name, None),
        }
        return config | {name: value for name, (value, default) in optional.items() if value != default}
