"""The parts of a task that fine-tuning methods name, from the embeddings up to the head."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers

_OF_THE_ENCODER = ("embeddings", "layer_mix", "pooler")


def part_of(path: str) -> str:
    """The part that a variable of `task.variables_by_path()` belongs to: embeddings, layers.N, layer_mix, pooler or head."""
    if not path.startswith("encoder."):
        return "head"
    _, name, *rest = path.split(".")
    return name if name in _OF_THE_ENCODER else f"{name}.{rest[0]}"


def parts_of(task) -> list[str]:
    """The parts that have weights and that the task's output sees, from the bottom up."""
    found = {part_of(path) for path in task.variables_by_path()} - set(task.unserved)
    layers = [f"layers.{i}" for i in range(len(task.encoder.layers))]
    order = ["embeddings", *layers, "layer_mix", "pooler", "head"]
    return [part for part in order if part in found]


def parts_named(task, name: str) -> list[str]:
    """The parts that a name or a pattern means: a part; `layers.-1`, counted from the top; `encoder`, which is the embeddings and all
    layers; `layers.*`. Empty for a name that means none.
    """
    known = parts_of(task)
    if name == "encoder":
        return [part for part in known if part.startswith(("embeddings", "layers."))]
    if name.startswith("layers.-") and name.removeprefix("layers.-").isdecimal() and len(name) < 20:
        name = f"layers.{len(task.encoder.layers) + int(name.removeprefix('layers.'))}"
    return [part for part in known if fnmatchcase(part, name)]


def paths_named(task, name: str) -> list[str]:
    """The variables of the parts that a name means, or those whose path fits it as a pattern (`*.attention.*`).

    Raises KerasBertError naming the parts where there are none.
    """
    paths, parts = trainable_variables_by_path(task), parts_named(task, name)
    found = [path for path in paths if part_of(path) in parts] or [path for path in paths if fnmatchcase(path, name)]
    if not found:
        raise unknown_part(task, name, f", or a pattern over variables such as {next(iter(paths))}")
    return found


def unknown_part(task, name: str, more: str = "") -> KerasBertError:
    """The error that names the parts there are."""
    known = ", ".join(["encoder", *parts_of(task)])
    return KerasBertError(f"expected a part of this {type(task).__name__} ({known}){more}, received {name!r}")


def depths(task, method: str) -> dict[str, int]:
    """How far below the head each part is: 0 for head, pooler and mix of layers, 1 for the top layer, most for the embeddings.

    Raises KerasBertError, naming the method that asks, where layers share their weights and so have no place of their own.
    """
    encoder, parts = task.encoder, parts_of(task)
    calls, blocks = len(list(encoder.stack())), len(encoder.layers)
    if calls > blocks:
        raise KerasBertError(
            f"expected a model whose layers have weights of their own for {method}, received {type(encoder).__name__}, which calls "
            f"{blocks} of them {calls} times"
        )
    below = {f"layers.{i}": blocks - i for i in range(blocks)} | {"embeddings": blocks + 1}
    return {part: below.get(part, 0) for part in parts}


def lr_multipliers(task, layer_decay: float, shares: Mapping[str, float]) -> dict[str, float]:
    """What the learning rate of each variable is multiplied by, by path.

    layer_decay: the rate of each layer as a share of the one above it; the head has all of it, the embeddings the least. shares: of
    parts or patterns, in place of that; of several that fit a variable the last one decides.

    Raises KerasBertError for a name that nothing fits, and for `layer_decay` where layers share their weights.
    """
    paths = trainable_variables_by_path(task)
    factors = dict.fromkeys(paths, 1.0)
    if layer_decay != 1:
        below = depths(task, "layer_decay")
        factors = {path: layer_decay ** below.get(part_of(path), 0) for path in paths}
    for name, share in shares.items():
        factors |= dict.fromkeys(paths_named(task, name), float(share))
    return factors


def trainable_variables_by_path(task) -> dict[str, list]:
    """What an optimizer moves: every trained variable, alone, and under the path of its point both ends of each learned range."""
    inside = {id(point) for point in activation_quantizers(task.encoder)}
    found = {path: [variable] for path, variable in task.variables_by_path().items()}
    for point in activation_quantizers(task):
        if point.learned_ranges:
            path = f"encoder.{point.path}" if id(point) in inside else point.path
            found[path] = [end for ends in point.learned_ranges for end in ends]
    return found
