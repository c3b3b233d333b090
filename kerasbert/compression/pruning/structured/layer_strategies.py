"""Fixed choices of the layers to keep (Sajjad et al. 2020, "Poor Man's BERT", arXiv 2004.03844)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.arguments import argument
from kerasbert.compression.pruning.structured.model_surgery import check_float
from kerasbert.compression.quantization.known_tokens import check_known_tokens
from kerasbert.encoders.layer_groups import blocks_per_layer
from kerasbert.errors import KerasBertError
from kerasbert.layers.config import EncoderConfig
from kerasbert.processors import Features
from kerasbert.tasks.base import Task
from kerasbert.tasks.inputs import batches

FIXED_STRATEGIES = ("top", "bottom", "alternate", "alternate-top", "symmetric", "contribution")


def kept_layers(count: int, keep: int, strategy: str, similarities: np.ndarray | None = None) -> list[int]:
    """Return the indices of the layers that a strategy keeps, in ascending order.

    Args:
        count: Number of layers.
        keep: Number of layers to keep.
        strategy: A name among `FIXED_STRATEGIES`.
        similarities: What `layer_similarities` returns; needed for `contribution`.

    Raises:
        KerasBertError: When the strategy cannot keep so few layers.
    """
    descending = np.arange(count)[::-1]
    orders = {
        "top": descending,
        "bottom": np.arange(count),
        "alternate": descending[1::2],
        "alternate-top": descending[::2],
        "symmetric": np.arange(count)[(keep + 1) // 2 :],
    }
    order = orders[strategy] if similarities is None else np.argsort(-similarities, kind="stable")
    if len(order) < count - keep:
        raise KerasBertError(
            f"expected at least {count - len(order)} of {count} layers to keep with the strategy {strategy!r}, received {keep}"
        )
    return sorted(set(range(count)) - set(order[: count - keep].tolist()))


def layer_similarities(task: Task, data: Any, batch_size: int = 32) -> np.ndarray:
    """Return the mean cosine similarity of each layer's input and output over tokens, `(layers,)` (Sajjad et al. 2020).

    A layer near 1 changes little.

    Args:
        task: The task, in float.
        data: Texts, or anything that `predict` takes.
        batch_size: Rows in a batch.

    Returns:
        The similarities, from -1 to 1.

    Raises:
        KerasBertError: When the task is quantized, and when the data are missing or have no known token.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import layer_similarities
        layer_similarities(task, texts)
        ```
    """
    check_float(task)
    if data is None:
        raise KerasBertError(
            f"expected data to compare layers' inputs and outputs on, received none; give texts as {argument('data')}"
        )
    features = task.features(data)[1]
    check_known_tokens(task, features, "compare layers' inputs and outputs on them")
    return similarities_on(task, features, batch_size)


def similarities_on(task: Task, features: Features, batch_size: int = 32) -> np.ndarray:
    """Return what `layer_similarities` does, on tokenized rows.

    Args:
        task: The task, in float.
        features: The rows.
        batch_size: Rows in a batch.
    """
    total, tokens = np.zeros(task.config.num_hidden_layers), 0.0
    for inputs, *_ in batches(task, features, batch_size=batch_size, inputs_only=True)[0]:
        flat = {name: tf.reshape(values, (-1, values.shape[-1])) for name, values in inputs.items()}
        attended = tf.cast(flat["attention_mask"], tf.float32)
        output = task.encoder(flat, training=False, output_hidden_states=True)
        hidden_states = _layer_boundaries(task.config, output.hidden_states)
        for layer in range(len(total)):
            cosine = -keras.losses.cosine_similarity(hidden_states[layer], hidden_states[layer + 1])  # (B, S)
            total[layer] += float(tf.reduce_sum(cosine * attended))
        tokens += float(tf.reduce_sum(attended))
    return total / tokens


def _layer_boundaries(config: EncoderConfig, hidden_states: Sequence[tf.Tensor]) -> Sequence[tf.Tensor]:
    """The hidden states before and after each layer, of which each may be several blocks."""
    return hidden_states[:: blocks_per_layer(config)]
