"""Parameter groups: the parts of a task that fine-tuning methods name, from the embeddings up to the head."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

import tensorflow as tf
import tf_keras as keras

from kerasbert.arguments import argument
from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.optimizers.schedules import check_rate

_SINGLE_PARTS = ("embeddings", "layer_mix", "pooler")  # of the encoder, beside its layers


def part_of(path: str) -> str:
    """Return the part of a variable of `task.variables_by_path()`: embeddings, layers.N, layer_mix, pooler, exits or head."""
    if not path.startswith("encoder."):
        return "exits" if path.startswith("exits.") else "head"
    _, name, *rest = path.split(".")
    return name if name in _SINGLE_PARTS else f"{name}.{rest[0]}"


def group_names(task: keras.Model) -> list[str]:
    """Return the parts of a task that have weights and that its output depends on, from the bottom up."""
    parts = {part_of(path) for path in task.variables_by_path()} - set(task.unserved)
    layers = [f"layers.{i}" for i in range(len(task.encoder.layers))]
    order = ["embeddings", *layers, "layer_mix", "pooler", "exits", "head"]
    return [part for part in order if part in parts]


def parts_named(task: keras.Model, name: str) -> list[str]:
    """Return the parts of a task that a name or a pattern stands for, which may be none.

    Args:
        task: the task.
        name: a part; `layers.-1`, counted from the top; `encoder`, for the embeddings and all layers; or a pattern such as `layers.*`.
    """
    parts = group_names(task)
    if name == "encoder":
        return [part for part in parts if part.startswith(("embeddings", "layers."))]
    if name.startswith("layers.-") and name.removeprefix("layers.-").isdecimal() and len(name) < 20:
        name = f"layers.{len(task.encoder.layers) + int(name.removeprefix('layers.'))}"
    return [part for part in parts if fnmatchcase(part, name)]


def paths_named(task: keras.Model, name: str) -> list[str]:
    """Return the paths of the variables of the parts of a name, or else those that match it as a pattern (`*.attention.*`).

    Raises:
        KerasBertError: when nothing matches.
    """
    paths, parts = trainable_variables_by_path(task), parts_named(task, name)
    matching = [path for path in paths if part_of(path) in parts] or [path for path in paths if fnmatchcase(path, name)]
    if not matching:
        raise unknown_part(task, name, f", or a pattern over variables such as {next(iter(paths))}")
    return matching


def unknown_part(task: keras.Model, name: str, alternative: str = "") -> KerasBertError:
    """Make the error that lists the parts of a task.

    Args:
        task: the task.
        name: the unknown part.
        alternative: what else is accepted.
    """
    known = ", ".join(["encoder", *group_names(task)])
    return KerasBertError(f"expected a part of this {type(task).__name__} ({known}){alternative}, received {name!r}")


def depths(task: keras.Model, method: str) -> dict[str, int]:
    """Return the depth of each part below the head: 0 for head, pooler and mix of layers, 1 for the top layer, most for the embeddings.

    Args:
        task: the task.
        method: the method that needs depths, for the error.

    Raises:
        KerasBertError: when layers share their weights, so that they have no depth of their own.
    """
    encoder, parts = task.encoder, group_names(task)
    calls, blocks = len(list(encoder.stack())), len(encoder.layers)
    if calls > blocks:
        raise KerasBertError(
            f"expected a model whose layers have weights of their own for {method}, received {type(encoder).__name__}, which calls "
            f"{blocks} of them {calls} times"
        )
    below = {f"layers.{i}": blocks - i for i in range(blocks)} | {"embeddings": blocks + 1}
    return {part: below.get(part, 0) for part in parts}


def rate_shares(learning_rate: float, rates: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return rates of parts as factors of a learning rate, by the names of the parts.

    Args:
        learning_rate: the rate of what is not named.
        rates: the rates by part.

    Raises:
        KerasBertError: when a rate is negative, infinite or not a number, or there is none to be a factor of.
    """
    for part, rate in rates.items():
        check_rate("rates", rate, f" for {part!r}")
    if rates and not learning_rate > 0:
        raise KerasBertError(
            f"expected {argument('learning_rate')} above 0 beside {argument('rates')}, received {learning_rate}; "
            '{"*": 0} stops what is not named'
        )
    return [(part, rate / learning_rate) for part, rate in rates.items()]


def lr_multipliers(task: keras.Model, layer_decay: float, shares: Mapping[str, float]) -> dict[str, float]:
    """Return the factor of the learning rate of each variable, by path.

    Args:
        task: the task.
        layer_decay: the rate of each layer as a share of the one above it. The head has the whole rate, the embeddings the smallest.
        shares: factors of parts or patterns, which replace those. Of several that match a variable the last one decides.

    Raises:
        KerasBertError: when a name matches nothing, or `layer_decay` is not 1 and layers share their weights.
    """
    paths = trainable_variables_by_path(task)
    factors = dict.fromkeys(paths, 1.0)
    if layer_decay != 1:
        below = depths(task, "layer_decay")
        factors = {path: layer_decay ** below.get(part_of(path), 0) for path in paths}
    for name, share in shares.items():
        factors |= dict.fromkeys(paths_named(task, name), float(share))
    return factors


def trainable_variables_by_path(task: keras.Model) -> dict[str, list[tf.Variable]]:
    """Return what an optimizer trains: every trained variable, and both ends of each learned range under the path of its quantizer."""
    of_encoder = {id(quantizer) for quantizer in activation_quantizers(task.encoder)}
    variables: dict[str, list[tf.Variable]] = {path: [each] for path, each in task.variables_by_path().items()}
    for quantizer in activation_quantizers(task):
        if quantizer.learned_ranges:
            path = f"encoder.{quantizer.path}" if id(quantizer) in of_encoder else quantizer.path
            variables[path] = [end for ends in quantizer.learned_ranges for end in ends]
    return variables
