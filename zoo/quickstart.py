"""The quickstart: fine-tune, quantize, convert, validate and report, offline on the bundled data and model."""

import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kerasbert.data import assistant
from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError
from kerasbert.export.validation.checks import ValidationReport
from kerasbert.files.atomic import atomic_file
from kerasbert.files.model_folder import is_replaceable
from kerasbert.files.own_files import REPORT, SUMMARY, check_own, marked_json
from kerasbert.zoo import small_model
from kerasbert.zoo.progress import Step, Steps
from kerasbert.zoo.quickstart_report import ModelRow, Summary, write_report

if TYPE_CHECKING:  # tasks need TensorFlow
    from kerasbert.export.measurement.benchmarking import Benchmark
    from kerasbert.tasks import TextClassifier

SEQUENCE_LENGTH = 32
BATCH_SIZE = 32
EPOCHS, QAT_EPOCHS = 10, 4
LEARNING_RATE, QAT_LEARNING_RATE = 5e-4, 1e-4
RECIPES = ("float32", "dynamic_wi8_afp32", "static_wi8_ai8")
EXAMPLES = (
    "could you get me up at half past five",
    "it is freezing, what will tomorrow be like",
    "ring my sister",
    "a bit quieter please",
)


@dataclass(frozen=True)
class _Data:
    """The splits of the bundled data."""

    train: Dataset
    dev: Dataset
    test: Dataset


def run(
    out: str | os.PathLike = "quickstart",
    epochs: int | None = None,
    seed: int = 0,
    rows: int | None = None,
    steps: Steps | None = None,
) -> Summary:
    """Train a classifier for 10 intents of assistant requests, and validate its float and int8 files.

    Writes `float/` and `int8/` (Keras models), one `.tflite` file with metadata for each recipe, `report.html` and `summary.json`.

    Args:
        out: the output folder. Results of an earlier run are replaced, all other files stay.
        epochs: number of epochs of fine-tuning and of quantization-aware training; by default values with good results.
        seed: of the new head, the order of the texts and dropout.
        rows: number of rows to use of each split, for a quick look; all by default.
        steps: shows the progress; on stderr by default.

    Raises:
        KerasBertError: when `out` is a file, a count is below 1, or a file that kerasbert did not write has one of the output's names.
    """
    out = _check_arguments(Path(out), epochs, rows)
    import tf_keras as keras

    start, steps = time.monotonic(), steps or Steps(7)
    keras.utils.set_random_seed(seed)

    data, float_model = _load(rows, steps)
    history = {"float": _fine_tune(float_model, data, epochs or EPOCHS, seed, out / "float", steps)}
    int8_model, history["int8"] = _quantize(float_model, data, epochs or QAT_EPOCHS, seed, out / "int8", steps)
    keras_rows = _evaluate({"float": float_model, "int8": int8_model}, data, out, steps)
    sources = {recipe: int8_model if recipe == "static_wi8_ai8" else float_model for recipe in RECIPES}
    files = _convert(sources, out, steps)
    reports, benchmarks = _validate(sources, files, data.test, steps)

    with steps.step("predict from the int8 file and write the report") as step:
        file_rows = [_file_row(files[recipe], reports[recipe], benchmarks[recipe]) for recipe in RECIPES]
        summary = Summary(
            models=(*keras_rows, *file_rows),
            predictions=predict(files["static_wi8_ai8"], EXAMPLES),
            history=history,
            verdicts={recipe: report.verdict for recipe, report in reports.items()},
            report=str(out / "report.html"),
            seconds=time.monotonic() - start,
        )
        write_report(summary, reports, benchmarks, files["static_wi8_ai8"])
        with atomic_file(out / "summary.json") as partial:
            partial.write_text(marked_json(SUMMARY, {**asdict(summary), "ok": summary.ok}), encoding="utf-8")
        step.result = summary.report
    return summary


