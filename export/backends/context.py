"""What every backend gets, and how its outputs are judged."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreter_model import SIGNATURE
from kerasbert.export.tflite.tflite_file import TFLiteFile
from kerasbert.export.validation.checks import FAILED, Check, Latency, Tolerance
from kerasbert.export.validation.comparison import OutputDifference, compare
from kerasbert.export.validation.examples import Examples, Kept, blocks
from kerasbert.export.validation.npz_file import read_npz
from kerasbert.export.validation.verdict import judge

_OUTPUT = "output "


@dataclass(frozen=True)
class ValidationContext:
    """The file, real packed rows, what was kept of the other side's outputs of each, and when that is good enough.

    reference_rows: rows for backends that are slow. proven: whether another backend runs all rows, so that of these a part is enough.
    """

    model_path: str
    examples: Examples
    expected: Sequence[Kept]
    tolerance: Tolerance
    threads: int
    reference_rows: int
    progress: Callable[[str, int, int], None]
    proven: bool = True

    @functools.cached_property
    def some_rows(self) -> np.ndarray:
        """The rows for backends that are slow, those of some whole examples spread evenly."""
        return self.examples.spread(self.reference_rows)

    @functools.cached_property
    def operators(self) -> int | None:
        """How many the graph of the rows' length has; None where the file's structure cannot be read here."""
        try:
            file = TFLiteFile.read(self.model_path)
        except KerasBertError:
            return None
        graphs = {signature.name: signature.subgraph for signature in file.signatures}
        return len(file.subgraphs[graphs.get(f"{SIGNATURE}_{self.examples.length}", 0)].operators)

    def differences(self, reference: Sequence[Kept], model: Sequence[Kept]) -> tuple[OutputDifference, ...]:
        """Of two sides over the same rows, output by output."""
        compared_as = self.examples.processor.compared_as
        return tuple(
            compare(key, blocks(reference, model, key), compared_as, [len(kept.compared[key]) for kept in model])
            for key in sorted(model[0].compared)
        )

    def write(self, path: Path, rows: np.ndarray) -> None:
        """The packed inputs of some rows for a child process, arrays (token lists, S) by name."""
        np.savez(path, **self._inputs(rows))

    def inputs(self, rows: np.ndarray) -> dict[str, list]:
        """The same as lists, for children that read JSON."""
        return {name: values.tolist() for name, values in self._inputs(rows).items()}

    def _inputs(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        group = self.examples.group
        lists = (rows[:, None] * group + np.arange(group)).ravel()
        return {name: values[lists] for name, values in self.examples.inputs.items()}

    def keep(self, outputs: dict[str, np.ndarray], rows: np.ndarray) -> list[Kept]:
        """What is kept of the outputs of these rows' token lists, a row each."""
        group = self.examples.group
        return [
            self.examples.keep(
                {name: values[number * group : (number + 1) * group] for name, values in outputs.items()},
                row,
                like=self.expected[row],
            )
            for number, row in enumerate(rows)
        ]

    def where(self, rows: np.ndarray) -> str:
        """What a remark says of them."""
        return "" if len(rows) == len(self.examples) else f"on {len(rows)} of {len(self.examples)} rows"

    def judged(
        self,
        name: str,
        rows: np.ndarray,
        kept: Sequence[Kept],
        seconds: Sequence[float],
        *,
        limits: Tolerance | None = None,
        metric: bool = True,
        sample: bool = True,
        remark: str = "",
        faults: Sequence[str] = (),
        **facts,
    ) -> Check:
        """The check of outputs against the other side's.

        limits: by default the job's. metric: whether the task's metric is judged. sample: whether the rows stand for others like them.
        faults: what else is wrong. facts: further fields of the check.
        """
        expected = [self.expected[row] for row in rows]
        differences = self.differences(expected, kept)
        broken = any(difference.broken for difference in differences)
        examples = self.examples.part(rows) if metric and not broken else None
        metrics = examples.metrics(expected, kept) if examples else ()
        verdict = judge(
            limits or self.tolerance, differences, metrics, self.examples.processor.compared_as, rows=len(rows),
            spot_check=self.proven and len(rows) < len(self.examples), sample=sample,
        )  # fmt: skip
        wrong = "; ".join(filter(None, [*faults, verdict.reason]))
        return Check(
            name, FAILED if faults else verdict.status, "; ".join(filter(None, [wrong, "" if faults else remark])), rows=len(rows),
            outputs=differences, metrics=metrics, judgements=verdict.judgements, latency=Latency.of(seconds), **facts,
        )  # fmt: skip


@dataclass(frozen=True)
class ChildOutputs:
    """What a child process left: `output NAME` arrays (token lists, ...) and `seconds` of each, in an `.npz`; other arrays in `more`."""

    outputs: dict[str, np.ndarray]
    seconds: np.ndarray
    more: dict[str, np.ndarray]

    @classmethod
    def read(cls, path: Path) -> "ChildOutputs":
        arrays = read_npz(path)
        seconds = arrays.pop("seconds")
        outputs = {name.removeprefix(_OUTPUT): arrays.pop(name) for name in list(arrays) if name.startswith(_OUTPUT)}
        # The first run compiles and packs weights; it is no measurement.
        return cls(outputs, seconds[1:] if len(seconds) > 1 else seconds, arrays)
