"""Coverage of a file's operators: measured for the CPU's delegate, predicted by rules for other backends."""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kerasbert.console.tables import Block, Table, render
from kerasbert.errors import KerasBertError
from kerasbert.export.backends.registry import BACKENDS
from kerasbert.export.backends.rules.operator_rules import OperatorVerdict
from kerasbert.export.runtime.isolated_session import WorkerProcess
from kerasbert.export.tflite.model_file import ModelFile

_CPU = "cpu"


@dataclass(frozen=True)
class OperatorPlacement:
    """One kind of operator in a file.

    Attributes:
        operator: Its name.
        calls: The number of calls.
        backends: Calls that a backend takes, as `12 mapped`, and calls that it does not, as `12: reason`, by its name.
    """

    operator: str
    calls: int
    backends: Mapping[str, str]

    def as_dict(self) -> dict[str, object]:
        """Return the placement as a dict for JSON, with underscores in the backends' names."""
        placed = {name.replace("-", "_"): text for name, text in self.backends.items()}
        return {"operator": self.operator, "calls": self.calls, **placed}


@dataclass(frozen=True)
class Placement:
    """Every operator of the first graph of a file, in the order of their first call.

    Attributes:
        file: The file's name.
        operators: One entry a kind of operator.
        headings: The table's headings, one a backend.
    """

    file: str
    operators: tuple[OperatorPlacement, ...]
    headings: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the placement as a dict for JSON."""
        return {"file": self.file, "operators": [operator.as_dict() for operator in self.operators]}

    def blocks(self) -> list[Block]:
        """Return the operators as a table, for `kerasbert.console.tables.render`."""
        rows = [(each.operator, str(each.calls), *each.backends.values()) for each in self.operators]
        return [Table(("operator", "calls", *self.headings), rows)]

    def table(self) -> str:
        """Return the operators as plain text."""
        return render(self.blocks())


def placement(path: str | os.PathLike) -> Placement:
    """Read a file, and opens it on this machine's runtime in a process of its own.

    Raises:
        KerasBertError: When the file cannot be read, or is damaged.
    """
    file = ModelFile.read(path)
    counts = Counter(operator.name for operator in file.subgraphs[0].operators)
    on_cpu = _cpu_placement(path)
    ruled = [backend for backend in BACKENDS.values() if backend.rules]
    verdicts = {backend.name: backend.forecast(file) for backend in ruled}
    operators = tuple(
        OperatorPlacement(
            name, count, {_CPU: on_cpu(name)} | {backend: _summarize(verdicts[backend], name) for backend in verdicts}
        )
        for name, count in counts.items()
    )
    headings = (_CPU, *(f"{backend.name} ({backend.rules_basis})" for backend in ruled))
    return Placement(file.name, operators, headings)


def _cpu_placement(path: str | os.PathLike) -> Callable[[str], str]:
    """Return a function: operator -> how many of its calls the runtime's delegate takes."""
    try:
        model = WorkerProcess(path).open()
    except KerasBertError as error:
        message = f"does not open: {error}"
        return lambda name: message
    placed = model.ops_by_backend
    return lambda name: (
        ", ".join(f"{counts[name]} {backend}" for backend, counts in placed.items() if name in counts) or "-"
    )


def _summarize(verdicts: Sequence[OperatorVerdict], name: str) -> str:
    counts = Counter(verdict.unsupported_reason for verdict in verdicts if verdict.operator == name)
    return "; ".join(f"{count} mapped" if reason is None else f"{count}: {reason}" for reason, count in counts.items())