def predict(path: Path, texts: tuple[str, ...]) -> tuple[tuple[str, str, float], ...]:
    """Predict from a `.tflite` file that holds its vocabulary and labels.

    Returns:
        (text, most likely label, probability) for each text.
    """
    from kerasbert.export.runtime.opening import open_pipeline

    answers = open_pipeline(path).predictions(list(texts))
    return tuple((text, answer["label"], answer["score"]) for text, answer in zip(texts, answers, strict=True))


def accuracy(task: "TextClassifier", data: Dataset) -> float:
    """Return the fraction of texts whose most likely class is the right one."""
    return float(np.mean(task.predict(data).argmax(axis=1) == task.encode_labels(data.y)))


def _check_arguments(out: Path, epochs: int | None, rows: int | None) -> Path:
    if out.exists() and not out.is_dir():
        raise KerasBertError(f"expected a folder to write into, received the file {out}; name a folder with --out")
    _check_content(out)
    for name, value in (("epochs", epochs), ("rows", rows)):
        if value is not None and value < 1:
            raise KerasBertError(
                f"expected {name} of at least 1, received {value}; pass a larger number or leave it out"
            )
    return out


def _check_content(out: Path) -> None:
    """Check that kerasbert wrote all existing files with the output's names."""
    from kerasbert.export.tflite.model_parts import written_files

    for folder in (out / "float", out / "int8"):
        if os.path.lexists(folder) and not is_replaceable(folder):
            raise KerasBertError(
                f"expected a new {str(folder)!r}, or one of kerasbert's, received another; name another --out"
            )
    files = [file for recipe in RECIPES for file in written_files(_model_file(out, recipe), host=False)]
    for path, kind in (*files, (out / "report.html", REPORT), (out / "summary.json", SUMMARY)):
        check_own(path, kind, f"{path.name} of the quickstart")


def _model_file(out: Path, recipe: str) -> Path:
    return out / f"assistant-{recipe}.tflite"


def _load(rows: int | None, steps: Steps) -> tuple[_Data, "TextClassifier"]:
    import kerasbert as kb

    with steps.step("load the bundled data and model") as step:
        data = _Data(*(_examples(split, rows) for split in assistant.SPLITS))
        model = kb.TextClassifier.from_pretrained(
            small_model(), labels=assistant.INTENTS, sequence_length=SEQUENCE_LENGTH
        )
        parameters = sum(variable.numpy().size for variable in model.variables_by_path().values())
        step.result = (
            f"{len(data.train)} train, {len(data.dev)} dev, {len(data.test)} test rows; "
            f"{parameters / 1e6:.1f} M parameters"
        )
    return data, model


def _examples(name: str, rows: int | None) -> Dataset:
    split = assistant.load(name)
    return Dataset(assistant.path(name), list(split.texts[:rows]), list(split.intents[:rows]))


def _fine_tune(
    model: "TextClassifier", data: _Data, epochs: int, seed: int, folder: Path, steps: Steps
) -> dict[str, list[float]]:
    with steps.step("fine-tune") as step:
        history = _fit(model, data, epochs, LEARNING_RATE, seed, step)
        model.save_pretrained(folder)
        step.result = f"dev accuracy {history['val_accuracy'][-1]:.1%}"
    return history


def _quantize(
    model: "TextClassifier", data: _Data, epochs: int, seed: int, folder: Path, steps: Steps
) -> tuple["TextClassifier", dict[str, list[float]]]:
    import kerasbert as kb

    with steps.step("quantize: calibrate, then train on with 8-bit weights and activations") as step:
        int8 = kb.compression.quantize(model, "static_wi8_ai8", calibration=data.train.x[:256])
        history = _fit(int8, data, epochs, QAT_LEARNING_RATE, seed, step)
        int8.save_pretrained(folder)
        step.result = f"dev accuracy {history['val_accuracy'][-1]:.1%}"
    return int8, history


