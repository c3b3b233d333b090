"""The input of every backend, and the comparison of its outputs with the reference."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from kerasbert.console.progress import Progress
from kerasbert.export.runtime.interpreter_session import SIGNATURE
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.export.runtime.process import ProcessResult
from kerasbert.export.runtime.session import Session, each_token_list
from kerasbert.export.tflite.arithmetic import FP32, arithmetic
from kerasbert.export.tflite.graph_reader import has_schema
from kerasbert.export.tflite.metadata import TEXT
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.validation.checks import FAILED, NOT_RUN, Check, Latency, Tolerance
from kerasbert.export.validation.comparison import OutputDifference, compare
from kerasbert.export.validation.data import Data
from kerasbert.export.validation.examples import Examples, RowOutputs, blocks
from kerasbert.export.validation.npz_file import read_npz
from kerasbert.export.validation.reference import Reference
from kerasbert.export.validation.verdict import judge
from kerasbert.files.cleanup import temporary_folder

_OUTPUT = "output "
Seconds = TypeVar("Seconds", list[float], np.ndarray)


@dataclass(frozen=True)
class BackendResult:
    """The checks of a backend.

    Attributes:
        checks: Its checks, in the order of the report.
        outputs: The outputs of every row; empty where not all rows ran.
    """

    checks: Sequence[Check]
    outputs: Sequence[RowOutputs] = ()

    @classmethod
    def not_run(cls, names: Sequence[str], reason: str) -> "BackendResult":
        """Make the result of a backend that cannot run: one check a name, all for the same reason."""
        return cls([Check(name, NOT_RUN, reason) for name in names])


@dataclass(frozen=True)
class ValidationContext:
    """A file, the rows to run it on, and what its outputs are compared with.

    Attributes:
        file: The file, read and verified. Backends in this process take its content and structure from here; a worker process gets its
            path.
        model: The file on XNNPACK with `threads` threads, at the length of the rows. Its interpreter is shared by all checks.
        reference: The model that it is compared with.
        data: The data that the rows are of.
        examples: The rows.
        expected: The reference's outputs, one entry a row.
        recipe: The recipe that the file's operators have.
        tolerance: The limits of that recipe, or the user's.
        threads: CPU threads.
        sample_size: Rows for backends that are slow.
        rows: Examples of the data to use; None for all.
        progress: Receives the progress, one stage a check.
        proven: Whether another backend runs all rows, so that a sample is enough for this one.
    """

    file: ModelFile
    model: Session
    reference: Reference
    data: Data
    examples: Examples
    expected: Sequence[RowOutputs]
    recipe: str
    tolerance: Tolerance
    threads: int = 1
    sample_size: int = 64
    rows: int | None = None
    progress: Progress = field(default_factory=Progress)
    proven: bool = True

    @property
    def model_path(self) -> str:
        """The file's path, for worker processes and for other files beside it."""
        return str(self.file.path)

    @property
    def takes_text(self) -> bool:
        """Whether the file has its tokenizer in its graph."""
        return self.file.metadata is not None and self.file.metadata.inputs == TEXT

    @functools.cached_property
    def sample_rows(self) -> np.ndarray:
        """The rows for slow backends, (rows,): all rows of some examples, spread evenly."""
        return self.examples.spread(self.sample_size)

    @functools.cached_property
    def operator_count(self) -> int | None:
        """Operators in the graph of the rows' length; None where no FlatBuffer schema is installed."""
        if not has_schema():
            return None
        subgraphs = {signature.name: signature.subgraph for signature in self.file.signatures}
        return len(self.file.subgraphs[subgraphs.get(f"{SIGNATURE}_{self.examples.length}", 0)].operators)

    def arithmetic(self, floats: str = FP32) -> str:
        """Name the arithmetic of this file where it computes its floats as `floats`."""
        return arithmetic(self.file, floats) if has_schema() else floats

    def open_model(self, kernels: str = "xnnpack", threads: int | None = None) -> Session:
        """Return `model` where it has these kernels and threads; else opens the file on an interpreter of its own.

        Raises:
            KerasBertError: As `kerasbert.export.open_model`.
        """
        threads = threads or self.threads
        if (kernels, threads) == (self.model.kernels, self.model.threads):
            return self.model
        return open_model(self.file, threads, kernels, self.examples.length)

    def run(self, label: str, session: Session, rows: np.ndarray) -> tuple[list[RowOutputs], list[float]]:
        """Run rows, cut to the model's length.

        Args:
            label: What progress is reported as.
            session: The file on an interpreter.
            rows: The numbers of the rows.

        Returns:
            The outputs of each row, and the seconds of each token list.

        Raises:
            KerasBertError: When the file does not run.
        """
        inputs, outputs, seconds = self.examples.inputs_of(rows, session.length), [], []
        self.progress.begin(f"running {label}", len(rows), "rows")
        session.run(next(each_token_list(inputs, session.inputs)))  # packs weights, and is no measurement
        runs = session.run_rows(each_token_list(inputs, session.inputs), self.examples.features.group)
        for done, (row, (arrays, elapsed)) in enumerate(zip(rows, runs, strict=True), start=1):
            outputs.append(self.examples.extract(arrays, row, reference=self.expected[row]))
            seconds += elapsed
            self.progress.advance(done)
        return outputs, seconds

    def differences(self, reference: Sequence[RowOutputs], model: Sequence[RowOutputs]) -> tuple[OutputDifference, ...]:
        """Compare the outputs of two models for the same rows, output by output."""
        compared_as = self.examples.processor.compared_as
        return tuple(
            compare(key, blocks(reference, model, key), compared_as, [len(outputs.compared[key]) for outputs in model])
            for key in sorted(model[0].compared)
        )

    def check_worker(
        self, name: str, rows: np.ndarray, run: Callable[[Path, Path], ProcessResult], *, device: str, **fields: Any
    ) -> tuple[Check, list[RowOutputs]]:
        """Run rows in a worker process and judge its outputs.

        Args:
            name: The check's name.
            rows: The numbers of the rows.
            run: Runs the worker on an archive of inputs; it writes an archive of outputs, see `read_outputs`.
            device: Where it runs.
            **fields: Further arguments of `make_check`.

        Returns:
            The check, and the outputs of each row; none where the worker failed.
        """
        with temporary_folder("worker") as folder:
            inputs, outputs_file = folder / "rows.npz", folder / "outputs.npz"
            self.write_inputs(inputs, rows)
            result = run(inputs, outputs_file)
            if not result.ok:
                return Check(name, FAILED, result.failure_reason, device=device), []
            arrays, seconds, _ = read_outputs(outputs_file)
        outputs = self.extract(arrays, rows)
        return self.make_check(
            name, rows, outputs, seconds, remark=self.sample_remark(rows), device=device, **fields
        ), outputs

    def write_inputs(self, path: Path, rows: np.ndarray) -> None:
        """Write the packed inputs of some rows for a worker process, arrays (token lists, length) by name, as `.npz`."""
        arrays: dict[str, Any] = self.examples.inputs_of(rows)
        np.savez(path, **arrays)

    def input_lists(self, rows: np.ndarray) -> dict[str, list]:
        """The packed inputs of some rows as nested lists, for a worker process that reads JSON."""
        return {name: values.tolist() for name, values in self.examples.inputs_of(rows).items()}

    def extract(self, outputs: Mapping[str, np.ndarray], rows: np.ndarray) -> list[RowOutputs]:
        """Take apart the outputs of these rows' token lists, (token lists, ...) by name, one entry a row."""
        group = self.examples.features.group
        return [
            self.examples.extract(
                {name: values[number * group : (number + 1) * group] for name, values in outputs.items()},
                row,
                reference=self.expected[row],
            )
            for number, row in enumerate(rows)
        ]

    def sample_remark(self, rows: np.ndarray) -> str:
        """A remark on how many rows ran; empty for all of them."""
        return "" if len(rows) == len(self.examples) else f"on {len(rows)} of {len(self.examples)} rows"

    def make_check(
        self,
        name: str,
        rows: np.ndarray,
        outputs: Sequence[RowOutputs],
        seconds: Sequence[float] | np.ndarray,
        *,
        limits: Tolerance | None = None,
        metric: bool = True,
        sample: bool = True,
        remark: str = "",
        faults: Sequence[str] = (),
        **fields: Any,
    ) -> Check:
        """Compare outputs with the reference's and judges them.

        Args:
            name: The check's name.
            rows: The rows that ran.
            outputs: Their outputs, one entry a row.
            seconds: The time of each token list.
            limits: The limits; by default the context's.
            metric: Whether the task's metric is judged.
            sample: Whether the rows stand for others like them.
            remark: The reason of a check that did not fail otherwise.
            faults: Further reasons to fail.
            **fields: Further fields of the check.
        """
        expected = [self.expected[row] for row in rows]
        differences = self.differences(expected, outputs)
        broken = any(difference.broken for difference in differences)
        examples = self.examples.part(rows) if metric and not broken else None
        metrics = examples.metrics(expected, outputs) if examples else ()
        calibration = examples.calibration(expected, outputs) if examples else None
        fields.setdefault("arithmetic", self.arithmetic())
        verdict = judge(
            limits or self.tolerance, differences, metrics, self.examples.processor.compared_as, rows=len(rows),
            spot_check=self.proven and len(rows) < len(self.examples), sample=sample, calibration=calibration,
        )  # fmt: skip
        problems = "; ".join(filter(None, [*faults, verdict.reason]))
        return Check(
            name, FAILED if faults else verdict.status, "; ".join(filter(None, [problems, "" if faults else remark])), rows=len(rows),
            outputs=differences, metrics=metrics, judgements=verdict.judgements, calibration=calibration,
            latency=Latency.of(seconds), **fields,
        )  # fmt: skip


def read_outputs(path: Path) -> tuple[dict[str, np.ndarray], np.ndarray, dict[str, np.ndarray]]:
    """Read the outputs that a worker process wrote as `.npz`.

    Returns:
        The arrays `output NAME`, (token lists, ...) by NAME; the seconds of each token list; every other array by name.

    Raises:
        KerasBertError: When it is no such archive.
    """
    arrays = read_npz(path)
    seconds = arrays.pop("seconds")
    outputs = {name.removeprefix(_OUTPUT): arrays.pop(name) for name in list(arrays) if name.startswith(_OUTPUT)}
    return outputs, measured(seconds), arrays


def measured(seconds: Seconds) -> Seconds:
    """Return times without the first, where there are more: the first run compiles and packs weights, and is no measurement."""
    return seconds[1:] if len(seconds) > 1 else seconds
