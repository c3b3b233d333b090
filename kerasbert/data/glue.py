"""GLUE's own files (Wang et al. 2018), each with its quirks."""

import os
from dataclasses import dataclass
from pathlib import Path

from kerasbert.data.tables import TextTable, read_table
from kerasbert.errors import KerasBertError

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class GlueTask:
    """processor: what is predicted, a name of `kerasbert.processors`. text, pair, label: columns of train and dev files, by name or number.

    columns_of_test: the text columns of the unlabelled test files where they are called otherwise. dev: the name of its dev files where
    that is not `dev`.
    """

    processor: str
    text: str
    pair: str | None
    label: str
    columns_of_test: tuple[str, str | None] | None = None
    dev: str = "dev"


GLUE = {
    # Without a header: source, label, the author's mark, sentence. The test file has one.
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


def read_glue(folder: str | os.PathLike, name: str, split: str = "train", max_rows: int | None = None) -> TextTable:
    """A part of a GLUE task, from its `.tsv` files as they are distributed, gzip-compressed or not.

    Args:
      folder: where the files are, or the folder above it: `folder/train.tsv`, `folder/CoLA/train.tsv.gz` (case does not matter).
      name: cola, sst-2, mrpc, sts-b, qqp, mnli, mnli-mm, qnli, rte or wnli.
      split: train, dev or test; test files have no labels.
      max_rows: read no more rows than this.

    Raises:
      KerasBertError: an unknown task or part, no such file, or a file of another form.
    """
    if name.lower() not in GLUE:
        raise KerasBertError(f"expected a GLUE task among {', '.join(GLUE)}, received {name!r}")
    if split not in SPLITS:
        raise KerasBertError(f"expected a part among {', '.join(SPLITS)}, received {split!r}")
    task = GLUE[name.lower()]
    stem = {"dev": task.dev, "test": task.dev.replace("dev", "test")}.get(split, split)
    path = _find(Path(folder), name, stem)
    if split != "test":
        return read_table(path, text=task.text, pair=task.pair, label=task.label, max_rows=max_rows)
    text, pair = task.columns_of_test or (task.text, task.pair)
    return read_table(path, text=text, pair=pair, max_rows=max_rows)


def _find(folder: Path, name: str, stem: str) -> Path:
    plain = name.lower().replace("-", "").removesuffix("mm")
    if not folder.is_dir():
        received = "a file" if folder.exists() else "not there"
        raise KerasBertError(f"expected a folder of GLUE files, received {folder}, which is {received}")
    folders = (entry for entry in sorted(folder.iterdir()) if entry.is_dir())
    inside = [entry for entry in folders if entry.name.lower().replace("-", "") == plain]
    for place in (*inside, folder):
        for ending in (".tsv", ".tsv.gz"):
            if (place / f"{stem}{ending}").is_file():
                return place / f"{stem}{ending}"
    raise KerasBertError(
        f"expected {stem}.tsv or {stem}.tsv.gz of {name} in {folder} or a folder of that name in it, received none"
    )
