"""Students initialized from a teacher's layers (Sanh et al. 2019, "DistilBERT", section 3)."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from kerasbert.console.output import note
from kerasbert.encoders.base import Encoder
from kerasbert.encoders.pruned_sizes import PrunedSizes, sizes_of
from kerasbert.encoders.ranks import ranks_of_blocks
from kerasbert.errors import KerasBertError
from kerasbert.layers.config import EncoderConfig
from kerasbert.layers.traversal import named_variables
from kerasbert.tasks.base import Task
from kerasbert.training.distillation.objective import num_layer_calls
from kerasbert.values import is_whole_number

STRATEGIES = ("alternate", "first", "last")
_LAYERS = "num_hidden_layers"


def student_from(
    teacher: Task,
    layers: int | Sequence[int],
    strategy: str = "alternate",
    sequence_length: int | None = None,
    **changes: Any,
) -> Task:
    """Return a new task of the teacher's class with some of its layers, and a copy of every weight that fits.

    The student of a quantized teacher is in float. Layers of an ALBERT share their weights: the student calls them less often.

    Args:
        teacher: The teacher.
        layers: Number of layers, or the indices of the teacher's layers from the bottom up. A number only for an ALBERT.
        strategy: Choice of a number of layers: `alternate` (evenly, from the first on), `first` or `last`.
        sequence_length: The student's sequence length in tokens; None takes the teacher's.
        changes: Other values of the encoder's config, such as `hidden_act="relu"` or `intermediate_size=512`. Weights of another shape are
            initialized anew, and a note on stderr names them.

    Returns:
        The student, in float.

    Raises:
        KerasBertError: When a layer does not exist, the strategy is unknown, or the config does not have a name or a value.

    Example:
        ```python
        from kerasbert.training.distillation import student_from
        student = student_from(task, layers=2, strategy="alternate", intermediate_size=256)
        len(student.encoder.layers)  # 2
        ```
    """
    encoder, shared = teacher.encoder, num_layer_calls(teacher) > len(teacher.encoder.layers)
    chosen = _choose_layers(layers, encoder.config.num_hidden_layers, strategy)
    if shared and not isinstance(layers, int):
        raise KerasBertError(
            f"expected a number of layers of {type(encoder).__name__}, whose layers share their weights, received {list(layers)}"
        )
    config = _replace(encoder.config, {_LAYERS: len(chosen), **changes})
    options: dict[str, Any] = encoder.options
    if encoder.cut is not None and not shared:
        config, cut = _with_pruned_sizes(config, encoder, chosen, changes)
        options["cut"] = None if cut is None else cut.to_dict()
    if encoder.ranks and not shared:
        options["ranks"] = ranks_of_blocks(encoder.ranks, chosen)
    student_encoder = type(encoder)(config, None, pooler=encoder.pools, **options)
    settings = teacher.head_config()
    settings["sequence_length"] = sequence_length or min(teacher.sequence_length, config.longest)
    tokenizer = teacher.tokenizer if teacher.has_tokenizer else None
    student = type(teacher)(student_encoder, tokenizer, **settings)
    new = _copy_weights(teacher, student, None if shared else chosen)
    student.inherit_training(teacher)
    student.has_new_head |= any(not path.startswith("encoder.") for path in new)
    if config.hidden_size != encoder.config.hidden_size:
        student.recommended = None  # its rates are those of another width
    if new:
        note(f"note: new in the student, since they have another shape: {', '.join(_merge_layers(new))}")
    return student


def _choose_layers(layers: int | Sequence[int], count: int, strategy: str) -> list[int]:
    """The indices of the teacher's layers, for the student's from the bottom up."""
    if strategy not in STRATEGIES:
        raise KerasBertError(f"expected a strategy of {', '.join(STRATEGIES)}, received {strategy!r}")
    if is_whole_number(layers):
        if not 1 <= layers <= count:
            raise KerasBertError(f"expected from 1 to {count} layers of the teacher, received {layers}")
        first = {"alternate": 0, "first": 0, "last": count - layers}[strategy]
        return [i * count // layers if strategy == "alternate" else first + i for i in range(layers)]
    chosen = _parse_indices(layers)
    if not chosen or any(not 0 <= layer < count for layer in chosen):
        raise KerasBertError(f"expected layers of the teacher from 0 to {count - 1}, received {layers!r}")
    return chosen


def _parse_indices(layers: Any) -> list[int]:
    try:
        return [int(layer) for layer in layers]
    except (TypeError, ValueError) as error:
        raise KerasBertError(f"expected layers as a number or a list of numbers, received {layers!r}") from error


def _replace(config: EncoderConfig, changes: dict[str, Any]) -> EncoderConfig:
    known = {field.name for field in dataclasses.fields(config)}
    if unknown := sorted(changes.keys() - known):
        raise KerasBertError(
            f"expected values of {type(config).__name__} ({', '.join(sorted(known))}), received {unknown[0]!r}"
        )
    return dataclasses.replace(config, **changes)


def _with_pruned_sizes(
    config: EncoderConfig, encoder: Encoder, chosen: list[int], changes: dict[str, Any]
) -> tuple[EncoderConfig, PrunedSizes | None]:
    """The config and the pruned sizes of a student with these blocks of the encoder. A size in `changes` applies to all of them."""
    sizes = sizes_of(encoder, chosen)
    if "num_attention_heads" in changes:
        sizes = sizes._replace(heads=[changes["num_attention_heads"]] * len(sizes.heads))
    if "intermediate_size" in changes:
        sizes = sizes._replace(intermediate=[changes["intermediate_size"]] * len(sizes.intermediate))
    if changes.keys() & {"num_attention_heads", "hidden_size", "intra_bottleneck_size"}:
        sizes = sizes._replace(head_size=config.head_width // config.num_attention_heads)
    return PrunedSizes.of(config, sizes)


def _copy_weights(teacher: Task, student: Task, chosen: list[int] | None) -> list[str]:
    """Copy the weights of equal shape and return the paths of the others."""
    teacher_variables, new = named_variables(teacher), []
    for path, variable in student.variables_by_path().items():
        source = teacher_variables.get(_teacher_path(path, chosen))
        if source is None or source.shape != variable.shape:
            new.append(path)
        else:
            variable.assign(source)
    return new


def _teacher_path(path: str, chosen: list[int] | None) -> str:
    """The teacher's path of a student's variable."""
    prefix = "encoder.layers."
    if chosen is None or not path.startswith(prefix):
        return path
    layer, rest = path.removeprefix(prefix).split(".", 1)
    return f"{prefix}{chosen[int(layer)]}.{rest}"


def _merge_layers(paths: list[str]) -> list[str]:
    """Paths with `*` for the index of the layer, each once."""
    patterns = [
        ".".join("*" if part.isdecimal() and i == 2 else part for i, part in enumerate(path.split(".")))
        for path in paths
    ]
    return list(dict.fromkeys(patterns))
