"""The files of GLUE (Wang et al. 2018) as they are distributed."""

import os
from dataclasses import dataclass
from pathlib import Path

from kerasbert.data.dataset import Dataset
from kerasbert.data.tables import read_table
from kerasbert.errors import KerasBertError

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class GlueTask:
    """The files of one GLUE task. Columns are given by name or number.

    Attributes:
        processor: Name of the processor in `kerasbert.processors`.
        text: The text column of train and dev files.
        pair: The column of the second text, or None.
        label: The label column.
        test_columns: The columns of text and second text in the unlabelled test file, where they differ.
        dev: The stem of the dev file.
    """

    processor: str
    text: str
    pair: str | None
    label: str
    test_columns: tuple[str, str | None] | None = None
    dev: str = "dev"


GLUE = {
    # The labelled files have no header: source, label, the author's mark, sentence. The test file has one.
    "cola": GlueTask("single_label", "3", None, "1", ("sentence", None)),
    "sst-2": GlueTask("single_label", "sentence", None, "label"),
    "mrpc": GlueTask("single_label", "#1 String", "#2 String", "Quality"),
    "sts-b": GlueTask("regression", "sentence1", "sentence2", "score"),
    "qqp": GlueTask("single_label", "question1", "question2", "is_duplicate"),
    "mnli": GlueTask("single_label", "sentence1", "sentence2", "gold_label", dev="dev_matched"),
    "mnli-mm": GlueTask("single_label", "sentence1", "sentence2", "gold_label", dev="dev_mismatched"),
    "qnli": GlueTask("single_label", "question", "sentence", "label"),
    "rte": GlueTask("single_label", "sentence1", "sentence2", "label"),
    "wnli": GlueTask("single_label", "sentence1", "sentence2", "label"),
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
    if name.lower() not in GLUE:
        raise KerasBertError(f"expected a GLUE task among {', '.join(GLUE)}, received {name!r}")
    if split not in SPLITS:
        raise KerasBertError(f"expected a part among {', '.join(SPLITS)}, received {split!r}")
    task = GLUE[name.lower()]
    stem = {"dev": task.dev, "test": task.dev.replace("dev", "test")}.get(split, split)
    path = _find_file(Path(folder), name, stem)
    if split != "test":
        return read_table(path, text=task.text, pair=task.pair, label=task.label, max_rows=max_rows)
    text, pair = task.test_columns or (task.text, task.pair)
    return read_table(path, text=text, pair=pair, max_rows=max_rows)


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
