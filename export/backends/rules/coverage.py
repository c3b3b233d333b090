"""Who runs a file's operators: the CPU's delegate as the runtime places them, other backends as their rules tell."""

import os
from collections import Counter
from dataclasses import asdict, dataclass

from kerasbert.console.tables import Block, Table, render
from kerasbert.errors import KerasBertError
from kerasbert.export.backends.edge_tpu import forecast
from kerasbert.export.backends.rules.gpu import LITERT_GPU
from kerasbert.export.backends.rules.gpu_opencl import GPU_OPENCL
from kerasbert.export.backends.rules.operator_rules import Verdict, verdicts
from kerasbert.export.runtime.isolated_model import IsolatedFile
from kerasbert.export.tflite.reader import check_structure
from kerasbert.export.tflite.tflite_file import TFLiteFile


@dataclass(frozen=True)
class OperatorPlacement:
    """An operator of a file: how many calls, and of each backend what it makes of them, as `12 mapped` or `12: why not`."""

    operator: str
    calls: int
    cpu: str
    gpu: str
    gpu_opencl: str
    edge_tpu: str


@dataclass(frozen=True)
class Placement:
    """Every operator of the first graph of a file, in the order of their first call."""

    file: str
    operators: tuple[OperatorPlacement, ...]

    def as_dict(self) -> dict[str, object]:
        return {"file": self.file, "operators": [asdict(operator) for operator in self.operators]}

    def blocks(self) -> list[Block]:
        """The operators as a table, for `kerasbert.console.tables.render`."""
        heads = ("operator", "calls", "cpu", "gpu (forecast)", "gpu-opencl (rules)", "edge-tpu (forecast)")
        rows = [(o.operator, str(o.calls), o.cpu, o.gpu, o.gpu_opencl, o.edge_tpu) for o in self.operators]
        return [Table(heads, rows)]

    def table(self) -> str:
        """The operators as plain text."""
        return render(self.blocks())


def placement(path: str | os.PathLike) -> Placement:
    """Reads a file, and opens it on this machine's runtime, in a process of its own.

    Raises KerasBertError for a file that cannot be read, or is damaged.
    """
    check_structure(path)
    file = TFLiteFile.read(path)
    names = Counter(operator.name for operator in file.subgraphs[0].operators)
    on_cpu = _on_cpu(path)
    gpu, gpu_opencl, tpu = verdicts(file, LITERT_GPU), verdicts(file, GPU_OPENCL), forecast(file)
    return Placement(
        os.path.basename(path),
        tuple(
            OperatorPlacement(name, count, on_cpu(name), _told(gpu, name), _told(gpu_opencl, name), _told(tpu, name))
            for name, count in names.items()
        ),
    )


def _on_cpu(path):
    """What the runtime's delegate takes of an operator, by name."""
    try:
        model = IsolatedFile(path).open()
    except KerasBertError as error:
        said = f"does not open: {error}"
        return lambda name: said
    placed = model.ops_by_backend
    return lambda name: (
        ", ".join(f"{counts[name]} {backend}" for backend, counts in placed.items() if name in counts) or "-"
    )


def _told(found: tuple[Verdict, ...], name: str) -> str:
    counts = Counter(verdict.refused for verdict in found if verdict.operator == name)
    return "; ".join(f"{count} mapped" if reason is None else f"{count}: {reason}" for reason, count in counts.items())
