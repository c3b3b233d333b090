"""What a comparison measures of each model: records, which are read back from JSON."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from kerasbert.export.validation.confidence import Bounds
from kerasbert.files.known_keys import KnownKeys
from kerasbert.files.record import Record, setting

FILE, FOLDER, ONNX_FILE = "file", "folder", "onnx"


@dataclass(frozen=True)
class Estimate(Record):
    """A measured value with its bounds, each with 95 % confidence.

    Attributes:
        value: The measured value.
        low: The lower bound; None where the spread is not known.
        high: The upper bound.
    """

    file: ClassVar[str] = "the comparison"

    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, value: float | None, bounds: Bounds | None = None) -> Self | None:
        """Return the estimate of a value; None for a value that is not finite."""
        if value is None or not math.isfinite(value):
            return None
        low, high = bounds if bounds is not None and all(map(math.isfinite, bounds)) else (None, None)
        return cls(float(value), None if low is None else float(low), None if high is None else float(high))


@dataclass(frozen=True)
class Quartiles(Record):
    """Seconds of a row.

    Attributes:
        p25: The first quartile.
        p50: The median.
        p75: The third quartile.
        runs: Measurements behind them.
    """

    p25: float = setting(at_least=0)
    p50: float = setting(at_least=0)
    p75: float = setting(at_least=0)
    runs: int = setting(at_least=1)

    @classmethod
    def of(cls, seconds: Sequence[float] | np.ndarray) -> Self:
        """Summarize measurements."""
        p25, p50, p75 = map(float, np.quantile(seconds, (0.25, 0.5, 0.75)))
        return cls(p25, p50, p75, len(seconds))


@dataclass(frozen=True)
class ComparedModel(Record):
    """One model of a comparison.

    Attributes:
        name: Its name in the table.
        path: The file, the folder, or the name that was given.
        kind: `file`, `folder` or `onnx`.
        bytes: The size of all its files, tokenizer included.
        download_bytes: The size of these files compressed with gzip.
        smaller: The size of the reference over its own.
        parameters: Trained parameters; None where they are not known.
        metrics: The task's metrics by name; empty for a model that is not scored.
        score: The first of them.
        kept: The share of the reference's score. Its bounds follow from the examples that both models scored.
        agreement: The share of equal decisions with the reference, or the correlation where predictions are numbers.
        latency: Seconds of a row; None where they were not measured.
        faster: The reference's median latency over its own.
        memory_bytes: The peak memory of a process with this model alone, less its memory before the model was loaded.

    Example:
        ```python
        for model in kb.export.compare(["runs/mine", "mine.tflite"], "dev.tsv", latency=False).models:
            print(model.name, model.smaller, model.score.value, model.kept.value)
        ```
    """

    name: str
    path: str
    kind: str = setting(choices=(FILE, FOLDER, ONNX_FILE))
    bytes: int = setting(at_least=1)
    download_bytes: int = setting(at_least=1)
    smaller: float = setting(above=0)
    parameters: int | None = setting(None, at_least=0)
    metrics: dict[str, float | None] = setting(dict, hash=False)
    score: Estimate | None = None
    kept: Estimate | None = None
    agreement: Estimate | None = None
    latency: Quartiles | None = None
    faster: Estimate | None = None
    memory_bytes: int | None = setting(None, at_least=0)


@dataclass(frozen=True)
class ComparisonRecord(Record):
    """The fields of a comparison, as JSON has them; see `kerasbert.export.ModelComparison`."""

    others: ClassVar[KnownKeys | None] = KnownKeys(
        harmless=frozenset({"generator", "report", "plot", "csv"}), only={"format": (1,)}
    )
    advice: ClassVar[str] = "compare the models again"

    data: str
    rows: int = setting(at_least=1)
    task: str = setting()
    metric: str = setting()
    against: str = setting()
    models: tuple[ComparedModel, ...] = setting()
    threads: int = setting(1, at_least=1)
    sequence_length: int | None = setting(None, at_least=1)
    machine: dict[str, str] = setting(dict, hash=False)
    notes: tuple[str, ...] = ()

    def check(self) -> None:
        names = [each.name for each in self.models]
        self.expect(len(names) >= 2 and len(set(names)) == len(names), "models", "as two or more of different names")
        self.expect(self.against == names[0], "against", "as the name of the first model")

    @property
    def reference(self) -> ComparedModel:
        """The model that the others are compared with."""
        return self.models[0]
