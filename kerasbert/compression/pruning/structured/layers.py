"""Whole layers dropped (Sajjad et al. 2020, "Poor Man's BERT", arXiv 2004.03844)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import tensorflow as tf

from kerasbert.compression.pruning.structured.model_surgery import (
    check_float,
    check_numbers,
    check_one,
    rebuilt,
    values_of,
)
from kerasbert.compression.quantization.known_tokens import check_words
from kerasbert.data.table import is_table
from kerasbert.encoders.albert import AlbertConfig
from kerasbert.encoders.pruned_sizes import Cut, sizes_of
from kerasbert.errors import KerasBertError
from kerasbert.tasks.inputs import batches

STRATEGIES = ("top", "bottom", "alternate", "alternate-top", "symmetric", "contribution")


def drop_layers(
    task,
    keep: int | None = None,
    layers: Sequence[int] | None = None,
    strategy: str = "top",
    data=None,
    batch_size: int = 32,
):
    """The same class of task with fewer layers; `num_hidden_layers` follows.

    keep: how many layers stay. strategy: which ones go:
        top, bottom: those next to the head, or to the embeddings.
        alternate: every second one from the top down, beginning below the top layer; alternate-top: beginning with it.
        symmetric: those in the middle; as many stay above as below, of an odd number one more below.
        contribution: those whose output is most like their input over `data` (anything that the task predicts on).
    layers: those that stay, counted from 0, in place of `keep`.

    ALBERT's layers are calls of shared blocks: fewer calls, and blocks that nothing calls any more are gone.

    Raises KerasBertError for a quantized task, a number of layers that cannot be kept or not in this way, layers that do not exist, an
    unknown strategy, and missing data.
    """
    check_float(task)
    check_one(keep=keep, layers=layers)
    count = task.config.num_hidden_layers
    if strategy not in STRATEGIES:
        raise KerasBertError(f"expected a strategy of {', '.join(STRATEGIES)}, received {strategy!r}")
    if layers is not None:
        kept = check_numbers(layers, count, "layers")
    else:
        kept = sorted(set(range(count)) - set(_dropped(task, _number(keep, count), strategy, data, batch_size)))
    if not 0 < len(kept) < count:
        raise KerasBertError(f"expected from 1 to {count - 1} layers to keep, received {len(kept)}")
    return _with_layers(task, kept)


def layer_similarities(task, data, batch_size: int = 32) -> np.ndarray:
    """The cosine of each layer's input and output, its mean over the tokens of `data`: (layers,). A layer near 1 changes little.

    data: texts, or anything that the task predicts on.

    Raises KerasBertError for no data.
    """
    check_float(task)
    if data is None:
        raise KerasBertError("expected data to compare layers' inputs and outputs on, received none")
    rows = task.features(data.x if is_table(data) else data)[1]
    check_words(task, rows, "compare layers' inputs and outputs on them")
    total, tokens = np.zeros(task.config.num_hidden_layers), 0.0
    for inputs, *_ in batches(task, rows, batch_size=batch_size, inputs_only=True)[0]:
        flat = {name: tf.reshape(values, (-1, values.shape[-1])) for name, values in inputs.items()}
        attended = tf.cast(flat["attention_mask"], tf.float32)
        states = _between_layers(task, task.encoder(flat, training=False, output_hidden_states=True).hidden_states)
        for layer in range(len(total)):
            cosine = -tf.keras.losses.cosine_similarity(states[layer], states[layer + 1])  # (B, S)
            total[layer] += float(tf.reduce_sum(cosine * attended))
        tokens += float(tf.reduce_sum(attended))
    return total / tokens


def _number(keep, count: int) -> int:
    if isinstance(keep, bool) or not isinstance(keep, int | np.integer) or not 0 < keep < count:
        raise KerasBertError(f"expected from 1 to {count - 1} layers to keep, received {keep!r}")
    return int(keep)


def _dropped(task, keep: int, strategy: str, data, batch_size: int) -> list[int]:
    """The numbers of the layers that go."""
    count = task.config.num_hidden_layers
    if strategy == "contribution":
        order = np.argsort(-layer_similarities(task, data, batch_size), kind="stable")
    elif strategy == "symmetric":
        order = np.arange(count)[(keep + 1) // 2 :]
    else:
        from_the_top = np.arange(count)[::-1]
        orders = {
            "top": from_the_top,
            "bottom": np.arange(count),
            "alternate": from_the_top[1::2],
            "alternate-top": from_the_top[::2],
        }
        order = orders[strategy]
    if len(order) < count - keep:
        raise KerasBertError(
            f"expected at least {count - len(order)} of {count} layers to keep with the strategy {strategy!r}, received {keep}"
        )
    return order[: count - keep].tolist()


def _with_layers(task, kept: list[int]):
    config, blocks = _config_with(task.config, kept)
    old, values = values_of(task), {}
    places = {f"layers.{block}": f"layers.{place}" for place, block in enumerate(blocks)}
    for path, value in old.items():
        part = ".".join(path.split(".")[1:3])
        if path.startswith("encoder.layers."):
            if part in places:
                values[path.replace(part, places[part], 1)] = value
        else:
            values[path] = value
    if task.encoder.layer_mix is not None:
        inner = getattr(config, "inner_group_num", 1)
        calls = [layer * inner + i for layer in kept for i in range(inner)]
        values["encoder.layer_mix.scores"] = old["encoder.layer_mix.scores"][[0, *(1 + call for call in calls)]]
    return rebuilt(task, values, *Cut.of(config, *sizes_of(task.encoder, blocks)))


def _config_with(config, kept: list[int]):
    """The config of fewer layers, and the numbers of the blocks that they call."""
    if not isinstance(config, AlbertConfig):
        return replace(config, num_hidden_layers=len(kept)), kept
    groups = [config.group(layer) for layer in kept]
    found = sorted(set(groups))
    smaller = replace(config, num_hidden_layers=len(kept), num_hidden_groups=len(found))
    if [found[smaller.group(layer)] for layer in range(len(kept))] != groups:
        raise KerasBertError(
            f"expected layers that leave each of ALBERT's {len(found)} groups the calls that a config gives it, received {kept}"
        )
    return smaller, [group * config.inner_group_num + i for group in found for i in range(config.inner_group_num)]


def _between_layers(task, states: Sequence) -> Sequence:
    """The hidden states before and behind each layer: one of ALBERT's may be several blocks."""
    return states[:: getattr(task.config, "inner_group_num", 1)]
