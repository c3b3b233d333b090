"""Removal of whole layers (Sajjad et al. 2020, "Poor Man's BERT", arXiv 2004.03844)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.compression.pruning.structured.model_surgery import (
    check_exactly_one,
    check_float,
    check_indices,
    rebuild_task,
    weights_by_path,
)
from kerasbert.compression.quantization.known_tokens import check_known_tokens
from kerasbert.data.table import is_table
from kerasbert.encoders.albert import AlbertConfig
from kerasbert.encoders.pruned_sizes import PrunedSizes, sizes_of
from kerasbert.errors import KerasBertError
from kerasbert.layers.config import EncoderConfig
from kerasbert.tasks.base import Task
from kerasbert.tasks.inputs import batches

STRATEGIES = ("top", "bottom", "alternate", "alternate-top", "symmetric", "contribution")


def drop_layers(
    task: Task,
    keep: int | None = None,
    layers: Sequence[int] | None = None,
    strategy: str = "top",
    data: Any = None,
    batch_size: int = 32,
) -> Task:
    """Return a copy of a task with fewer layers.

    Layers of an ALBERT are calls of shared blocks: it gets fewer calls, and blocks without a call are removed.

    Args:
        task: The task, in float.
        keep: Number of layers to keep.
        layers: Layers to keep, counted from 0, in place of `keep`.
        strategy: Choice of the layers to remove. `top` removes those next to the head, `bottom` those next to the embeddings.
            `alternate` removes every second one from the top down, from the second on; `alternate-top` from the top one on. `symmetric`
            removes those in the middle; for an odd `keep` one more stays below. `contribution` removes those with the highest
            `layer_similarities`.
        data: Texts, or anything that `predict` takes; needed for `contribution`.
        batch_size: Rows in a batch.

    Raises:
        KerasBertError: When the task is quantized; when the strategy is unknown or cannot keep `keep` layers; when a layer does not exist;
            and when data are missing.
    """
    check_float(task)
    check_exactly_one(keep=keep, layers=layers)
    count = task.config.num_hidden_layers
    if strategy not in STRATEGIES:
        raise KerasBertError(f"expected a strategy of {', '.join(STRATEGIES)}, received {strategy!r}")
    if layers is not None:
        kept_layers = check_indices(layers, count, "layers")
    else:
        dropped = _dropped_layers(task, _check_keep(keep, count), strategy, data, batch_size)
        kept_layers = sorted(set(range(count)) - set(dropped))
    if not 0 < len(kept_layers) < count:
        raise KerasBertError(f"expected from 1 to {count - 1} layers to keep, received {len(kept_layers)}")
    return _with_layers(task, kept_layers)


def layer_similarities(task: Task, data: Any, batch_size: int = 32) -> np.ndarray:
    """Return the mean cosine similarity of each layer's input and output over tokens, `(layers,)`. A layer near 1 changes little.

    Args:
        task: The task, in float.
        data: Texts, or anything that `predict` takes.
        batch_size: Rows in a batch.

    Raises:
        KerasBertError: When the task is quantized, and when the data are missing or have no known token.
    """
    check_float(task)
    if data is None:
        raise KerasBertError(
            "expected data to compare layers' inputs and outputs on, received none; give texts as `data=`"
        )
    features = task.features(data.x if is_table(data) else data)[1]
    check_known_tokens(task, features, "compare layers' inputs and outputs on them")
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


def _check_keep(keep: int | None, count: int) -> int:
    if isinstance(keep, bool) or not isinstance(keep, int | np.integer) or not 0 < keep < count:
        raise KerasBertError(f"expected from 1 to {count - 1} layers to keep, received {keep!r}")
    return int(keep)


def _dropped_layers(task: Task, keep: int, strategy: str, data: Any, batch_size: int) -> list[int]:
    """The indices of the layers to remove."""
    count = task.config.num_hidden_layers
    if strategy == "contribution":
        order = np.argsort(-layer_similarities(task, data, batch_size), kind="stable")
    elif strategy == "symmetric":
        order = np.arange(count)[(keep + 1) // 2 :]
    else:
        descending = np.arange(count)[::-1]
        orders = {
            "top": descending,
            "bottom": np.arange(count),
            "alternate": descending[1::2],
            "alternate-top": descending[::2],
        }
        order = orders[strategy]
    if len(order) < count - keep:
        raise KerasBertError(
            f"expected at least {count - len(order)} of {count} layers to keep with the strategy {strategy!r}, received {keep}"
        )
    return order[: count - keep].tolist()


def _with_layers(task: Task, kept_layers: list[int]) -> Task:
    config, blocks = _config_with(task.config, kept_layers)
    old_weights, weights = weights_by_path(task), {}
    renamed = {f"layers.{block}": f"layers.{position}" for position, block in enumerate(blocks)}
    for path, value in old_weights.items():
        if not path.startswith("encoder.layers."):
            weights[path] = value
            continue
        block_path = ".".join(path.split(".")[1:3])
        if block_path in renamed:
            weights[path.replace(block_path, renamed[block_path], 1)] = value
    if task.encoder.layer_mix is not None:
        inner = _blocks_per_layer(config)
        calls = [layer * inner + i for layer in kept_layers for i in range(inner)]
        weights["encoder.layer_mix.scores"] = old_weights["encoder.layer_mix.scores"][
            [0, *(1 + call for call in calls)]
        ]
    return rebuild_task(task, weights, *PrunedSizes.of(config, *sizes_of(task.encoder, blocks)))


def _config_with(config: EncoderConfig, kept_layers: list[int]) -> tuple[EncoderConfig, list[int]]:
    """The config of an encoder with these layers, and the indices of the blocks that they call."""
    if not isinstance(config, AlbertConfig):
        return replace(config, num_hidden_layers=len(kept_layers)), kept_layers
    layer_groups = [config.group(layer) for layer in kept_layers]
    groups = sorted(set(layer_groups))
    smaller = replace(config, num_hidden_layers=len(kept_layers), num_hidden_groups=len(groups))
    if [groups[smaller.group(layer)] for layer in range(len(kept_layers))] != layer_groups:
        raise KerasBertError(
            f"expected layers that leave each of ALBERT's {len(groups)} groups the calls that a config gives it, received {kept_layers}; "
            "keep as many layers of each group"
        )
    return smaller, [group * config.inner_group_num + i for group in groups for i in range(config.inner_group_num)]


def _blocks_per_layer(config: EncoderConfig) -> int:
    return config.inner_group_num if isinstance(config, AlbertConfig) else 1


def _layer_boundaries(config: EncoderConfig, hidden_states: Sequence[tf.Tensor]) -> Sequence[tf.Tensor]:
    """The hidden states before and after each layer, of which each may be several blocks."""
    return hidden_states[:: _blocks_per_layer(config)]
