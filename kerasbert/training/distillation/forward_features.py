"""The forward pass of a task with all tensors that objectives compare."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import tensorflow as tf

from kerasbert.capture import captured
from kerasbert.ids import INPUT_NAMES
from kerasbert.tasks.base import Task


@dataclass(frozen=True)
class ForwardFeatures:
    """The tensors of a task for one batch of B token lists of S tokens; all but `outputs` in float32.

    Attributes:
        outputs: The task's output, a tensor or a dict of tensors; None where only the encoder was called.
        hidden_states: The embedding output and the output of each layer, (B, S, H).
        attentions: Attention probabilities of each layer, (B, N, S, S).
        qkv: Queries, keys and values of each layer, (B, N, S, D) each; queries scaled by D^-0.5.
        mask: 1 for tokens, 0 for padding, (B, S).
    """

    outputs: Any
    hidden_states: tuple[tf.Tensor, ...]
    attentions: tuple[tf.Tensor, ...]
    qkv: tuple[tuple[tf.Tensor, ...], ...]
    mask: tf.Tensor

    @property
    def named_outputs(self) -> dict[str, tf.Tensor]:
        """Outputs by name in float32; a single output is named `logits`."""
        outputs = self.outputs if isinstance(self.outputs, Mapping) else {"logits": self.outputs}
        return {name: tf.cast(values, tf.float32) for name, values in outputs.items()}


class TeacherTensor(NamedTuple):
    """A tensor of the teacher that an objective compares.

    Attributes:
        values: The tensor, (B, ...).
        token_axes: The axes that count tokens, and so grow with padding.
    """

    values: tf.Tensor
    token_axes: tuple[int, ...] = ()


def forward_features(
    task: Task, inputs: Mapping[str, tf.Tensor], training: bool, outputs: bool = True
) -> ForwardFeatures:
    """Call a task and capture its intermediate tensors.

    Args:
        task: The task.
        inputs: Packed inputs, (B, S), or (rows, group, S).
        training: Whether dropout is active.
        outputs: Whether the head is called too.
    """
    with captured() as tensors:
        result = task(inputs, training=training) if outputs else None
        if not outputs:
            flat = {name: tf.reshape(inputs[name], (-1, tf.shape(inputs[name])[-1])) for name in INPUT_NAMES}
            task.encoder(flat, training=training)
    ((hidden_states, attentions),), (mask,) = tensors["encoder"], tensors["attention_mask"]
    return ForwardFeatures(
        result,
        tuple(map(_float, hidden_states)),
        tuple(map(_float, attentions)),
        tuple(tuple(map(_float, layer)) for layer in tensors.get("attention", ())),
        _float(mask),
    )


def _float(values: tf.Tensor) -> tf.Tensor:
    return tf.cast(values, tf.float32)
