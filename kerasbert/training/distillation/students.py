"""Students made of a teacher's layers: Sanh et al. 2019, "DistilBERT", section 3."""

import dataclasses
from collections.abc import Sequence

from kerasbert.console.output import note
from kerasbert.encoders.pruned_sizes import Cut, sizes_of
from kerasbert.errors import KerasBertError
from kerasbert.layers.traversal import named_variables
from kerasbert.training.distillation.objective import depth

STRATEGIES = ("alternate", "first", "last")
_LAYERS = "num_hidden_layers"


def student_from(
    teacher, layers: int | Sequence[int], strategy: str = "alternate", sequence_length: int | None = None, **changes
):
    """A new task of the teacher's kind with some of its layers, their weights copied, and all else that fits.

    layers: the numbers of the teacher's layers, from the bottom up, or how many. strategy: which ones, of a number: `alternate` (evenly
    from the first on), `first` or `last`. sequence_length: by default the teacher's. changes: other values of the encoder's config, such as
    hidden_act="relu" or intermediate_size=512; what then has another shape starts anew, and a note on stderr names it. The student of a
    quantized teacher is float.

    A model whose layers share their weights (ALBERT) is called less often instead, so `layers` is a number.

    Raises KerasBertError for layers that there are not, another strategy, and names or values that the config does not have.
    """
    encoder, shared = teacher.encoder, depth(teacher) > len(teacher.encoder.layers)
    chosen = _chosen(layers, encoder.config.num_hidden_layers, strategy)
    if shared and not isinstance(layers, int):
        raise KerasBertError(
            f"expected a number of layers of {type(encoder).__name__}, whose layers share their weights, received {list(layers)}"
        )
    config = _changed(encoder.config, {_LAYERS: len(chosen), **changes})
    options = encoder.options
    if encoder.cut is not None and not shared:
        config, cut = _with_cut(config, encoder, chosen, changes)
        options["cut"] = None if cut is None else cut.to_dict()
    other = type(encoder)(config, None, pooler=encoder.pools, **options)
    settings = teacher.head_config()
    settings["sequence_length"] = sequence_length or min(teacher.sequence_length, config.longest)
    tokenizer = teacher.tokenizer if teacher.has_tokenizer else None
    student = type(teacher)(other, tokenizer, **settings)
    new = _copy(teacher, student, None if shared else chosen)
    if new:
        note(f"note: new in the student, since they have another shape: {', '.join(_summed(new))}")
    return student


def _chosen(layers: int | Sequence[int], count: int, strategy: str) -> list[int]:
    if strategy not in STRATEGIES:
        raise KerasBertError(f"expected a strategy of {', '.join(STRATEGIES)}, received {strategy!r}")
    if isinstance(layers, int) and not isinstance(layers, bool):
        if not 1 <= layers <= count:
            raise KerasBertError(f"expected from 1 to {count} layers of the teacher, received {layers}")
        first = {"alternate": 0, "first": 0, "last": count - layers}[strategy]
        return [i * count // layers if strategy == "alternate" else first + i for i in range(layers)]
    try:
        found = [int(layer) for layer in layers]
    except (TypeError, ValueError) as error:
        raise KerasBertError(f"expected layers as a number or a list of numbers, received {layers!r}") from error
    if not found or any(not 0 <= layer < count for layer in found):
        raise KerasBertError(f"expected layers of the teacher from 0 to {count - 1}, received {layers!r}")
    return found


def _changed(config, changes: dict):
    known = {field.name for field in dataclasses.fields(config)}
    if unknown := sorted(changes.keys() - known):
        raise KerasBertError(
            f"expected values of {type(config).__name__} ({', '.join(sorted(known))}), received {unknown[0]!r}"
        )
    return dataclasses.replace(config, **changes)


def _with_cut(config, encoder, chosen: list[int], changes: dict) -> tuple:
    """The config and the cut (or None) of a student with these of the encoder's blocks; a size in `changes` holds in all of them."""
    heads, widths = sizes_of(encoder, chosen)
    if "num_attention_heads" in changes:
        heads = [config.num_attention_heads] * len(heads)
    if "intermediate_size" in changes:
        widths = [config.intermediate_size] * len(widths)
    return Cut.of(config, heads, widths)


def _copy(teacher, student, chosen: list[int] | None) -> list[str]:
    """Copies what has the same shape in both; the paths of the rest."""
    theirs, new = named_variables(teacher), []
    for path, variable in student.variables_by_path().items():
        source = theirs.get(_source(path, chosen))
        if source is None or source.shape != variable.shape:
            new.append(path)
        else:
            variable.assign(source)
    return new


def _source(path: str, chosen: list[int] | None) -> str:
    """The teacher's path of the same thing."""
    prefix = "encoder.layers."
    if chosen is None or not path.startswith(prefix):
        return path
    number, rest = path.removeprefix(prefix).split(".", 1)
    return f"{prefix}{chosen[int(number)]}.{rest}"


def _summed(paths: list[str]) -> list[str]:
    """Paths with those that differ only in the number of the layer as one."""
    names = [
        ".".join("*" if word.isdecimal() and number == 2 else word for number, word in enumerate(path.split(".")))
        for path in paths
    ]
    return list(dict.fromkeys(names))
