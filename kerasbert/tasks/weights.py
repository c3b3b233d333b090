"""The weights of a task: their names, a fingerprint, and copies of the task under other settings."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Self

import tensorflow as tf
import tf_keras as keras

from kerasbert.arguments import check_whole_number
from kerasbert.errors import KerasBertError
from kerasbert.files.training_recommendation import Recommendation
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.layers.traversal import named_variables, sublayers
from kerasbert.tasks.precision import FLOAT32, POLICIES, dtype_policy
from kerasbert.tasks.text_model import TextModel

_POSITIONS = "encoder.embeddings.position.table"
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class WeightsModel(TextModel):
    """The part of every task that names and copies weights."""

    recommended: Recommendation | None = None
    has_new_head: bool = True
    has_new_exits: bool = False

    def variables_by_path(self) -> dict[str, tf.Variable]:
        """Return every trained variable by attribute path, such as `encoder.layers.0.attention.query.kernel`."""
        return {
            path: variable
            for path, variable in named_variables(self).items()
            if variable.trainable or path.startswith("head.")
        }

    def fingerprint(self) -> str:
        """Return sixteen hex digits that change when any trained weight changes."""
        digest = hashlib.sha256()
        for path, variable in sorted(self.variables_by_path().items()):
            digest.update(path.encode() + variable.numpy().tobytes())
        return digest.hexdigest()[:16]

    def inherit_training(self, source: Self) -> None:
        """Take over what a task knows about its training, after its weights were copied.

        Args:
            source: The task whose weights this one has.
        """
        self.recommended, self.has_new_head = source.recommended, source.has_new_head
        self.has_new_exits = source.has_new_exits

    def with_policy(self, policy: QuantizationPolicy | None, dropout: float | None = None) -> Self:
        """Copy the task and its weights under another quantization policy; ranges start empty.

        Args:
            policy: The policy, or None for float.
            dropout: A dropout rate, as in `with_dropout`. None keeps the rates.

        Returns:
            The copy.
        """
        config = {} if dropout is None else {"config": self.config.with_dropout(float(dropout)).to_dict()}
        return self._copy(policy=policy.get_config() if policy else None, **config)

    def with_dropout(self, rate: float) -> Self:
        """Copy the task, its weights and ranges, with this dropout rate in encoder and head.

        Args:
            rate: The dropout rate, from 0 to below 1.

        Returns:
            The copy.

        Raises:
            KerasBertError: When the rate is below 0, or 1 and above.
        """
        return self._copy_with_ranges(config=self.config.with_dropout(float(rate)).to_dict())

    def with_sequence_length(self, length: int) -> Self:
        """Copy the task for rows of another length; the position table is lengthened if it is too short.

        New positions begin as copies of the others, from the first one on (Beltagy et al. 2020, arXiv:2004.05150, section 5). They have to
        be trained: continue the pretraining on texts that are long enough. Rows that fit the old table give the same outputs.

        Args:
            length: Tokens of a row, special ones included.

        Returns:
            The copy.

        Raises:
            KerasBertError: When the length is below 3; and when the table would grow in a quantized task.
        """
        length = check_whole_number(length, "length", least=3)
        before = self.config.longest
        if length <= before:
            return self._copy_with_ranges({"sequence_length": length})
        if self.policy is not None:
            raise KerasBertError(
                f"expected a task in float for more than {before} positions, received one quantized for {self.policy.recipe!r}; lengthen "
                "it first, quantize then"
            )
        changes: dict[str, Any] = {"sequence_length": length}
        tokenizer = self.get_config()["tokenizer"]
        if tokenizer and tokenizer["model_max_length"] is not None:
            changes["tokenizer"] = tokenizer | {"model_max_length": max(length, tokenizer["model_max_length"])}
        config = replace(self.config, max_position_embeddings=self.config.position_offset + length)
        return self._copy(changes, config=config.to_dict())

    def in_float32(self) -> Self:
        """Return the task if it computes in float32, else a copy that does, with its weights and ranges.

        A task that was made under the dtype policy `mixed_float16` or `mixed_bfloat16` of Keras computes in 16 bits.

        Returns:
            The task or the copy.
        """
        layers = [self, *sublayers(self, keras.layers.Layer)]
        if {layer.compute_dtype for layer in layers} <= {FLOAT32}:
            return self
        return self.with_precision(FLOAT32)

    def with_precision(self, precision: str) -> Self:
        """Copy the task and its weights, with layers that compute in a precision. Weights stay in float32.

        Args:
            precision: `float32` or `bfloat16`.

        Returns:
            The copy.

        Raises:
            KerasBertError: When there is no such precision, or the processor does not compute in it.
        """
        with dtype_policy(precision):
            return self._copy_with_ranges(dtype=POLICIES[precision])

    def _copy_with_ranges(self, changes: Mapping[str, Any] = _NOTHING, **encoder_changes: Any) -> Self:
        other = self._copy(changes, **encoder_changes)
        for quantizer, copied in zip(activation_quantizers(self), activation_quantizers(other), strict=True):
            for name, variable in copied.statistics().items():
                variable.assign(quantizer.statistics()[name])
        return other

    def _copy(self, changes: Mapping[str, Any] = _NOTHING, **encoder_changes: Any) -> Self:
        """Copy the task and its weights with other settings of the task and its encoder. New variables keep their initial values."""
        config = self.get_config() | dict(changes)
        config["encoder"]["config"] |= encoder_changes
        other: Any = type(self).from_config(config)
        source = self.variables_by_path()
        for path, variable in other.variables_by_path().items():
            value = tf.cast(source[path], variable.dtype)
            if path == _POSITIONS:
                value = _lengthened(value, variable.shape[0], self.config.position_offset)
            variable.assign(value)
        other.inherit_training(self)
        return other


def _lengthened(table: tf.Tensor, rows: int, offset: int) -> tf.Tensor:
    """Repeat the rows of a position table from `offset` on, until it has so many rows: (n, W) -> (rows, W)."""
    index = tf.range(rows)
    period = tf.shape(table)[0] - offset
    return tf.gather(table, tf.where(index < offset, index, offset + (index - offset) % period))
