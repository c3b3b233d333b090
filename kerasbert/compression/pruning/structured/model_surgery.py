"""A task made anew around weights of other sizes, and what every kind of cutting asks and checks."""

from collections.abc import Mapping, Sequence

import numpy as np

from kerasbert.encoders.pruned_sizes import Cut
from kerasbert.errors import KerasBertError
from kerasbert.layers.attention import SelfAttention
from kerasbert.layers.dense import Dense
from kerasbert.layers.transformer_block import FeedForward
from kerasbert.layers.traversal import sublayers


def rebuilt(task, values: Mapping[str, np.ndarray], config, cut: Cut | None, tokenizer=None):
    """The same class of task with an encoder of that config and cut, its variables (all of them) from `values`, by path.

    tokenizer: in place of the task's own.
    """
    settings = task.get_config()
    encoder = settings["encoder"]["config"]
    encoder["config"] = config.to_dict()
    encoder["cut"] = None if cut is None else cut.to_dict()
    if tokenizer is not None:
        settings["tokenizer"] = tokenizer.get_config()
    made = type(task).from_config(settings)
    for path, variable in made.variables_by_path().items():
        variable.assign(values[path])
    return made


def values_of(task) -> dict[str, np.ndarray]:
    """Every trained variable's value, by path."""
    return {path: variable.numpy() for path, variable in task.variables_by_path().items()}


def attentions(task) -> list[SelfAttention]:
    """The attention of each block."""
    return sublayers(task.encoder, SelfAttention)


def feed_forwards(task) -> list[FeedForward]:
    """The feed-forward networks, block after block."""
    return sublayers(task.encoder, FeedForward)


def widths(task) -> list[int]:
    """How many neurons each feed-forward network has."""
    return [network.intermediate.units for network in feed_forwards(task)]


def heads(task) -> list[int]:
    """How many heads each block has."""
    return [attention.heads for attention in attentions(task)]


def keep_outputs(values: dict[str, np.ndarray], dense: Dense, kept: np.ndarray) -> None:
    """Leaves a dense of the encoder only those of its outputs."""
    for name in ("kernel", "bias"):
        path = f"encoder.{dense.path}.{name}"
        values[path] = values[path][..., kept]


def keep_inputs(values: dict[str, np.ndarray], dense: Dense, kept: np.ndarray) -> None:
    """Leaves a dense of the encoder only those of its inputs."""
    path = f"encoder.{dense.path}.kernel"
    values[path] = values[path][kept]


def check_float(task) -> None:
    """Raises KerasBertError for a quantized task: ranges and grids belong to the sizes that they were found with."""
    if task.policy is not None:
        raise KerasBertError(
            f"expected a task in float to cut, received one quantized for {task.policy.recipe!r}: cut first, quantize then"
        )


def check_share(share: float, what: str) -> None:
    """Raises KerasBertError unless `share` lies between 0 and 1, both left out. what: of what it is the share, in the plural."""
    number = isinstance(share, int | float) and not isinstance(share, bool)
    if not number or not 0 < share < 1:
        raise KerasBertError(f"expected a share of {what} above 0 and below 1, received {share!r}")


def check_one(**given) -> None:
    """Raises KerasBertError unless exactly one of the arguments is there."""
    found = [name for name, value in given.items() if value is not None]
    if len(found) != 1:
        received = " and ".join(found) or "none"
        raise KerasBertError(f"expected one of {' and '.join(given)}, received {received}")


def check_numbers(numbers: Sequence, count: int, what: str) -> list[int]:
    """`numbers` in order. Raises KerasBertError unless they are different whole numbers from 0 to below `count`."""
    found = list(numbers) if isinstance(numbers, list | tuple | set | range | np.ndarray) else [numbers]
    if not all(isinstance(number, int | np.integer) and not isinstance(number, bool) for number in found):
        raise KerasBertError(f"expected numbers of {what}, received {numbers!r}")
    found = sorted(map(int, found))
    wrong = [number for number in found if not 0 <= number < count]
    if wrong:
        raise KerasBertError(f"expected {what} from 0 to {count - 1}, received {wrong[0]}")
    if len(set(found)) < len(found):
        raise KerasBertError(f"expected every one of the {what} once, received {found}")
    return found
