"""A task to a `.tflite` file."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kerasbert import __version__
from kerasbert.cleanup import temporary_folder
from kerasbert.errors import KerasBertError
from kerasbert.export.passes.context import PassContext
from kerasbert.export.passes.merge_signatures import merge_signatures
from kerasbert.export.recipes import Recipe, recipe_named
from kerasbert.export.runtime.partitioned_model import host_path, written_files
from kerasbert.export.targets import INTEGER_ONLY, Target, target_named
from kerasbert.export.tflite import metadata as packed
from kerasbert.export.tflite.metadata import IDS, TEXT, Metadata
from kerasbert.export.tflite.model import Model, decode, encode
from kerasbert.export.tflite.op_versions import check_version, is_newer, minimum_runtime
from kerasbert.export.tflite.tflite_metadata import add_tflite_metadata
from kerasbert.files.atomic import atomic_file
from kerasbert.files.own_files import check_own
from kerasbert.memory import release

INTEGER_RECIPE = "static_wi8_ai8"
SIGNATURE = "serve"
PER_CHANNEL_SINCE = "2.17"  # kernels with a scale for each channel, against activations quantized at run time


@dataclass(frozen=True)
class TFLiteModel:
    """A file's bytes, metadata packed behind them. host: of a file in two parts (target edge-tpu) the part that turns ids into vectors."""

    content: bytes
    metadata: Metadata
    host: bytes | None = None

    def save(self, path: str | os.PathLike) -> Path:
        """Writes the file, then its metadata beside it as `<file>.json`; each whole or not at all. Before them the host's part, as
        `<stem>.host.tflite`.

        Raises KerasBertError where one of them would replace a file that was not written by kerasbert.
        """
        path = Path(path)
        for place, kind in written_files(path, host=self.host is not None):
            check_own(place, kind, f"the output {place.name}")
        parts = {path: self.content} if self.host is None else {host_path(path): self.host, path: self.content}
        for place, content in parts.items():
            with atomic_file(place) as partial:
                partial.write_bytes(content)
        packed.write_sidecar(path, self.metadata)
        return path


def convert(
    task,
    recipe: str | None = None,
    target: str = "cpu",
    length: int | str | Sequence[int] | None = None,
    calibration=None,
    integer_only: bool = False,
    min_runtime: str | None = None,
    inputs: str = IDS,
    split_k: bool = False,
) -> TFLiteModel:
    """Converts a task.

    recipe: `float32`, `float16`, `dynamic_wi8_afp32`, `dynamic_wi4_afp32`, `weight_only_wi8`, `static_wi8_ai8` or `static_wi8_ai16`; by
    default what the task was quantized for, else the target's. target: who will run it.
    length: tokens in the file's inputs, by default the task's `sequence_length`; "resizable" leaves it to the caller of the file; several
    numbers make a signature `serve_N` of each, which share one copy of the weights.
    calibration: examples that give the ranges of a static file to a task that was not quantized while training; a task from
    `compression.quantize` brings its own.
    integer_only: a static file in which nothing is computed in float, for processors that cannot; always so for the target edge-tpu, which
    gets two files, see `TFLiteModel`. A task that was quantized so becomes
    such a file in any case; another one is calibrated anew.
    min_runtime: the oldest runtime that is to load the file, such as "2.9". Below 2.17 kernels of Dense layers whose input is
    quantized at run time have one scale each: coarser than what training saw, so validate it.

    inputs: `ids`, or `text` for a file that splits a text itself, with tensorflow-text's operators, which its runtime then needs; of one
    length for the target cpu, by recipes with floats between. See `kerasbert.export.lowering.text_inputs` for what it splits otherwise.

    split_k: for the target gpu: float matrix products accumulate in parts, for GPUs that accumulate in fp16. Nearer to float32 there, and
    1.4 to 2.2 times slower (`passes.split_k`).

    A masked language model's file gives the scores of all words at every token, (1, S, V) float32: 15.6 MB for 128 tokens and 30,522 words.
    It holds its word table once, also where that is the decoder (for the target gpu, which lays tables out otherwise, twice).

    Raises KerasBertError for an unknown recipe or target, a recipe that the target cannot run, a length that the model does not have, a
    static recipe without ranges, an integer file of another recipe or without calibration texts, and a file that would need a newer runtime
    than `min_runtime`.
    """
    from kerasbert.layers.norms import LayerNorm
    from kerasbert.layers.traversal import sublayers

    target = target_named(target)
    target.check_split_k(split_k)
    integer_only = integer_only or is_integer_only(task) or target.split
    recipe = recipe_named(recipe or (INTEGER_RECIPE if integer_only else trained_for(task) or target.default_recipe))
    target.check_recipe(recipe.name)
    lengths = _lengths(length, task)
    for each in lengths:
        target.layout(each)
    if integer_only:
        check_integer_only(recipe)
    if integer_only and not target.squares_by_itself and sublayers(task, LayerNorm):
        raise KerasBertError(
            f"expected a file with floats for the target {target.name!r}, received integers only: their layer norms multiply rows by "
            "themselves, which ends the accelerator's process; leave out `integer_only=`, or take a model with NoNorm"
        )
    if inputs != IDS:
        _check_text_file(task, inputs, target, lengths, integer_only)
    if target.split and len(lengths) > 1:
        raise KerasBertError(f"expected one length for the target {target.name!r}, received {lengths}")
    if min_runtime is not None:
        check_version(min_runtime)
    task = _prepared(task, recipe, calibration, integer_only)
    card = _metadata(task, recipe, target.name, lengths, integer_only, inputs)
    if target.split:
        return _split(task, target, lengths[0], card, min_runtime)
    waiting, models = [task], {}
    del task  # `_lowered` lets go of it before it converts
    per_channel = min_runtime is None or not is_newer(PER_CHANNEL_SINCE, min_runtime)
    for number, each in enumerate(
        reversed(lengths), start=1
    ):  # the longest first: some tools know the first graph only
        given = waiting.pop() if number == len(lengths) else waiting[0]
        context = PassContext(recipe, per_channel=per_channel, split_k=split_k)
        models[f"{SIGNATURE}_{each}"] = _lowered(given, target, each, context, integer_only, inputs == TEXT)
    if inputs == IDS:
        add_tflite_metadata(next(iter(models.values())), card)
    content = encode(merge_signatures(models) if len(models) > 1 else next(iter(models.values())))
    if min_runtime is not None:
        _check_runtime(content, min_runtime)
    return TFLiteModel(packed.append(content, card), card)


