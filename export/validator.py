"""Proof that a `.tflite` file still does what the model it came from does, backend by backend.

Runs with NumPy and a LiteRT (or tflite) runtime alone, unless `against` is a Keras model or the data are texts.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kerasbert.arguments import check_path, shown
from kerasbert.console.progress import Progress
from kerasbert.errors import KerasBertError
from kerasbert.export.backends.registry import BACKENDS, Backend, select_backends
from kerasbert.export.backends.subprocesses.probe import failure_reason
from kerasbert.export.runtime.interpreters import describe_machine, open_model
from kerasbert.export.runtime.session import Session
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.validation.checks import (
    FAILED,
    NO_DIFFERENCE,
    NOT_JUDGED,
    PASSED,
    Check,
    Tolerance,
    ValidationReport,
    check_report_path,
)
from kerasbert.export.validation.context import BackendResult, ValidationContext
from kerasbert.export.validation.details import Details, details_of
from kerasbert.export.validation.examples import RowOutputs, blocks
from kerasbert.export.validation.preparation import (
    UNKNOWN_PROCESSOR,
    bundled_note,
    check_same_kind,
    choose_data,
    choose_length,
    make_examples,
)
from kerasbert.export.validation.reference import collect_outputs, open_reference
from kerasbert.export.validation.settings import check_settings
from kerasbert.export.validation.tolerances import choose_tolerance, recipe_of
from kerasbert.export.validation.verdict import warnings
from kerasbert.export.validation_pipeline import check_pipeline, tokenizer_in

SAMPLE_ROWS = 64
_PLOT_POINTS = 4000


def validate(
    model_path: str | os.PathLike,
    *,
    against: Any,
    data: Any = None,
    on: str | Sequence[str] = ("cpu",),
    rows: int | None = None,
    reference_rows: int | None = None,
    tolerance: Tolerance | float | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    report: str | os.PathLike | None = None,
    isolated: bool = False,
) -> ValidationReport:
    """Run a `.tflite` file on real rows and compare it, output by output and by the task's metric, with `against`.

    How a check ends: see `kerasbert.export.validation.verdict.judge`.

    Args:
        model_path: The file to prove.
        against: The model it came from: a kerasbert task, a saved folder, another `.tflite` file, or an `.npz` archive with the input
            arrays, the outputs by name and, if wanted, `labels`.
        data: `(x, y)` as the task's processor takes them (see `kerasbert.processors`), such as `(texts, labels)` or `((texts, pairs),
            labels)`; x alone; a table of `kerasbert.data`, or the path of a file that the processor reads; or a dict of packed int32
            arrays (rows, length), alone or as `(arrays, labels)`. None: an archive's own rows, else sentences that ship with kerasbert.
            These have no labels, so no metric is judged.
        on: The backends, by their names in `kerasbert.export.backends.registry`, or `all`. A backend that cannot run here ends as
            `not run`.
        rows: Use that many rows, spread evenly; None: all.
        reference_rows: Rows for the slow reference kernels and devices; None: `rows`, or without it 64.
        tolerance: A `Tolerance`, or the largest absolute error; None: the recipe's entry in `TOLERANCES`.
        threads: CPU threads.
        progress: Receives the progress, one stage a check.
        report: Also write the report there, `.html` or `.json`.
        isolated: Run the file in another process first. A damaged or hostile file may crash the runtime, hang it or take all memory;
            that is a failed check then, and this process goes on. The command does so.

    Returns:
        The report, with one check or several a backend.

    Raises:
        KerasBertError: When a backend is unknown, a file cannot be read, or file, reference and data do not belong together.

    Example:
        ```python
        report = kb.export.validate("mine.tflite", against=int8, data=(texts, labels), on=["cpu"])
        report.verdict  # "passed", "no difference found", "failed", "not judged" or "incomplete"
        ```
    """
    backends, progress = select_backends(on), Progress() if progress is None else progress
    if not isinstance(progress, Progress):
        raise KerasBertError(
            f"expected a kerasbert Progress, received a {shown(progress)}; pass an object of a subclass of "
            "kerasbert.console.progress.Progress"
        )
    if report is not None:
        check_report_path(report)
    file = ModelFile.read(check_path(model_path, "the path of a .tflite file"))
    if isolated and (reason := failure_reason(model_path)):
        result = _report_unusable(file, against, Check("opens and runs once", FAILED, reason))
    else:
        sample_size = reference_rows or rows or SAMPLE_ROWS
        result = _validate_file(file, against, data, backends, rows, sample_size, tolerance, threads, progress)
    if report is not None:
        from kerasbert.export.reporting.report import write_report

        write_report(report, result, file if result.rows else None)
    return result


def _validate_file(
    file: ModelFile,
    against: Any,
    data: Any,
    backends: Sequence[Backend],
    rows: int | None,
    sample_size: int,
    tolerance: Tolerance | float | None,
    threads: int,
    progress: Progress,
) -> ValidationReport:
    """Prepare reference and rows, run every backend and make the report."""
    reference = open_reference(against, threads)
    chosen_data = choose_data(file, reference, data)
    model = open_model(file, threads, default_length=choose_length(file, reference, chosen_data))
    metadata = file.metadata
    if metadata is not None and model.signature is None:  # its inputs and outputs cannot be bound by our names
        return _report_unusable(file, against, _signature_check(model, 0))
    check_same_kind(file, reference)
    examples = make_examples(file, model, reference, chosen_data, rows)
    expected = collect_outputs(reference, examples, model.outputs, progress)
    recipe, notes = recipe_of(file, tolerance)
    limits, tolerance_notes = choose_tolerance(tolerance, recipe, metadata, reference)
    context = ValidationContext(
        file, model, reference, chosen_data, examples, expected, recipe, limits, threads, sample_size, rows, progress,
        proven=any(backend.runs_every_row for backend in backends),
    )  # fmt: skip
    results = {backend.name: backend.run(context) for backend in backends}
    if metadata is not None:
        tokenizer = tokenizer_in(metadata)
        settings = check_settings(context, metadata, tokenizer)
        results["file"] = BackendResult([settings, check_pipeline(context, metadata, tokenizer)])
    notes += tolerance_notes
    if data is None and reference.data is None:
        compared = any(check.outputs for result in results.values() for check in result.checks)
        notes.append(bundled_note(examples, len(chosen_data.x), compared))
    if not examples.measurable and data is not None:
        notes.append("note: the data carry no labels, so the task's metric was not measured")
    return _make_report(context, results, notes)


def _signature_check(model: Session, rows: int) -> Check:
    """Check that the file can be bound by name. Without a signature, it is bound by tensor names, which other tools may change."""
    if model.signature is None:
        reason = "the file has no signature; convert it again, or bind it by tensor name"
        return Check("signature", FAILED, reason, rows=rows)
    reason = f"{model.signature}: {', '.join(sorted(model.inputs))} -> {', '.join(sorted(model.outputs))}"
    return Check("signature", PASSED, reason, rows=rows)


def _report_unusable(file: ModelFile, against: Any, check: Check) -> ValidationReport:
    """Make the report of a file that no backend gets, with the check that failed."""
    return ValidationReport(
        model=file.name,
        against=Path(against).name if isinstance(against, str | os.PathLike) else type(against).__name__,
        recipe=file.metadata.recipe if file.metadata else "unknown",
        processor=file.metadata.processor if file.metadata else UNKNOWN_PROCESSOR,
        rows=0,
        length=0,
        tolerance=Tolerance(),
        checks=(check,),
        machine=describe_machine(),
    )


def _make_report(
    context: ValidationContext, results: Mapping[str, BackendResult], notes: Sequence[str]
) -> ValidationReport:
    signature = _signature_check(context.model, len(context.examples))
    checks = (signature, *_consistent(results, len(context.examples)))
    measured = next((check for check in checks if check.metrics), None)
    reference = context.reference.name
    return ValidationReport(
        model=context.file.name,
        against=reference,
        recipe=context.recipe,
        processor=context.examples.processor,
        rows=len(context.examples),
        length=context.examples.length,
        tolerance=context.tolerance,
        checks=checks,
        machine=describe_machine(),
        notes=(*notes, *(warnings(measured.metrics[0], reference) if measured else [])),
        details=_make_details(context, results),
        samples={
            f"{backend}: {name}": _sample(context.expected, result.outputs, name)
            for backend, result in results.items()
            for name in (result.outputs[0].compared if result.outputs else ())
        },
    )


def _consistent(results: Mapping[str, BackendResult], rows: int) -> list[Check]:
    """Return all checks, without a pass on a sample of rows where the check on all of them does not pass.

    A spot check relies on the backend that runs every row. Where these rows do not decide, some of them do not either.
    """
    checks = [check for result in results.values() for check in result.checks]
    proofs = (name for name, backend in BACKENDS.items() if backend.runs_every_row and name in results)
    proving = [check for name in proofs for check in results[name].checks]
    whole = next((check for check in proving if check.judgements and check.rows == rows), None)
    if whole is None or whole.status not in (NO_DIFFERENCE, NOT_JUDGED):
        return checks
    reason = f"a sample of the rows of {whole.name}, which do not decide"
    return [
        replace(check, status=whole.status, reason="; ".join(filter(None, (reason, check.reason))))
        if check.status == PASSED and check.judgements and check.rows < rows
        else check
        for check in checks
    ]


def _make_details(context: ValidationContext, results: Mapping[str, BackendResult]) -> Details | None:
    """Compare rows and classes by the outputs of the first backend that ran all rows with finite numbers."""
    for backend, result in results.items():
        if result.outputs and not any(output.broken for check in result.checks for output in check.outputs):
            return details_of(backend, context.examples, context.expected, result.outputs)
    return None


def _sample(expected: Sequence[RowOutputs], actual: Sequence[RowOutputs], name: str) -> tuple[np.ndarray, np.ndarray]:
    """Choose a few thousand numbers of both sides at most, for the plots."""
    step = -(-sum(outputs.compared[name].size for outputs in actual) // _PLOT_POINTS) or 1
    parts = [tuple(side.ravel()[::step] for side in pair) for pair in blocks(expected, actual, name)]
    first, second = zip(*parts, strict=True)
    return np.concatenate(first), np.concatenate(second)
