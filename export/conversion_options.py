"""The arguments of a conversion, with defaults filled in and checked against each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kerasbert.arguments import argument
from kerasbert.errors import KerasBertError
from kerasbert.export.lowering.targets import Target, target_named
from kerasbert.export.passes.recipes import INTEGER_RECIPE, Recipe, check_integer_recipe, recipe_named
from kerasbert.export.runtime.early_exit import signature_name
from kerasbert.export.tflite.metadata import IDS, TEXT
from kerasbert.export.tflite.op_versions import check_version, is_newer
from kerasbert.values import is_whole_number

if TYPE_CHECKING:
    from kerasbert.tasks.base import Task
_PER_CHANNEL_SINCE = "2.17"  # per-channel kernels under activations that are quantized at run time
_SHORTEST = 3  # tokens: [CLS], one token, [SEP]


@dataclass(frozen=True)
class ConversionOptions:
    """The checked arguments of a conversion, see `kerasbert.export.convert`.

    Attributes:
        recipe: The number format.
        target: The deployment target.
        lengths: The lengths of the file in rising order; None for a resizable one.
        integer_only: Whether no operator computes in float.
        min_runtime: The oldest runtime that must load the file; None for any.
        inputs: `ids` or `text`.
        split_k: Whether float matrix products accumulate in parts.
        table_bits: Bits of the token embeddings; None for 8.
        exits: The number of signatures in turn for each length: one for each exit of a task with early exits; 0 for others.
    """

    recipe: Recipe
    target: Target
    lengths: Sequence[int | None]
    integer_only: bool = False
    min_runtime: str | None = None
    inputs: str = IDS
    split_k: bool = False
    table_bits: int | None = None
    exits: int = 0

    @property
    def per_channel(self) -> bool:
        """Whether kernels of dynamic Dense layers have one scale per output channel."""
        return self.min_runtime is None or not is_newer(_PER_CHANNEL_SINCE, self.min_runtime)

    @property
    def signature(self) -> str:
        """The name of the file's signature; of the longest one where there are several.

        A file with exits does not have it, so that a client that does not know exits refuses the file.
        """
        return signature_name(None, None if len(self.lengths) == 1 else self.lengths[-1])


def resolve_options(
    task: "Task",
    recipe: str | None,
    target: str,
    length: int | str | Sequence[int] | None,
    integer_only: bool,
    min_runtime: str | None,
    inputs: str,
    split_k: bool,
    table_bits: int | None = None,
) -> ConversionOptions:
    """Fill in the defaults of `convert` and checks its arguments, which are described there.

    Raises:
        KerasBertError: when an argument is unknown, or does not fit the task or another argument.
    """
    if task.not_exported:
        raise KerasBertError(
            f"expected a task for applications, received a {type(task).__name__}, whose heads are for pretraining; {task.not_exported}"
        )
    chosen_target = target_named(target)
    chosen_target.check_split_k(split_k)
    if task.encoder.has_loop:
        chosen_target.check_loops(task.config.model_type)
    integer_only = integer_only or is_integer_only(task) or chosen_target.split
    default_recipe = INTEGER_RECIPE if integer_only else trained_for(task) or chosen_target.default_recipe
    chosen_recipe = recipe_named(recipe or default_recipe)
    chosen_target.check_recipe(chosen_recipe.name)
    exits = len(getattr(task, "exit_layers", ()))
    options = ConversionOptions(
        chosen_recipe, chosen_target, _lengths(length, task), integer_only, min_runtime, inputs, split_k,
        task.policy.table_bits if task.policy else table_bits, exits,
    )  # fmt: skip
    _check_table_bits(task, table_bits, options)
    if exits:
        _check_exits(options)
    _check_lengths(options)
    if integer_only:
        _check_integer_only(task, options)
    if inputs != IDS:
        _check_text_inputs(task, options)
    if min_runtime is not None:
        check_version(min_runtime)
    return options


def trained_for(task: "Task") -> str | None:
    """Return the recipe that the task was quantized for; None for a float task."""
    return task.policy.recipe if task.policy else None


def is_integer_only(task: "Task") -> bool:
    """Return whether the task was quantized without any activation in float."""
    return bool(task.policy and task.policy.integer_only)


def _lengths(length: int | str | Sequence[int] | None, task: "Task") -> list[int | None]:
    """Return the lengths of the file in rising order; None for a resizable one."""
    if length == "resizable":
        return [None]
    if length is None:
        return [task.sequence_length]
    longest, lengths = task.config.longest, []
    for each in length if isinstance(length, list | tuple) else [length]:
        if not is_whole_number(each, _SHORTEST, longest):
            raise KerasBertError(
                f"expected a length from {_SHORTEST} to {longest} tokens, or 'resizable', received {each!r}; name another"
            )
        lengths.append(int(each))
    if not lengths or len(set(lengths)) < len(lengths):
        raise KerasBertError(f"expected one length, or several different ones, received {lengths}; name each once")
    return sorted(lengths)


def _check_lengths(options: ConversionOptions) -> None:
    for length in options.lengths:
        options.target.lowering(length)
    if options.target.split and len(options.lengths) > 1:
        raise KerasBertError(
            f"expected one length for the target {options.target.name!r}, received {list(options.lengths)}; convert a file for each"
        )


def _check_table_bits(task: "Task", asked: int | None, options: ConversionOptions) -> None:
    name = argument("table_bits")
    if asked is not None and not is_whole_number(asked, 4, 4):
        raise KerasBertError(f"expected {name} as 4, received {asked!r}; leave it out for 8")
    options.target.check_table_bits(options.table_bits)
    if asked is not None and (options.integer_only or not options.recipe.integer):
        received = "an integer-only file" if options.integer_only else repr(options.recipe.name)
        raise KerasBertError(
            f"expected a recipe with integers and floats for {name}, received {received}; name another, such as dynamic_wi8_afp32"
        )
    if asked is not None and task.policy and task.policy.table_bits != asked:
        raise KerasBertError(
            f"expected a float model for {name}, received one that was quantized with token embeddings of 8 bits; give {name} when you "
            "quantize it"
        )


def _check_exits(options: ConversionOptions) -> None:
    if not options.target.runs_exits or options.integer_only or options.inputs != IDS:
        raise KerasBertError(
            "expected the target cpu or web, inputs of ids and a recipe with floats for a model with exits, received others; name these, "
            "or load the model without exits (exits=[])"
        )


def _check_integer_only(task: "Task", options: ConversionOptions) -> None:
    from kerasbert.layers.norms import LayerNorm
    from kerasbert.layers.traversal import sublayers

    check_integer_recipe(options.recipe)
    if not options.target.squares_by_itself and sublayers(task, LayerNorm):
        raise KerasBertError(
            f"expected a file with floats for the target {options.target.name!r}, received integers only: their layer norms multiply a "
            f"tensor by itself, which ends the accelerator's process; leave out {argument('integer_only')}, or take a model with NoNorm"
        )


def _check_text_inputs(task: "Task", options: ConversionOptions) -> None:
    from kerasbert.export.lowering.text_inputs import check_text_inputs

    if options.inputs != TEXT:
        raise KerasBertError(f"expected inputs of {IDS} or {TEXT}, received {options.inputs!r}; name one of these")
    has_one_length = len(options.lengths) == 1 and options.lengths[0] is not None
    if not options.target.takes_texts or options.integer_only or not has_one_length:
        raise KerasBertError(
            "expected the target cpu, one length and a recipe with floats for a file that takes texts, received others; convert it so, "
            "because tensorflow-text's operators run on a CPU"
        )
    check_text_inputs(task)
