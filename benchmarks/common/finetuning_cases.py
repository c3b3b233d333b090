"""Data sets of `benchmarks.training.finetuning`: their files below one folder and the training settings of both sides."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A data set and its training settings.

    Attributes:
        task: As in `kerasbert train --task`.
        train: The training file, below the data folder.
        dev: The evaluation file, below the data folder.
        epochs: The number of training epochs.
        columns: Of text, second text and label; None finds them by name.
        length: Tokens of a row.
        learning_rate: The peak learning rate.
        batch_size: Rows of a batch.
        metric: The main metric of the task.
        extra_evaluations: Name and file of more evaluation data.
    """

    task: str
    train: str
    dev: str
    epochs: int
    columns: tuple[str | None, str | None, str | None] = (None, None, None)
    length: int = 128
    learning_rate: float = 5e-5
    batch_size: int = 32
    metric: str = "accuracy"
    extra_evaluations: tuple[tuple[str, str], ...] = ()


CASES = {
    "mrpc": Case("classification", "mrpc/train.tsv.gz", "mrpc/dev.tsv.gz", 4),
    "sts-b": Case("regression", "sts-b/train.tsv.gz", "sts-b/dev.tsv.gz", 4, metric="Spearman"),
    "rte": Case("classification", "rte/train.tsv.gz", "rte/dev.tsv.gz", 4),
    "wnli": Case("classification", "wnli/train.tsv.gz", "wnli/dev.tsv.gz", 4),
    "cola": Case("classification", "cola/train.tsv.gz", "cola/dev.tsv.gz", 4, ("3", None, "1"), metric="MCC"),
    "sst-2": Case("classification", "sst-2/train.tsv.gz", "sst-2/dev.tsv.gz", 2),
    "wnut17": Case("tagging", "wnut17/train.conll.gz", "wnut17/test.conll.gz", 4, metric="entity F1"),
    "conll2003": Case("tagging", "conll2003/eng.train.gz", "conll2003/eng.testb.gz", 3, metric="entity F1"),
    "subjqa": Case(
        "question-answering",
        "subjqa/train.json.gz",
        "subjqa/test.json.gz",
        2,
        length=384,
        metric="F1",
        extra_evaluations=(("xquad-en", "xquad/xquad.en.json.gz"),),
    ),  # fmt: skip
    "squad2": Case(
        "question-answering",
        "squad2/train.json.gz",  # of benchmarks.zoo.squad_articles
        "xquad/xquad.en.json.gz",
        5,
        length=128,
        learning_rate=1e-4,
        metric="F1",
        extra_evaluations=(("held-out-articles", "squad2/dev.json.gz"),),
    ),  # fmt: skip
}

WARMUP, WEIGHT_DECAY, CLIP_NORM = 0.06, 0.01, 1.0