def _fit(
    task: "TextClassifier", data: _Data, epochs: int, learning_rate: float, seed: int, step: Step
) -> dict[str, list[float]]:
    import kerasbert as kb
    from kerasbert.training.config import TrainConfig
    from kerasbert.training.trainer import train

    updates = epochs * -(-len(data.train) // BATCH_SIZE)
    task.compile(kb.adamw(learning_rate, warmup=0.1, steps=updates))
    config = TrainConfig(epochs=epochs, batch_size=BATCH_SIZE, learning_rate=learning_rate, seed=seed)
    result = train(task, data.train, None, config, progress=step, validation=data.dev)
    return {name: [record[name] for record in result.epochs] for name in result.epochs[0] if name != "epoch"}


def _evaluate(models: Mapping[str, "TextClassifier"], data: _Data, out: Path, steps: Steps) -> list[ModelRow]:
    with steps.step("evaluate in Keras") as step:
        rows = [_keras_row(task, out / name, data) for name, task in models.items()]
        step.result = "test accuracy " + ", ".join(f"{row.model} {row.test_accuracy:.1%}" for row in rows)
    return rows


def _keras_row(task: "TextClassifier", folder: Path, data: _Data) -> ModelRow:
    size = (folder / "model.safetensors").stat().st_size
    return ModelRow(f"Keras {folder.name}", size, accuracy(task, data.dev), accuracy(task, data.test))


def _convert(sources: Mapping[str, "TextClassifier"], out: Path, steps: Steps) -> dict[str, Path]:
    import kerasbert as kb

    files = {}
    with steps.step("convert to .tflite") as step:
        for number, (recipe, task) in enumerate(sources.items()):
            step.advance(number, len(sources))
            files[recipe] = kb.export.convert(task, recipe, target="cpu").save(_model_file(out, recipe))
        step.result = ", ".join(f"{path.stat().st_size / 1e6:.2f} MB" for path in files.values())
    return files


def _validate(
    sources: Mapping[str, "TextClassifier"], files: Mapping[str, Path], test: Dataset, steps: Steps
) -> tuple[dict[str, ValidationReport], dict[str, "Benchmark"]]:
    from kerasbert.export.measurement.benchmarking import benchmark

    with steps.step("validate the files on this CPU against the Keras models") as step:
        reports = {recipe: _validate_file(recipe, files[recipe], sources[recipe], test, step) for recipe in RECIPES}
        benchmarks = {recipe: benchmark(files[recipe], runs=100) for recipe in RECIPES}
        step.result = ", ".join(f"{recipe} {report.verdict}" for recipe, report in reports.items())
    return reports, benchmarks


def _validate_file(recipe: str, path: Path, task: "TextClassifier", test: Dataset, step: Step) -> ValidationReport:
    from kerasbert.export.validation.tolerances import TOLERANCES
    from kerasbert.export.validator import validate

    # Many test texts differ from the training texts, so their classes are near ties. The default of 2 % for dynamic ranges is eight
    # texts here, too close to the effect of rounding. The reference kernels run all rows for the same reason.
    tolerance = TOLERANCES["static_wi8_ai8" if recipe == "dynamic_wi8_afp32" else recipe]
    return validate(
        path,
        against=task,
        data=test,
        reference_rows=len(test),
        tolerance=tolerance,
        progress=step,
    )


def _file_row(path: Path, report: ValidationReport, benchmark: "Benchmark") -> ModelRow:
    check = next((check for check in report.checks if check.metrics), None)
    if check is None:
        raise KerasBertError(
            f"expected finite outputs of {path}, received:\n{report.table()}; run `kerasbert validate` on the file"
        )
    return ModelRow(
        model=path.name,
        size=path.stat().st_size,
        dev_accuracy=None,
        test_accuracy=check.metrics[0].model,
        agreement=check.outputs[0].agreement,
        latency=benchmark.measurements[0].latency.p50,
    )
