"""Runs each model of a comparison on the same labelled examples, with its own tokenizer and settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kerasbert.console.progress import Progress
from kerasbert.data.sampling import sample_evenly
from kerasbert.export.comparison.models import NamedModel, check_same_task
from kerasbert.export.comparison.results import FILE, ONNX_FILE
from kerasbert.export.comparison.scoring import Answers, check_labels_by_name
from kerasbert.export.comparison.timing import TEXTS
from kerasbert.export.measurement.inspection import inspect_file
from kerasbert.export.measurement.timed_rows import Rows, token_rows
from kerasbert.export.runtime import opening
from kerasbert.export.runtime.pipeline import Pipeline
from kerasbert.export.tflite.graph_reader import has_schema
from kerasbert.export.tflite.metadata import Metadata
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.validation.data import read_data
from kerasbert.export.validation.examples import choose_rows
from kerasbert.processors import Processor


@dataclass(frozen=True)
class Examples:
    """The examples that all models are scored on.

    Attributes:
        x: As the processors take them.
        y: Their labels, or None.
        task: The task type.
    """

    x: Sequence
    y: Any
    task: str

    @classmethod
    def read(cls, data: Any, processor: Processor, count: int | None) -> "Examples":
        """Read data as the reference takes them.

        Args:
            data: See `kerasbert.export.compare`.
            processor: The reference's.
            count: Examples to use; None for all.

        Raises:
            KerasBertError: When there are none, or the processor rejects one.
        """
        given = read_data(data, processor)
        x = processor.examples(given.x)
        numbers, y = choose_rows(len(x), given.y, count)
        return cls([x[number] for number in numbers], y, processor.name)


@dataclass(frozen=True)
class ModelRun:
    """What one model was found to be and to answer.

    Attributes:
        model: The model.
        answers: Its answers; None for an `.onnx` file, which is not scored.
        parameters: Trained parameters; None where they are not known.
        metadata: Of a file.
        rows: The token rows that are timed.
        words: Ids of its vocabulary.
    """

    model: NamedModel
    answers: Answers | None = None
    parameters: int | None = None
    metadata: Metadata | None = None
    rows: Rows | None = None
    words: int | None = None


def run_models(
    models: Sequence[NamedModel],
    data: Any,
    count: int | None,
    *,
    timed: bool,
    threads: int,
    isolated: bool,
    progress: Progress,
) -> tuple[Examples, list[ModelRun]]:
    """Score every model, the reference first.

    Args:
        models: The models.
        data: Labelled examples, see `kerasbert.export.compare`.
        count: Examples to use; None for all.
        timed: Whether rows of the examples are needed for timing.
        threads: CPU threads of the runtime.
        isolated: Whether files run in processes of their own.
        progress: Receives the progress.

    Returns:
        The examples, and a run for each model.

    Raises:
        KerasBertError: When a model is damaged, tasks or labels differ, or the data have no labels.
    """
    files = {each.name: ModelFile.read(each.path) for each in models if each.kind == FILE}
    known = [(name, file.require_metadata("to score it").processor) for name, file in files.items()]
    for other in known[1:]:
        check_same_task(known[0], other)
    if timed:
        for file in files.values():
            file.check_takes_ids("to measure its latency")
    reference = _opened(models[0], threads, isolated, progress)
    examples = Examples.read(data, reference.processor, count)
    runs = [_run(models[0], reference, files.get(models[0].name), examples, timed, progress)]
    for model in models[1:]:
        if model.kind == ONNX_FILE:
            runs.append(ModelRun(model, rows=runs[0].rows))
            continue
        pipeline = _opened(model, threads, isolated, progress)
        first, other = (models[0].name, reference.processor), (model.name, pipeline.processor)
        check_same_task(first, other)
        check_labels_by_name(examples.y, first, other)
        runs.append(_run(model, pipeline, files.get(model.name), examples, timed, progress))
    return examples, runs


def _opened(model: NamedModel, threads: int, isolated: bool, progress: Progress) -> Pipeline:
    progress.begin(f"loading {model.name}")
    progress.advance(0)
    if model.kind == FILE:
        return opening.open_pipeline(model.path, threads, isolated=isolated)
    return opening.open(model.path)


def _run(
    model: NamedModel, pipeline: Pipeline, file: ModelFile | None, examples: Examples, timed: bool, progress: Progress
) -> ModelRun:
    progress.begin(f"running {model.name}", len(examples.x), "rows")
    answers = Answers.of(pipeline, examples.x, examples.y, progress.advance)
    tokenizer, length = pipeline.tokenizer, None
    if (task := pipeline.task) is not None:
        parameters = sum(int(variable.shape.num_elements()) for variable in task.variables_by_path().values())
        tokenizer, length = task.tokenizer, task.sequence_length
    elif file is not None and has_schema():
        parameters = inspect_file(file).parameters
    else:
        parameters = pipeline.metadata.parameters
    rows = None
    if timed:
        length = length or pipeline.length
        few = sample_evenly(examples.x, TEXTS)
        rows = token_rows(pipeline.processor.scoring_features(few, tokenizer, length), length)
    return ModelRun(model, answers, parameters, pipeline.metadata, rows, tokenizer.vocabulary_size)
