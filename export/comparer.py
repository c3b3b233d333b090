"""Several models on the same labelled data, beside a reference: size, score, share kept, agreement, latency and memory."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kerasbert.arguments import check_flag, check_whole_number, shown
from kerasbert.console.progress import Progress
from kerasbert.errors import KerasBertError
from kerasbert.export.comparison.comparison import ModelComparison
from kerasbert.export.comparison.models import compressed_size, files_of, named_models
from kerasbert.export.comparison.results import FILE, FOLDER, ComparedModel, Estimate
from kerasbert.export.comparison.running import ModelRun, run_models
from kerasbert.export.comparison.scoring import Answers
from kerasbert.export.comparison.table import data_name
from kerasbert.export.comparison.timing import TEXTS, Timing, load_note, time_models
from kerasbert.export.runtime.interpreters import describe_machine
from kerasbert.export.runtime.isolated_session import check_runs
from kerasbert.export.validation.verdict import warnings
from kerasbert.files.cleanup import temporary_folder

RUNS = 3 * TEXTS
_KERAS = "note: folders ran in Keras, which is slower on single texts than a converted file; convert them to compare runtimes alike"


def compare(
    models: Sequence[Any] | Mapping[str, Any],
    data: Any,
    *,
    against: Any = None,
    rows: int | None = None,
    latency: bool = True,
    sequence_length: int | None = None,
    runs: int = RUNS,
    threads: int = 1,
    progress: Progress | None = None,
    isolated: bool = False,
) -> ModelComparison:
    """Compare models on the same labelled data: size, the task's metric, the share of the reference's, agreement, latency and memory.

    Each model uses its own tokenizer and settings. Labels are matched by name, whatever their order. A folder runs in Keras as it is,
    quantized or pruned; a `.tflite` file runs on LiteRT. An `.onnx` file is measured, but not scored.

    Args:
        models: Two or more files, folders, or names in the zoo or on the hub. A dict names them, and may hold tasks too.
        data: Labelled examples as `validate` takes them: `(x, y)`, a table of `kerasbert.data`, or the path of a file that the processor
            reads.
        against: The reference, by its name or path; by default the first model.
        rows: Examples to use, sampled evenly; by default all.
        latency: Whether to measure latency and memory, in processes of their own.
        sequence_length: Tokens of the row that is timed. By default 64 texts of the data are timed, each at the length that it needs.
        runs: The least number of timed rows of each model.
        threads: CPU threads of the runtime.
        progress: Receives the progress.
        isolated: Whether files run in processes of their own when they are scored, for files of unknown origin.

    Returns:
        The comparison.

    Raises:
        KerasBertError: When there are fewer than two models, one is damaged, tasks or labels differ, or the data have no labels.

    Example:
        ```python
        comparison = kb.export.compare({"float": "runs/mine", "int8": "mine.tflite"}, "dev.tsv", rows=64, runs=8)
        print(comparison.table())
        comparison.models[1].kept  # Estimate(value=..., low=..., high=...)
        comparison.save("comparison.html")
        ```
    """
    check_flag(latency, "latency")
    check_flag(isolated, "isolated")
    check_whole_number(runs, "runs")
    check_whole_number(threads, "threads")
    if sequence_length is not None:
        check_whole_number(sequence_length, "sequence_length")
        if not latency:
            raise KerasBertError(
                f"expected latency to be measured at {sequence_length} tokens, received no latency; leave one of them out"
            )
    progress = Progress() if progress is None else progress
    if not isinstance(progress, Progress):
        raise KerasBertError(
            f"expected a kerasbert Progress, received a {shown(progress)}; pass an object of a subclass of "
            "kerasbert.console.progress.Progress"
        )
    with temporary_folder("compare") as folder:
        named = named_models(_saved(models, folder), against)
        examples, found = run_models(
            named,
            data,
            rows,
            timed=latency and sequence_length is None,
            threads=threads,
            isolated=isolated,
            progress=progress,
        )
        busy = load_note() if latency else ""
        timings = _timings(found, sequence_length, runs, threads, progress) if latency else []
        compared = _compared(found, timings, os.fspath(folder), progress)
    return ModelComparison(
        data=data_name(data), rows=len(examples.x), task=examples.task, metric=next(iter(compared[0].metrics)), against=named[0].name,
        models=compared, threads=threads, sequence_length=sequence_length, machine=describe_machine(),
        notes=(*_notes(found, bool(timings)), *filter(None, [busy])),
    )  # fmt: skip


def _saved(models: Any, folder: Path) -> Any:
    """Save the tasks among named models, so that they have a size and run in another process."""
    if not isinstance(models, Mapping):
        return models
    paths = {}
    for number, (name, model) in enumerate(models.items()):
        paths[name] = model
        if hasattr(model, "save_pretrained"):
            paths[name] = folder / f"{number}"
            model.save_pretrained(paths[name])
    return paths


def _timings(
    found: Sequence[ModelRun], length: int | None, runs: int, threads: int, progress: Progress
) -> list[Timing]:
    models = [run.model for run in found]
    if length is not None:
        for model in models:
            if model.kind == FILE:
                check_runs(model.path, length)
    rows = None if length is not None else [run.rows for run in found if run.rows is not None]
    words = min(run.words for run in found if run.words is not None)
    return time_models(models, rows, length, words, runs, threads, progress)


def _compared(
    found: Sequence[ModelRun], timings: Sequence[Timing], temporary: str, progress: Progress
) -> tuple[ComparedModel, ...]:
    """Return the models with their sizes, scores and times.

    Args:
        found: What was found of each, the reference first.
        timings: The times of each; none where they were not measured.
        temporary: The folder of models that were not files, whose paths are left out.
        progress: Receives the progress.
    """
    compared: list[ComparedModel] = []
    for number, run in enumerate(found):
        model, timing = run.model, timings[number] if timings else None
        files = files_of(model, run.metadata)
        size = sum(each.stat().st_size for each in files)
        progress.begin(f"compressing {model.name}", 0, "MB")
        compared.append(
            ComparedModel(
                name=model.name,
                path=model.name if model.path.startswith(temporary) else model.path,
                kind=model.kind,
                bytes=size,
                download_bytes=compressed_size(files, progress),
                smaller=compared[0].bytes / size if compared else 1.0,
                parameters=run.parameters,
                **_scores(run.answers, found[0].answers),
                latency=timing and timing.latency,
                faster=(timing.faster if number else Estimate(1.0)) if timing else None,
                memory_bytes=timing and timing.memory_bytes,
            )
        )
    return tuple(compared)


def _scores(answers: Answers | None, reference: Answers | None) -> dict[str, Any]:
    """Return the fields of `ComparedModel` about answers; none for a model that is not scored."""
    if answers is None or reference is None:
        return {}
    same = answers is reference
    return {
        "metrics": {name: _finite(value) for name, value in answers.metrics.items()},
        "score": answers.score,
        "kept": Estimate(1.0) if same else answers.kept(reference),
        "agreement": Estimate(1.0) if same else answers.agreement(reference),
    }


def _finite(value: float) -> float | None:
    return float(value) if abs(value) < float("inf") else None


def _notes(found: Sequence[ModelRun], timed: bool) -> tuple[str, ...]:
    reference, kinds = found[0], {run.model.kind for run in found}
    notes = []
    for run in found[1:]:
        if run.answers is not None and reference.answers is not None:
            notes += warnings(run.answers.against(reference.answers), reference.model.name)
    if timed and FOLDER in kinds and len(kinds) > 1:
        notes.append(_KERAS)
    if unscored := [run.model.name for run in found if run.answers is None]:
        notes.append(f"note: {', '.join(unscored)}: an .onnx file has no tokenizer and no labels, so it is not scored")
    return tuple(dict.fromkeys(notes))
