"""What a model computes of a batch, with all that objectives compare."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import tensorflow as tf

from kerasbert.capture import captured
from kerasbert.ids import INPUT_NAMES


@dataclass(frozen=True)
class Observation:
    """One model on one batch of B token lists of S tokens; all but `outputs` in float32.

    Attributes:
      outputs: what calling the task gives, a tensor or a dict of them; None where only its encoder was called.
      states: the embedding output and each layer's, (B, S, H).
      attentions: probabilities of each layer, (B, N, S, S).
      vectors: queries, keys and values of each layer, (B, N, S, D) each.
      mask: 1 for tokens, 0 for padding, (B, S).
    """

    outputs: Any
    states: tuple[tf.Tensor, ...]
    attentions: tuple[tf.Tensor, ...]
    vectors: tuple[tuple[tf.Tensor, ...], ...]
    mask: tf.Tensor

    @property
    def named_outputs(self) -> dict[str, tf.Tensor]:
        """Outputs by name, also where there is one alone."""
        found = self.outputs if isinstance(self.outputs, Mapping) else {"logits": self.outputs}
        return {name: tf.cast(values, tf.float32) for name, values in found.items()}


class Part(NamedTuple):
    """A tensor that an objective wants of the teacher. token_axes: those of its axes that count tokens, and grow with padding."""

    values: tf.Tensor
    token_axes: tuple[int, ...] = ()


def observe(task, inputs: Mapping[str, tf.Tensor], training: bool, outputs: bool = True) -> Observation:
    """Calls a task on packed inputs (B, S), or (rows, group, S). outputs: whether its head is called too."""
    with captured() as taps:
        result = task(inputs, training=training) if outputs else None
        if not outputs:
            flat = {name: tf.reshape(inputs[name], (-1, tf.shape(inputs[name])[-1])) for name in INPUT_NAMES}
            task.encoder(flat, training=training)
    ((states, attentions),), (mask,) = taps["encoder"], taps["attention_mask"]
    return Observation(
        result,
        tuple(map(_float, states)),
        tuple(map(_float, attentions)),
        tuple(tuple(map(_float, vectors)) for vectors in taps["attention"]),
        _float(mask),
    )


def _float(values) -> tf.Tensor:
    return tf.cast(values, tf.float32)
