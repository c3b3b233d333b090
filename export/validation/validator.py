"""Proof that a `.tflite` file still does what the model it came from does, backend by backend.

Runs with NumPy and a LiteRT (or tflite) runtime alone, unless `against` is a Keras model or the data are texts.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.backends import arm64, clients, cpu, edge_tpu, gpu, gpu_opencl, tflite_2_14, web
from kerasbert.export.backends.context import ValidationContext
from kerasbert.export.backends.subprocesses.probe import failure_reason
from kerasbert.export.runtime.interpreter_model import InterpreterModel, one_line
from kerasbert.export.runtime.interpreters import DEFAULT_LENGTH, describe_machine, open_model
from kerasbert.export.runtime.partitioned_model import PartitionedModel
from kerasbert.export.runtime.predictor import tokenizer_of
from kerasbert.export.tflite import metadata as packed
from kerasbert.export.validation.bundled_texts import bundled_data
from kerasbert.export.validation.checks import (
    FAILED,
    NOT_RUN,
    PASSED,
    Check,
    Tolerance,
    ValidationReport,
    check_report_path,
)
from kerasbert.export.validation.compatibility import check_inputs, check_same_kind
from kerasbert.export.validation.details import details_of
from kerasbert.export.validation.examples import Data, Examples, Kept, blocks, packed_examples, read_data, text_examples
from kerasbert.export.validation.reference import Reference, collect, guess_processor, open_reference, reference_outputs
from kerasbert.export.validation.tolerances import TRAINED_FURTHER, recipe_of, tolerance_of
from kerasbert.export.validation.verdict import warnings
from kerasbert.processors import make_processor

BACKENDS = {
    "cpu": cpu.checks, "gpu": gpu.checks, "gpu-opencl": gpu_opencl.checks, "edge-tpu": edge_tpu.checks, "web": web.checks,
    "tflite-2.14": tflite_2_14.checks, "arm64": arm64.checks, "mediapipe": clients.mediapipe, "task-library": clients.task_library,
}  # fmt: skip
ALL = "all"
RUN_PARTS = ("cpu", "edge-tpu")  # backends that run a file in two parts
REFERENCE_ROWS = 64
_SAMPLE = 4000
_GUESSED = 64  # rows whose outputs tell the processor
_UNKNOWN = make_processor("regression")  # keeps outputs as they are, until it is known what they are

Progress = Callable[[str, int, int], None]


def validate(
    model_path: str | os.PathLike,
    *,
    against,
    data=None,
    on: Sequence[str] = ("cpu",),
    rows: int | None = None,
    reference_rows: int | None = None,
    tolerance: Tolerance | float | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    report: str | os.PathLike | None = None,
    isolated: bool = False,
) -> ValidationReport:
    """Runs a `.tflite` file on real rows and compares it, output by output and by the task's metric, with `against`.

    How a check ends: see `kerasbert.export.validation.verdict.judge`.

    Args:
        model_path: the file to prove.
        against: the model it came from: a kerasbert task, a saved folder, another `.tflite` file, or an `.npz` archive with the input
            arrays, the outputs by name and, if wanted, `labels`.
        data: `(x, y)` as the task's processor takes them (see `kerasbert.processors`), such as `(texts, labels)` or `((texts, pairs),
        labels)`; x alone; a table of `kerasbert.data`, or the path of a file that `kerasbert.data.reading.read_for` reads; or a dict of
        packed int32 arrays (N, S), alone or as `(arrays, labels)`. None: an archive's own rows, else sentences that ship with
            kerasbert, which have no labels for the task, so that no metric is judged.
        on: backends: `cpu`, `gpu`, `gpu-opencl`, `edge-tpu`, `web`, `tflite-2.14`, `arm64`, `mediapipe`, `task-library`, or
            `all`. One that cannot run here ends as `not run`.
        rows: use that many rows, spread evenly; None: all.
        reference_rows: rows for the slow reference kernels and devices; None: `rows`, or without it 64.
        tolerance: a `Tolerance`, or the largest absolute error; None: the recipe's entry in `TOLERANCES`.
        threads: CPU threads.
        progress: called with (what, done, total).
        report: also write the report there, `.html` or `.json`.
        isolated: run the file in another process first, since a damaged or hostile one may crash the runtime, hang it or take all memory:
            that is a failed check then, and this process goes on. The command does so.

    Raises:
        KerasBertError: an unknown backend, unreadable files, or a model, other side and data that do not belong
        together.
    """
    on = _backends(on)
    if report is not None:
        check_report_path(report)
    progress = progress or (lambda what, done, total: None)
    card = packed.read(model_path)
    packed.check_takes_ids(model_path, card, "to compare it")
    if isolated and (words := failure_reason(model_path)):
        check = Check("opens and runs once", FAILED, words)
        return _written(_broken(model_path, against, card, check), report, None)
    given, notes = _data(card, against, data, model_path)
    length = _length(model_path, card, against, given)
    model = open_model(model_path, threads=threads, length=length)
    if card is not None and model.signature is None:  # nothing of ours can be bound
        return _written(_broken(model_path, against, card, _signature_check(model, 0)), report, None)
    side = open_reference(against, model.length, threads)
    check_same_kind(card, side, model_path)
    examples = _examples(model, card, side, given, rows, model_path)
    expected = collect(side, examples, model.outputs, lambda done, total: progress(side.name, done, total))
    recipe, further = recipe_of(model_path, card, tolerance)
    notes += further
    limits = tolerance_of(tolerance, recipe)
    if tolerance is None and card and card.weights and side.weights and card.weights != side.weights:
        limits = replace(limits, **TRAINED_FURTHER)
        notes.append(
            f"note: {side.name} has other weights than the model that was converted, so the task's metric is judged, and agreement only "
            "against 0.9. For a check of the conversion itself, validate against the folder that was converted"
        )
    some = reference_rows or rows or REFERENCE_ROWS
    job = ValidationContext(str(model_path), examples, expected, limits, threads, some, progress, proven="cpu" in on)
    checks, samples, details = [_signature_check(model, len(examples))], {}, None
    for backend in on:
        found, kept = _run_backend(backend, job, split=isinstance(model, PartitionedModel))
        checks += found
        if kept:
            samples |= {f"{backend}: {name}": _sample(expected, kept, name) for name in kept[0].compared}
        if kept and details is None and not any(output.broken for check in found for output in check.outputs):
            details = details_of(backend, examples, expected, kept)
    if not examples.measurable and data is not None:
        notes.append("note: the data carry no labels, so the task's metric was not measured")
    measured = next((check for check in checks if check.metrics), None)
    notes += warnings(measured.metrics[0], side.name) if measured else []
    result = ValidationReport(
        model=Path(model_path).name,
        against=side.name,
        recipe=recipe,
        processor=examples.processor,
        rows=len(examples),
        length=examples.length,
        tolerance=limits,
        checks=tuple(checks),
        machine=describe_machine(),
        notes=tuple(notes),
        details=details,
        samples=samples,
    )
    return _written(result, report, model_path)


def _broken(model_path, against, card: packed.Metadata | None, check: Check) -> ValidationReport:
    """The report of a file that no backend gets, for what `check` found."""
    return ValidationReport(
        model=Path(model_path).name,
        against=Path(against).name if isinstance(against, str | os.PathLike) else type(against).__name__,
        recipe=card.recipe if card else "unknown",
        processor=card.processor if card else _UNKNOWN,
        rows=0,
        length=0,
        tolerance=Tolerance(),
        checks=(check,),
        machine=describe_machine(),
    )


def _written(result: ValidationReport, report: str | os.PathLike | None, model_path) -> ValidationReport:
    if report is not None:
        from kerasbert.export.reporting.report import write_report

        write_report(report, result, model_path=model_path)
    return result


def _backends(on: Sequence[str]) -> tuple[str, ...]:
    names = (on,) if isinstance(on, str) else tuple(on)
    if ALL in names:
        return tuple(BACKENDS)
    unknown = [name for name in names if name not in BACKENDS]
    if unknown or not names:
        received = unknown[0] if unknown else "none"
        raise KerasBertError(f"expected backends among {', '.join([*BACKENDS, ALL])}, received {received!r}")
    return names


def _run_backend(backend: str, job: ValidationContext, split: bool) -> tuple[list[Check], list[Kept]]:
    if split and backend not in RUN_PARTS:
        return [Check(backend, NOT_RUN, "the file is one of two parts, made for an Edge TPU and its host")], []
    try:
        return BACKENDS[backend](job)
    except Exception as error:  # whatever it is, the other backends still have their turn
        return [Check(backend, FAILED, f"{type(error).__name__}: {one_line(error)}")], []


def _data(card: packed.Metadata | None, against, data, model_path) -> tuple[Data | None, list[str]]:
    """What a user hands over, or sentences of our own, and what to note about it; None where the other side is an archive, which brings
    its own rows."""
    archive = isinstance(against, str | os.PathLike) and Path(against).suffix == ".npz"
    if archive and data is not None:
        raise KerasBertError(
            f"expected no data, {Path(against).name} brings its own rows, received data as well; leave out `data=`"
        )
    if archive:
        return None, []
    processor = card.processor if card else getattr(against, "processor", None)
    if data is not None:
        return read_data(data, processor), []
    if processor is None:
        raise KerasBertError(
            f"expected data to run {Path(model_path).name} on, which names no task, received none; give labelled texts as `data=`"
        )
    found = bundled_data(processor)
    return found, [
        f"note: no data were given, so {len(found.x)} English sentences that ship with kerasbert ran. Outputs were compared; no metric was "
        "judged on labelled data: --data does that"
    ]


def _length(model_path, card: packed.Metadata | None, against, data: Data | None) -> int | None:
    """None for a fixed file; for a resizable one the length of packed data, of the other side, of the task it was made of, or 128."""
    try:
        open_model(model_path)
        return None
    except KerasBertError as error:
        if "resizable" not in str(error):
            raise
    if data is None:
        return open_reference(against, None, 1).fixed.length
    if data.length is not None:
        return data.length
    other = packed.read(against) if isinstance(against, str | os.PathLike) and Path(against).is_file() else None
    return getattr(other or against, "sequence_length", None) or (card.row_length if card else None) or DEFAULT_LENGTH


def _examples(
    model: InterpreterModel, card, side: Reference, data: Data | None, rows: int | None, model_path
) -> Examples:
    """Packed rows of the model's length with their processor, which outputs must tell where neither side does."""
    processor, data = card.processor if card else side.processor, data or side.fixed
    if not data.is_packed:
        tokenizer = side.tokenizer or tokenizer_of(packed.require(model_path, "to validate it on texts"))
        return text_examples(data, processor, tokenizer, model.length, rows)
    unlabelled = packed_examples(Data(data.x), processor or _UNKNOWN, rows)
    check_inputs(unlabelled.inputs, model)
    if processor is None:
        processor = guess_processor(reference_outputs(side, unlabelled, 0, min(len(unlabelled), _GUESSED)))
    return packed_examples(data, processor, rows)


def _signature_check(model: InterpreterModel, rows: int) -> Check:
    """Whether the file can be bound by name; one without a signature is bound by tensor names, which other tools may
    change."""
    if model.signature is None:
        return Check(
            "signature", FAILED, "the file has no signature; convert it again, or bind it by tensor name", rows=rows
        )
    return Check(
        "signature",
        PASSED,
        f"{model.signature}: {', '.join(sorted(model.inputs))} -> {', '.join(sorted(model.outputs))}",
        rows=rows,
    )


def _sample(expected: Sequence[Kept], actual: Sequence[Kept], name: str) -> tuple[np.ndarray, np.ndarray]:
    """At most a few thousand numbers of both sides, for the plots."""
    step = -(-sum(kept.compared[name].size for kept in actual) // _SAMPLE) or 1
    parts = [tuple(side.ravel()[::step] for side in pair) for pair in blocks(expected, actual, name)]
    return tuple(map(np.concatenate, zip(*parts, strict=True)))
