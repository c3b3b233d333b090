"""Model surgery: a task rebuilt around weights of other sizes; argument checks of structured pruning."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from kerasbert.encoders.pruned_sizes import PrunedSizes
from kerasbert.errors import KerasBertError
from kerasbert.layers.blocks.transformer_block import FeedForward, SelfAttention
from kerasbert.layers.config import EncoderConfig
from kerasbert.layers.dense import Dense
from kerasbert.layers.traversal import sublayers
from kerasbert.tasks.base import Task
from kerasbert.text import Tokenizer
from kerasbert.values import Rule, is_whole_number


def rebuild_task(
    task: Task,
    weights: Mapping[str, np.ndarray],
    config: EncoderConfig,
    cut: PrunedSizes | None,
    tokenizer: Tokenizer | None = None,
    ranks: Mapping[str, int] | None = None,
) -> Task:
    """Return a task of the same class with other sizes.

    Args:
        task: The task to copy settings from.
        weights: The values of all its variables, by path.
        config: The encoder's new config.
        cut: Sizes that the config cannot express.
        tokenizer: The new tokenizer; None keeps the task's.
        ranks: The ranks of layers that are stored as two factors; None keeps the task's.
    """
    rebuilt = resized_task(task, config, cut, tokenizer, ranks)
    for path, variable in rebuilt.variables_by_path().items():
        variable.assign(weights[path])
    return rebuilt


def resized_task(
    task: Task, config: EncoderConfig, cut: PrunedSizes | None, tokenizer: Tokenizer | None = None,
    ranks: Mapping[str, int] | None = None,
) -> Task:  # fmt: skip
    """Return a task of the same class with other sizes and new weights; see `rebuild_task` for the arguments."""
    settings = task.get_config()
    encoder = settings["encoder"]["config"]
    encoder["config"] = config.to_dict()
    encoder["cut"] = None if cut is None else cut.to_dict()
    if ranks is not None:
        encoder["ranks"] = dict(ranks)
    if tokenizer is not None:
        settings["tokenizer"] = tokenizer.get_config()
    resized = type(task).from_config(settings)
    resized.inherit_training(task)
    return resized


def weights_by_path(task: Task) -> dict[str, np.ndarray]:
    """Return the value of every trained variable, by path."""
    return {path: variable.numpy() for path, variable in task.variables_by_path().items()}


def attentions(task: Task) -> list[SelfAttention]:
    """Return the attention layer of each block."""
    return sublayers(task.encoder, SelfAttention)


def feed_forwards(task: Task) -> list[FeedForward]:
    """Return the feed-forward networks, block after block."""
    return sublayers(task.encoder, FeedForward)


def feed_forward_widths(task: Task) -> list[int]:
    """Return the number of neurons of each feed-forward network."""
    return [network.intermediate.units for network in feed_forwards(task)]


def head_counts(task: Task) -> list[int]:
    """Return the number of attention heads of each block."""
    return [attention.heads for attention in attentions(task)]


def keep_outputs(weights: dict[str, np.ndarray], dense: Dense, indices: np.ndarray) -> None:
    """Keep only these outputs of a Dense layer of the encoder, in `weights`."""
    for name in ("kernel", "bias"):
        path = f"encoder.{dense.path}.{name}"
        if path in weights:  # a layer may have no bias
            weights[path] = weights[path][..., indices]


def keep_inputs(weights: dict[str, np.ndarray], dense: Dense, indices: np.ndarray) -> None:
    """Keep only these inputs of a Dense layer of the encoder, in `weights`."""
    path = f"encoder.{(dense.factor or dense).path}.kernel"
    weights[path] = weights[path][indices]


def check_float(task: Task) -> None:
    """Check that a task is not quantized: ranges belong to the sizes that they were calibrated with.

    Raises:
        KerasBertError: When it is quantized.
    """
    if task.policy is not None:
        raise KerasBertError(
            f"expected a task in float to cut, received one quantized for {task.policy.recipe!r}: cut first, quantize then"
        )


def check_without_exits(task: Task) -> None:
    """Check that a task has no exits before its last layer: what they read would change, and they would need new training.

    Raises:
        KerasBertError: When it has.
    """
    if getattr(task, "exits", None) is not None:
        raise KerasBertError(
            "expected a model without early exits, received one with them; cut first, train exits then"
        )


def check_transformer(task: Task) -> None:
    """Check that an encoder has heads and feed-forward networks.

    Raises:
        KerasBertError: When it has none.
    """
    if not task.encoder.is_transformer:
        raise KerasBertError(f"expected a transformer to cut, received a {task.config.model_type}; cut another model")


def check_fraction(share: float, what: str) -> None:
    """Check that a fraction is between 0 and 1, both excluded.

    Args:
        share: The fraction.
        what: The plural of what it is a fraction of, for the error message.

    Raises:
        KerasBertError: When it is not.
    """
    Rule(float, above=0, below=1).check(share, f"a share of {what}")


def check_exactly_one(**arguments: object) -> None:
    """Check that exactly one of the arguments is not None.

    Raises:
        KerasBertError: When none or several are.
    """
    present = [name for name, value in arguments.items() if value is not None]
    if len(present) != 1:
        received = " and ".join(present) or "none"
        raise KerasBertError(f"expected one of {' and '.join(arguments)}, received {received}")


def check_indices(indices: Any, count: int, what: str) -> list[int]:
    """Return indices in ascending order after checking them.

    Args:
        indices: An index or several.
        count: The number of things that are indexed.
        what: The plural of these things, for the error message.

    Raises:
        KerasBertError: When they are not distinct integers from 0 to below `count`.
    """
    items: Iterable = indices if isinstance(indices, list | tuple | set | range | np.ndarray) else [indices]
    items = list(items)
    if not all(map(is_whole_number, items)):
        raise KerasBertError(f"expected numbers of {what}, received {indices!r}")
    ascending = sorted(int(item) for item in items)
    outside = [index for index in ascending if not 0 <= index < count]
    if outside:
        raise KerasBertError(f"expected {what} from 0 to {count - 1}, received {outside[0]}")
    if len(set(ascending)) < len(ascending):
        raise KerasBertError(f"expected every one of the {what} once, received {ascending}")
    return ascending