def _split(task, target: Target, length: int, card: Metadata, min_runtime: str | None) -> TFLiteModel:
    from kerasbert.export.lowering.partition import split_files

    host, body = split_files(task, target, length)
    for part in (host, body) if min_runtime is not None else ():
        _check_runtime(part, min_runtime)
    return TFLiteModel(packed.append(body, card), card, packed.append_mark(host))


def _check_runtime(content: bytes, wanted: str) -> None:
    """Raises KerasBertError, with the operators, for a file that an older runtime than the wanted one would not load."""
    from kerasbert.export.tflite.tflite_file import TFLiteFile

    operators = {(op.name, op.version) for graph in TFLiteFile.read(content).subgraphs for op in graph.operators}
    newer = {each: minimum_runtime({each}) for each in sorted(operators)}
    newer = {each: since for each, since in newer.items() if not since[0].isdigit() or is_newer(since, wanted)}
    if newer:
        listed = ", ".join(f"{name} v{version} ({since})" for (name, version), since in newer.items())
        raise KerasBertError(
            f"expected operators that runtime {wanted} knows, received {listed}; convert with another recipe"
        )


def _check_text_file(task, inputs: str, target: Target, lengths: list, integer_only: bool) -> None:
    from kerasbert.export.lowering.text_inputs import check_text_inputs

    if inputs != TEXT:
        raise KerasBertError(f"expected inputs of {IDS} or {TEXT}, received {inputs!r}")
    if target.name != "cpu" or integer_only or len(lengths) > 1 or lengths[0] is None:
        raise KerasBertError(
            "expected the target cpu, one length and a recipe with floats for a file that takes texts, received others: tensorflow-text's "
            "operators run on a CPU"
        )
    check_text_inputs(task)


def _lowered(task, target: Target, length: int | None, context: PassContext, integer_only: bool, texts: bool) -> Model:
    """The model of one length: traced, decoded, and through the passes of its target."""
    from kerasbert.export.lowering import integer_only as integers
    from kerasbert.export.lowering import tracing

    if integer_only:
        target, twin = integers.integer_target(target), integers.integer_twin(task)
        context = replace(context, tables=[twin.encoder.embeddings.word.table.numpy()])
    else:
        twin = tracing.export_twin(task)
        if context.recipe.integer:
            plans, tables = _plans(task, twin, context.recipe)
            context = replace(context, plans=plans, tables=tables)
    with temporary_folder("graph") as folder:
        tracing.save_graph(twin, target, length, folder, texts)
        # The converter holds the weights several times over; our copies need not be there as well.
        del task, twin
        release()
        half = context.recipe.name == "float16"
        model = decode(tracing.converted_graph(folder, half=half, integer=integer_only, texts=texts))
    for run in INTEGER_ONLY if integer_only else target.passes:
        run(model, context)
    return model


