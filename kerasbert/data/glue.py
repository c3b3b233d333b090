"""The files of GLUE (Wang et al. 2018): those that are distributed, and those that its server takes."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kerasbert.arguments import shown
from kerasbert.data.dataset import Dataset
from kerasbert.data.tables import read_table
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class GlueTask:
    """The files of one GLUE task. Columns are given by name or number.

    Attributes:
        processor: Name of the processor in `kerasbert.processors`.
        text: The text column of train and dev files.
        pair: The column of the second text, or None.
        label: The label column.
        submission: The name of the file for the server, without `.tsv`.
        labels: The labels that the server takes; none for scores.
        test_columns: The columns of text and second text in the unlabelled test file, where they differ.
        dev: The stem of the dev file.
    """

    processor: str
    text: str
    pair: str | None
    label: str
    submission: str
    labels: tuple[str, ...] = ("0", "1")
    test_columns: tuple[str, str | None] | None = None
    dev: str = "dev"


_ENTAILMENT = ("entailment", "not_entailment")
_INFERENCE = ("entailment", "neutral", "contradiction")

GLUE = {
    # The labelled files have no header: source, label, the author's mark, sentence. The test file has one.
    "cola": GlueTask("single_label", "3", None, "1", "CoLA", test_columns=("sentence", None)),
    "sst-2": GlueTask("single_label", "sentence", None, "label", "SST-2"),
    "mrpc": GlueTask("single_label", "#1 String", "#2 String", "Quality", "MRPC"),
    "sts-b": GlueTask("regression", "sentence1", "sentence2", "score", "STS-B", ()),
    "qqp": GlueTask("single_label", "question1", "question2", "is_duplicate", "QQP"),
    "mnli": GlueTask("single_label", "sentence1", "sentence2", "gold_label", "MNLI-m", _INFERENCE, dev="dev_matched"),
    "mnli-mm": GlueTask(
        "single_label", "sentence1", "sentence2", "gold_label", "MNLI-mm", _INFERENCE, dev="dev_mismatched"
    ),
    "qnli": GlueTask("single_label", "question", "sentence", "label", "QNLI", _ENTAILMENT),
    "rte": GlueTask("single_label", "sentence1", "sentence2", "label", "RTE", _ENTAILMENT),
    "wnli": GlueTask("single_label", "sentence1", "sentence2", "label", "WNLI"),
}


def read_glue(folder: str | os.PathLike, name: str, split: str = "train", max_rows: int | None = None) -> Dataset:
    r"""Read a split of a GLUE task from its `.tsv` files, gzip-compressed or not.

    Args:
        folder: The folder of the files or its parent: `folder/train.tsv`, `folder/CoLA/train.tsv.gz`. Case is ignored.
        name: The task: `cola`, `sst-2`, `mrpc`, `sts-b`, `qqp`, `mnli`, `mnli-mm`, `qnli`, `rte` or `wnli`.
        split: `train`, `dev` or `test`. Test files have no labels.
        max_rows: The maximum number of rows to read.

    Returns:
        The table.

    Raises:
        KerasBertError: When the task or the split is unknown, or the file is missing or of another form.

    Example:
        ```python
        import pathlib
        pathlib.Path("SST-2").mkdir(exist_ok=True)
        pathlib.Path("SST-2/dev.tsv").write_text("sentence\tlabel\na gripping film\t1\ntoo long\t0\n")
        data = kb.data.read_glue(".", "sst-2", split="dev")
        ```
    """
    task = _task(name)
    if split not in SPLITS:
        raise KerasBertError(f"expected a part among {', '.join(SPLITS)}, received {split!r}")
    stem = {"dev": task.dev, "test": task.dev.replace("dev", "test")}.get(split, split)
    path = _find_file(Path(folder), name, stem)
    if split != "test":
        return read_table(path, text=task.text, pair=task.pair, label=task.label, max_rows=max_rows)
    text, pair = task.test_columns or (task.text, task.pair)
    return read_table(path, text=text, pair=pair, max_rows=max_rows)


def write_glue(folder: str | os.PathLike, name: str, predictions: Iterable[object], overwrite: bool = False) -> Path:
    r"""Write the predictions for the test file of a GLUE task, in the form that GLUE's server takes: `index` and `prediction`.

    Args:
        folder: Where the file goes.
        name: The task; see `read_glue`.
        predictions: What a model says for each row, in order: labels, scores, or the dicts of `task.predictions`.
        overwrite: Whether the file may replace one that is there.

    Returns:
        The file, such as `folder/SST-2.tsv`. The server takes a zip of the files of all tasks.

    Raises:
        KerasBertError: When the task is unknown, a prediction is not one that the server takes, or the file is there already.

    Example:
        ```python
        classifier = kb.TextClassifier.from_pretrained("small-en", labels=["0", "1"], sequence_length=32)
        kb.data.write_glue(".", "sst-2", classifier.predictions(["a gripping film", "two hours too long"]))
        ```
    """
    task = _task(name)
    path = Path(folder) / f"{task.submission}.tsv"
    if isinstance(predictions, str | bytes | Mapping) or not isinstance(predictions, Iterable):
        raise KerasBertError(
            f"expected a list of predictions, received {shown(predictions)}; pass those of all rows of the test file"
        )
    lines = [f"{row}\t{_submitted(task, row, each)}" for row, each in enumerate(predictions)]
    if not lines:
        raise KerasBertError("expected a prediction for each row of the test file, received none")
    if path.exists() and not overwrite:
        raise KerasBertError(f"expected a new file, received {path}, which is there already; pass overwrite=True")
    with atomic_file(path) as partial:
        partial.write_text("\n".join(["index\tprediction", *lines]) + "\n", "utf-8")
    return path


def _submitted(task: GlueTask, row: int, prediction: object) -> str:
    if isinstance(prediction, Mapping):
        prediction = prediction.get("label" if task.labels else "score")
    if task.labels:
        if str(prediction) not in task.labels:
            raise KerasBertError(
                f"expected a label of {task.submission} ({', '.join(task.labels)}) for row {row}, received {shown(prediction)}; "
                "train on the labels of its files"
            )
        return str(prediction)
    if not isinstance(prediction, (int, float, np.number)) or not np.isfinite(prediction):
        raise KerasBertError(
            f"expected a finite score of {task.submission} for row {row}, received {shown(prediction)}; predict with a regression"
        )
    return f"{prediction:.3f}"


def _task(name: str) -> GlueTask:
    if not isinstance(name, str) or name.lower() not in GLUE:
        raise KerasBertError(f"expected a GLUE task among {', '.join(GLUE)}, received {name!r}")
    return GLUE[name.lower()]


def _find_file(folder: Path, name: str, stem: str) -> Path:
    plain_name = name.lower().replace("-", "").removesuffix("mm")
    if not folder.is_dir():
        received = "a file" if folder.exists() else "not there"
        raise KerasBertError(f"expected a folder of GLUE files, received {folder}, which is {received}")
    subfolders = (entry for entry in sorted(folder.iterdir()) if entry.is_dir())
    task_folders = [entry for entry in subfolders if entry.name.lower().replace("-", "") == plain_name]
    for candidate in (*task_folders, folder):
        for suffix in (".tsv", ".tsv.gz"):
            if (candidate / f"{stem}{suffix}").is_file():
                return candidate / f"{stem}{suffix}"
    raise KerasBertError(
        f"expected {stem}.tsv or {stem}.tsv.gz of {name} in {folder} or a folder of that name in it, received none"
    )
