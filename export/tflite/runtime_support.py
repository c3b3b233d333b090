"""The oldest runtime that can load a file, by the versions of its operators."""

from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.tflite.op_versions import is_newer, minimum_runtime
from kerasbert.export.tflite.structure import Operator, Subgraph

_PER_CHANNEL_DYNAMIC = 12  # FULLY_CONNECTED with float activations and per-channel int8 kernels

_PER_BLOCK = 14  # with scales of blocks; the version of the oldest runtime that such files were run with


def required_runtime(file: ModelFile) -> str:
    """Return the oldest runtime that supports every builtin operator of a file."""
    return minimum_runtime(
        {(op.name, _required_version(op, graph)) for graph in file.subgraphs for op in graph.operators if not op.custom}
    )


def _required_version(operator: Operator, graph: Subgraph) -> int:
    """Return the operator version that a runtime must support.

    Some tools write per-channel int8 kernels under float activations without raising the version as TensorFlow's `op_version.cc` does. A
    runtime from before that version does not support them.
    """
    if operator.name == "FULLY_CONNECTED":
        activation, kernel = (graph.tensors[index] for index in operator.inputs[:2])
        if kernel.quantization is not None and kernel.quantization.block:
            return max(operator.version, _PER_BLOCK)
        per_channel = kernel.quantization is not None and kernel.quantization.per_channel
        if activation.dtype == "float32" and kernel.dtype == "int8" and per_channel:
            return max(operator.version, _PER_CHANNEL_DYNAMIC)
    return operator.version


def check_runtime(content: bytes, runtime: str) -> None:
    """Check that a runtime supports every operator of a converted file.

    Raises:
        KerasBertError: when it does not; it names the operators.
    """
    operators = {(op.name, op.version) for graph in ModelFile(content, None).subgraphs for op in graph.operators}
    introduced = {operator: minimum_runtime({operator}) for operator in sorted(operators)}
    unsupported = [
        f"{name} v{version} ({since})"
        for (name, version), since in introduced.items()
        if not since[0].isdigit() or is_newer(since, runtime)
    ]
    if unsupported:
        raise KerasBertError(
            f"expected operators that runtime {runtime} supports, received {', '.join(unsupported)}; convert with another recipe"
        )