def check_integer_only(recipe: Recipe) -> None:
    """Raises KerasBertError for a recipe of which there is no integer-only file."""
    if recipe.name != INTEGER_RECIPE:
        raise KerasBertError(
            f"expected the recipe {INTEGER_RECIPE!r} for an integer-only file, received {recipe.name!r}"
        )


def trained_for(task) -> str | None:
    """The recipe that the task was quantized for."""
    return task.policy.recipe if task.policy else None


def is_integer_only(task) -> bool:
    """Whether the task was quantized to have no activation in float."""
    return bool(task.policy and task.policy.integer_only)


def _lengths(length, task) -> list[int | None]:
    """The lengths that a file is to have, in rising order; None for one that its caller sets."""
    if length == "resizable":
        return [None]
    if length is None:
        return [task.sequence_length]
    lengths = list(length) if isinstance(length, list | tuple) else [length]
    longest = task.config.longest
    for each in lengths:
        if not isinstance(each, int) or isinstance(each, bool) or not 3 <= each <= longest:
            raise KerasBertError(f"expected a length from 3 to {longest} tokens, or 'resizable', received {each!r}")
    if not lengths or len(set(lengths)) < len(lengths):
        raise KerasBertError(f"expected one length, or several different ones, received {lengths}")
    return sorted(lengths)


def _prepared(task, recipe: Recipe, calibration, integer_only: bool):
    """The task under the policy that the recipe stores."""
    from kerasbert.compression import quantize

    trained = trained_for(task)
    if integer_only and trained in (None, recipe.name) and not is_integer_only(task):
        if calibration is None or len(calibration) == 0:
            raise KerasBertError(
                "expected calibration texts for an integer-only file, received none: this model has no ranges for softmax, norms and "
                "sums; give texts as `calibration=`"
            )
        return quantize(task, recipe.name, calibration=calibration, integer_only=True)
    if trained == recipe.name or not recipe.integer:
        return task
    if trained is not None:
        raise KerasBertError(
            f"expected the recipe {trained!r}, which this model was quantized for, received {recipe.name!r}"
        )
    if recipe.trained and calibration is None:
        raise KerasBertError(
            f"expected a model with activation ranges for {recipe.name!r}, received one without. Quantize it first (kerasbert quantize), "
            "or give texts as `calibration=`"
        )
    return quantize(task, recipe.name, calibration=calibration)


def _plans(task, twin, recipe: Recipe) -> tuple[list, list]:
    """How each dense is stored, and the tables that are stored in int8 around zero."""
    from kerasbert.export.lowering.dense_plans import dense_plans
    from kerasbert.layers.embedding_table import EmbeddingTable
    from kerasbert.layers.traversal import sublayers

    pairs = zip(sublayers(twin, EmbeddingTable), sublayers(task, EmbeddingTable), strict=True)
    tables = [stored.table.numpy() for stored, trained in pairs if trained.quantized]
    return dense_plans(task, twin, static=recipe.trained), tables


def _metadata(
    task, recipe: Recipe, target: str, lengths: list[int | None], integer_only: bool, inputs: str
) -> Metadata:
    tokenizer = dict(task.tokenizer.get_config()) if task.has_tokenizer else {}
    vocabulary = tokenizer.pop("vocabulary", None)
    longest = task.config.longest  # a resizable file tells nowhere else where its position table ends
    tokenizer["model_max_length"] = min(tokenizer.get("model_max_length") or longest, longest)
    return Metadata(
        task=type(task).__name__,
        processor=task.processor,
        sequence_length=lengths[-1],
        lengths=tuple(lengths) if len(lengths) > 1 else None,
        signature=SIGNATURE if len(lengths) == 1 else f"{SIGNATURE}_{lengths[-1]}",
        recipe=recipe.name,
        target=target,
        parameters=sum(int(variable.shape.num_elements()) for variable in task.variables_by_path().values()),
        weights=task.fingerprint(),
        vocab_size=task.config.vocab_size,
        tokenizer=tokenizer,
        kerasbert=__version__,
        vocabulary=tuple(vocabulary) if vocabulary else None,
        integer_only=integer_only,
        row_length=min(task.sequence_length, longest),
        inputs=inputs,
    )
