"""The inputs of an encoder's call, completed and checked."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from kerasbert.errors import KerasBertError
from kerasbert.ids import INPUT_NAMES

Inputs = Mapping[str, tf.Tensor] | tf.Tensor  # int32 (B, S) by name, of which only `input_ids` is needed; or bare ids


def complete_inputs(inputs: Inputs, longest: int | None = None) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Return ids, mask and token types, each (B, S). Without a mask all tokens are attended; without types all are of the first text.

    Args:
        inputs: Int32 tensors `(B, S)` by input name, or bare ids.
        longest: The number of tokens that the encoder accepts; None for no check.

    Raises:
        KerasBertError: When there are no ids, they are no whole numbers of shape (batch, length), the length is above `longest`, or the
            others have another shape.
    """
    inputs = inputs if isinstance(inputs, Mapping) else {"input_ids": inputs}
    if inputs.get("input_ids") is None:
        names = [str(name) for name, values in inputs.items() if values is not None]
        raise KerasBertError(f"expected input_ids among the inputs, received {', '.join(names) or 'none'}")
    tensors = {name: _as_tensor(name, inputs[name]) for name in INPUT_NAMES if inputs.get(name) is not None}
    ids = tensors["input_ids"]
    if ids.shape.rank not in (None, 2):
        raise KerasBertError(
            f"expected input_ids of shape (batch, length), received {_shape(ids)}; put the ids of one text into a list of texts"
        )
    if longest is not None and (ids.shape[1] or 0) > longest:
        raise KerasBertError(
            f"expected rows of at most {longest} tokens (the positions of this model), received {ids.shape[1]}; shorten the texts"
        )
    for name, tensor in tensors.items():
        if not tensor.shape.is_compatible_with(ids.shape):
            raise KerasBertError(f"expected {name} of the shape of input_ids, {_shape(ids)}, received {_shape(tensor)}")
    mask, types = tensors.get("attention_mask"), tensors.get("token_type_ids")
    return ids, tf.ones_like(ids) if mask is None else mask, tf.zeros_like(ids) if types is None else types


def _as_tensor(name: str, values: Any) -> tf.Tensor:
    try:
        tensor = tf.convert_to_tensor(values)
    except (ValueError, TypeError, tf.errors.InvalidArgumentError) as error:
        raise KerasBertError(
            f"expected {name} as whole numbers of shape (batch, length), received rows of different lengths or other values; "
            "pad them as `task.pack(texts)` does"
        ) from error
    if not (tensor.dtype.is_integer or tensor.dtype.is_bool):
        raise KerasBertError(f"expected {name} as whole numbers, received {tensor.dtype.name}; use `task.pack(texts)`")
    return tensor


def _shape(tensor: tf.Tensor) -> str:
    return str(tuple(tensor.shape)) if tensor.shape.rank is not None else "an unknown shape"
