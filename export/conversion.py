"""Converts a task to a `.tflite` file."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kerasbert import __version__
from kerasbert.arguments import argument
from kerasbert.compression.quantization.calibration_rows import CALIBRATION_ROWS
from kerasbert.errors import KerasBertError
from kerasbert.export.conversion_options import (
    ConversionOptions,
    is_integer_only,
    resolve_options,
    trained_for,
)
from kerasbert.export.passes.context import PassContext
from kerasbert.export.passes.merge_signatures import merge_signatures
from kerasbert.export.runtime.early_exit import signature_name
from kerasbert.export.tflite.metadata import IDS, TEXT, Metadata, append, append_mark
from kerasbert.export.tflite.model import Model, encode
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.tflite.runtime_support import check_runtime
from kerasbert.export.tflite.tflite_metadata import add_tflite_metadata

if TYPE_CHECKING:
    from kerasbert.tasks.base import Task


def convert(
    task: "Task",
    recipe: str | None = None,
    target: str = "cpu",
    length: int | str | Sequence[int] | None = None,
    calibration: Any = None,
    integer_only: bool = False,
    min_runtime: str | None = None,
    inputs: str = IDS,
    split_k: bool = False,
    calibration_rows: int | None = CALIBRATION_ROWS,
    table_bits: int | None = None,
) -> ModelFile:
    """Convert a task to a `.tflite` file.

    The file of a masked language model returns the scores of all tokens at every position, `(1, S, V)` float32: 15.6 MB for 128 positions
    and 30,522 tokens. Its token embeddings are stored once even if they are the decoder too. Only the target gpu stores them twice, because
    it needs another layout of the table.

    Args:
        task: The task to convert.
        recipe: The number format: `float32`, `float16`, `dynamic_wi8_afp32`, `dynamic_wi4_afp32`, `weight_only_wi8`, `static_wi8_ai8` or
            `static_wi8_ai16`. By default the one that the task was quantized for, else the target's.
        target: The deployment target, such as `cpu`, `gpu`, `web` or `edge-tpu`.
        length: Tokens of the inputs, by default the task's `sequence_length`. "resizable" leaves the length to the caller of the file.
            Several numbers make a signature `serve_N` each, which share one copy of the weights.
        calibration: Examples for the ranges of a static file. Only for a task without ranges; `compression.quantize` adds them.
        integer_only: Whether no operator computes in float, for processors without floating point. A task that was quantized so, and the
            target edge-tpu, always get such a file; another task is calibrated anew. The target edge-tpu gets two, see `ModelFile`.
        min_runtime: The oldest runtime that must load the file, such as "2.9". Before 2.17, kernels of Dense layers whose input is
            quantized at run time have one scale each. That is coarser than in training, so validate such a file.
        inputs: `ids`, or `text` for a file with the tokenizer in its graph, which needs tensorflow-text to run. Such a file has one length,
            the target cpu and a recipe with floats; `kerasbert.export.lowering.text_inputs` lists differences in tokenization.
        split_k: Whether float matrix products accumulate in parts, for GPUs that accumulate in fp16 (target gpu). Results are closer to
            float32, and 1.4 to 2.2 times slower (`passes.split_k`).
        calibration_rows: Number of calibration examples to use, sampled evenly; None for all.
        table_bits: 4 for token embeddings of 4 bits, with one scale for each token, in a recipe with integers and floats; only for a task
            that is not quantized yet. By default 8, or what the task was quantized for. Targets cpu and web.

    Returns:
        The file's bytes with its metadata; `save` writes them.

    Raises:
        KerasBertError: When an argument is unknown or does not fit the model, the recipe or the target; when ranges or calibration texts
            are missing; when the file would need a newer runtime than `min_runtime`.

    Example:
        ```python
        model = kb.export.convert(int8, recipe="static_wi8_ai8", target="cpu")
        model.save("model.tflite")
        ```
    """
    from kerasbert.tasks.base import check_task
    from kerasbert.tasks.precision import FLOAT32, dtype_policy

    check_task(task)
    options = resolve_options(task, recipe, target, length, integer_only, min_runtime, inputs, split_k, table_bits)
    with dtype_policy(FLOAT32):
        return _convert(_quantized_task(task.in_float32(), options, calibration, calibration_rows), options)


def _convert(task: "Task", options: ConversionOptions) -> ModelFile:
    metadata = _describe(task, options)
    if options.target.split:
        return _convert_partitioned(task, options, metadata)
    tasks = [task]
    del task  # its weights are freed during the last lowering
    models = _lower_lengths(tasks, options)
    longest = next(iter(models.values()))
    if options.inputs == IDS:
        add_tflite_metadata(longest, metadata)
    content = encode(merge_signatures(models) if len(models) > 1 else longest)
    if options.min_runtime is not None:
        check_runtime(content, options.min_runtime)
    return ModelFile(append(content, metadata), metadata)


def _quantized_task(task: "Task", options: ConversionOptions, calibration: Any, rows: int | None) -> "Task":
    """Return the task under the quantization policy of the recipe."""
    from kerasbert.compression import POLICIES, quantize

    trained, recipe = trained_for(task), options.recipe
    if options.integer_only and trained in (None, recipe.name) and not is_integer_only(task):
        if calibration is None:
            raise KerasBertError(
                "expected calibration texts for an integer-only file, received none: this model has no ranges for softmax, norms and "
                f"sums; give texts as {argument('calibration')}"
            )
        return quantize(task, recipe.name, calibration=calibration, integer_only=True, calibration_rows=rows)
    if trained == recipe.name or not recipe.integer:
        return task
    if trained is not None:
        raise KerasBertError(
            f"expected the recipe {trained!r}, which this model was quantized for, received {recipe.name!r}; leave the recipe out"
        )
    if recipe.trained and calibration is None:
        raise KerasBertError(
            f"expected a model with activation ranges for {recipe.name!r}, received one without; quantize it first (kerasbert quantize), "
            f"or give texts as {argument('calibration')}"
        )
    policy = replace(POLICIES[recipe.name], table_bits=options.table_bits)
    return quantize(task, policy, calibration=calibration, calibration_rows=rows)


def _describe(task: "Task", options: ConversionOptions) -> Metadata:
    """Return the metadata of the file."""
    tokenizer: dict[str, Any] = dict(task.tokenizer.get_config()) if task.has_tokenizer else {}
    vocabulary = tokenizer.pop("vocabulary", None)
    longest = task.config.longest  # a resizable file stores its number of positions nowhere else
    tokenizer["model_max_length"] = min(tokenizer.get("model_max_length") or longest, longest)
    lengths = [length for length in options.lengths if length is not None]
    return Metadata(
        task=type(task).__name__,
        processor=task.processor,
        sequence_length=options.lengths[-1],
        lengths=tuple(lengths) if len(lengths) > 1 else None,
        signature=options.signature,
        recipe=options.recipe.name,
        target=options.target.name,
        parameters=sum(int(variable.shape.num_elements()) for variable in task.variables_by_path().values()),
        weights=task.fingerprint(),
        vocab_size=task.config.vocab_size,
        tokenizer=tokenizer,
        kerasbert=__version__,
        vocabulary=tuple(vocabulary) if vocabulary else None,
        integer_only=options.integer_only,
        row_length=min(task.sequence_length, longest),
        inputs=options.inputs,
        exits=getattr(task, "exit_layers", None) or None,
        exit_threshold=getattr(task, "exit_threshold", None),
    )


def _convert_partitioned(task: "Task", options: ConversionOptions, metadata: Metadata) -> ModelFile:
    """Convert a task to a host model and an accelerator model."""
    from kerasbert.export.lowering.partition import split_files

    (length,) = (length for length in options.lengths if length is not None)
    host, accelerator = split_files(task, options.target, length)
    if options.min_runtime is not None:
        check_runtime(host, options.min_runtime)
        check_runtime(accelerator, options.min_runtime)
    return ModelFile(append(accelerator, metadata), metadata, append_mark(host))


def _lower_lengths(tasks: list["Task"], options: ConversionOptions) -> dict[str, Model]:
    """Lower a task at each length, the longest first, because some tools read the first graph only.

    Args:
        tasks: A list with the task, which is removed from it.
        options: The options of the conversion.

    Returns:
        The models by the name of their signature.
    """
    from kerasbert.export.lowering.lowered_model import lowered_model

    context = PassContext(options.recipe, per_channel=options.per_channel, split_k=options.split_k)
    stages: list[int | None] = list(range(options.exits)) or [None]
    tasks *= len(options.lengths) * len(stages)
    return {
        signature_name(stage, length if len(options.lengths) > 1 else None): lowered_model(
            tasks, options.target, length, context, options.integer_only, options.inputs == TEXT, stage
        )
        for length in reversed(options.lengths)
        for stage in stages
    }
