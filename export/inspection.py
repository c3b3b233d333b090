"""What is inside a `.tflite` file: operators, sizes by part, parameters, how much of it is quantized, which runtime it
needs."""

import math
import os
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path

from kerasbert.console.numbers import format_bytes
from kerasbert.console.tables import Block, Facts, Table, render
from kerasbert.export.tflite import metadata as packed
from kerasbert.export.tflite.model_size import model_size
from kerasbert.export.tflite.op_versions import minimum_runtime
from kerasbert.export.tflite.reader import read_file
from kerasbert.export.tflite.structure import FileStructure, Operator, Subgraph, Tensor, load_bytes
from kerasbert.export.tflite.tflite_file import TFLiteFile

EMBEDDINGS, DENSE, OTHER, OVERHEAD, PACKED = (
    "embeddings",
    "dense kernels",
    "biases, norms, constants",
    "graph",
    "packed files",
)
_TABLE_INPUT = {"GATHER": 0, "EMBEDDING_LOOKUP": 1, "GATHER_ND": 0}
_KERNEL_INPUT = {"FULLY_CONNECTED": 1, "CONV_2D": 1, "DEPTHWISE_CONV_2D": 1}
_BIAS_INPUT = 2
_PER_CHANNEL_DYNAMIC = 12  # FULLY_CONNECTED with float activations and per-channel int8 kernels
# A constant keeps its role behind these: a float16 file stores kernels behind DEQUANTIZE, a tied table may be
# transposed.
_TRANSPARENT = {"DEQUANTIZE", "TRANSPOSE", "RESHAPE", "CAST", "QUANTIZE"}
_BITS = {
    "int2": 2,
    "int4": 4,
    "uint4": 4,
    "int8": 8,
    "uint8": 8,
    "int16": 16,
    "float16": 16,
    "bfloat16": 16,
    "float32": 32,
    "float64": 64,
}
_EIGHT_BITS_OR_LESS = {name for name, bits in _BITS.items() if bits <= 8}


@dataclass(frozen=True)
class OpCount:
    """One kind of operator call: name, version, dtypes of inputs and outputs as `float32,int8 -> float32`, and how
    often it occurs."""

    name: str
    version: int
    dtypes: str
    count: int
    custom: bool


@dataclass(frozen=True)
class SignatureSummary:
    """`inputs` and `outputs`: name -> `dtype[shape]`; -1 in a shape is a length that can be resized."""

    name: str
    inputs: dict[str, str]
    outputs: dict[str, str]


@dataclass(frozen=True)
class Inspection:
    """See the fields; sizes in bytes, shares from 0 to 1.

    `parameters`, `bytes_per_parameter`: of the model, see `model_size`; `stored_parameters`: trained constants in the graph, of which
    `quantized_parameter_share` is a share. `mac_shares` splits the multiply-accumulates of dense and matrix products: `static` (activations
    and weights int8), `dynamic` (int8 weights, float activations), `float`. For a resizable file they are those of length 1.
    """

    path: str
    size: int
    size_by_part: dict[str, int]
    parameters: int
    stored_parameters: int
    bytes_per_parameter: float
    quantized_parameter_share: float
    macs: int
    mac_shares: dict[str, float]
    operators: tuple[OpCount, ...]
    flex_operators: tuple[str, ...]
    custom_operators: tuple[str, ...]
    minimum_runtime: str
    signatures: tuple[SignatureSummary, ...]
    subgraphs: int
    metadata: dict[str, object] | None

    @property
    def recipe(self) -> str:
        """The recipe that the metadata names, else the one that the tensors show."""
        return str(self.metadata["recipe"]) if self.metadata else guess_recipe(self)

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "recipe": self.recipe}

    def table(self) -> str:
        """The inspection as plain text."""
        return render(self.blocks())

    def blocks(self) -> list[Block]:
        """The inspection as facts and tables, for `kerasbert.console.tables.render`."""
        facts = [
            ("file", self.path),
            ("size", f"{format_bytes(self.size)} ({self.size:,} bytes)"),
            ("parameters", f"{self.parameters:,} ({self.bytes_per_parameter:.3f} bytes each)"),
            (
                "in 8 bits",
                f"{self.quantized_parameter_share:.1%} of the {self.stored_parameters:,} parameters in the graph",
            ),
            (
                "multiply-accumulates",
                f"{self.macs:,} ({', '.join(f'{k} {v:.1%}' for k, v in self.mac_shares.items())})",
            ),
            ("recipe", self.recipe + ("" if self.metadata else " (judged by its tensors)")),
            ("minimum runtime", self.minimum_runtime),
            ("Flex operators", ", ".join(self.flex_operators) or "none"),
            ("custom operators", ", ".join(self.custom_operators) or "none"),
        ]
        for key, value in (self.metadata or {"kerasbert metadata": "none"}).items():
            if key != "recipe" and value not in ({}, None):
                facts.append((key.replace("_", " "), ("no", "yes")[value] if isinstance(value, bool) else str(value)))
        for signature in self.signatures:
            facts += [(f"{signature.name} <-", f"{name} {port}") for name, port in signature.inputs.items()]
            facts += [(f"{signature.name} ->", f"{name} {port}") for name, port in signature.outputs.items()]
        parts = [(part, format_bytes(size), f"{size / self.size:.1%}") for part, size in self.size_by_part.items()]
        operators = [(op.name, op.count, f"v{op.version}", op.dtypes) for op in self.operators]
        return [
            Facts(facts),
            "",
            Table(("part", "size", "share"), parts),
            "",
            Table(("operator", "count", "version", "dtypes"), operators),
        ]


def inspect(path: str | os.PathLike) -> Inspection:
    """Reads a `.tflite` file without running it.

    Raises:
        KerasBertError: a missing, foreign or damaged file.
    """
    data, name = load_bytes(path)
    return inspect_structure(read_file(data, name), packed.read(data, name), path)


def inspect_structure(file: FileStructure, card: packed.Metadata | None, path: str | os.PathLike | bytes) -> Inspection:
    """As `inspect`, of a file that was decoded already.

    Args:
        file: the decoded file.
        card: its metadata.
        path: the file that it was decoded from, or its content.
    """
    name = "the given bytes" if isinstance(path, bytes) else str(path)
    packed_bytes = packed.packed_size(file.data, name)
    roles = _roles(file)
    weights = _weights(file, roles)
    stored = sum(elements for elements, _ in weights.values())
    size = model_size(path, card, stored)
    eight_bit = sum(elements for elements, bits in weights.values() if bits <= 8)
    macs = _macs(file)
    total = sum(macs.values())
    builtin = {
        (op.name, _needed_version(op, graph)) for graph in file.subgraphs for op in graph.operators if not op.custom
    }
    custom = sorted({op.name for graph in file.subgraphs for op in graph.operators if op.custom})
    return Inspection(
        path=Path(name).name,
        size=file.size,
        size_by_part=_size_by_part(file, roles, packed_bytes),
        parameters=size.parameters,
        stored_parameters=stored,
        bytes_per_parameter=size.bytes_per_parameter,
        quantized_parameter_share=eight_bit / stored if stored else 0.0,
        macs=total,
        mac_shares={kind: (macs[kind] / total if total else 0.0) for kind in ("static", "dynamic", "float")},
        operators=_count_operators(file),
        flex_operators=tuple(code for code in custom if code.startswith("Flex")),
        custom_operators=tuple(code for code in custom if not code.startswith("Flex")),
        minimum_runtime=minimum_runtime(builtin),
        signatures=tuple(_summary(file, signature) for signature in file.signatures),
        subgraphs=len(file.subgraphs),
        metadata=_metadata_summary(card),
    )


def guess_recipe(inspection: Inspection) -> str:
    """The recipe a file without metadata looks like, by where its multiply-accumulates run and how its weights are
    stored."""
    if inspection.mac_shares["static"] > 0:
        return "static_wi8_ai8"
    if inspection.mac_shares["dynamic"] > 0:
        return "dynamic_wi8_afp32"
    if inspection.quantized_parameter_share > 0.1:
        return "weight_only_wi8"
    halves = any("float16" in operator.dtypes for operator in inspection.operators)
    return "float16" if halves else "float32"


def _roles(file: TFLiteFile) -> dict[int, str]:
    """Buffer index -> part, by the operator that uses the constant; a table that is also a kernel counts as
    embeddings."""
    roles: dict[int, str] = {}
    for graph in file.subgraphs:
        users = defaultdict(list)
        for operator in graph.operators:
            for position, tensor in enumerate(operator.inputs):
                users[tensor].append((operator, position))
        for index, tensor in enumerate(graph.tensors):
            if tensor.constant:
                role = _role(index, users)
                if roles.get(tensor.buffer) != EMBEDDINGS and (role != OTHER or tensor.buffer not in roles):
                    roles[tensor.buffer] = role
    return roles


def _needed_version(operator: Operator, graph: Subgraph) -> int:
    """The version that a runtime must know.

    Some tools write per-channel int8 kernels under float activations without raising the version as TensorFlow's
    `op_version.cc` does; a runtime from before that version is not made for them.
    """
    if operator.name == "FULLY_CONNECTED":
        activation, kernel = (graph.tensors[index] for index in operator.inputs[:2])
        per_channel = kernel.quantization is not None and kernel.quantization.per_channel
        if activation.dtype == "float32" and kernel.dtype == "int8" and per_channel:
            return max(operator.version, _PER_CHANNEL_DYNAMIC)
    return operator.version


def _role(index: int, users: dict[int, list[tuple[Operator, int]]]) -> str:
    found, pending, seen = OTHER, [index], set()
    while pending:
        tensor = pending.pop()
        if tensor in seen:
            continue
        seen.add(tensor)
        for operator, position in users[tensor]:
            if _TABLE_INPUT.get(operator.name) == position:
                return EMBEDDINGS
            if _KERNEL_INPUT.get(operator.name) == position or operator.name == "BATCH_MATMUL":
                found = DENSE
            elif operator.name in _TRANSPARENT and position == 0:
                pending.extend(operator.outputs)
    return found


def _weights(file: TFLiteFile, roles: dict[int, str]) -> dict[int, tuple[int, int]]:
    """Buffer index -> (elements, bits) of every trained constant, once a buffer; scalars and index constants are not
    parameters."""
    weights = {}
    for graph in file.subgraphs:
        biases = {
            op.inputs[_BIAS_INPUT]
            for op in graph.operators
            if op.name in _KERNEL_INPUT and len(op.inputs) > _BIAS_INPUT
        }
        for index, tensor in enumerate(graph.tensors):
            if not tensor.constant:
                continue
            number = tensor.dtype in _BITS and (tensor.elements > 1 or roles[tensor.buffer] == DENSE)
            if number or index in biases:
                weights[tensor.buffer] = (tensor.elements, _BITS.get(tensor.dtype, 32))
    return weights


def _size_by_part(file: TFLiteFile, roles: dict[int, str], packed_bytes: int) -> dict[str, int]:
    sizes = Counter({part: 0 for part in (EMBEDDINGS, DENSE, OTHER)})
    for buffer, role in roles.items():
        sizes[role] += file.spans[buffer][1]
    overhead = file.size - packed_bytes - sum(sizes.values())
    return {**sizes, OVERHEAD: overhead, PACKED: packed_bytes}


def _macs(file: TFLiteFile) -> Counter:
    """Multiply-accumulates by the arithmetic they run in."""
    macs: Counter = Counter()
    for graph in file.subgraphs:
        for operator in graph.operators:
            if operator.custom or len(operator.inputs) < 2 or -1 in operator.inputs[:2] or not operator.outputs:
                continue
            count = _operator_macs(operator, graph)
            if count:
                left, right = (graph.tensors[index] for index in operator.inputs[:2])
                macs[_arithmetic(left, right)] += count
    return macs


def _operator_macs(operator: Operator, graph: Subgraph) -> int:
    left, right = (graph.tensors[index] for index in operator.inputs[:2])
    output = graph.tensors[operator.outputs[0]]
    if operator.name == "FULLY_CONNECTED" and len(right.stored_shape) == 2:
        return output.elements * right.stored_shape[1]
    matrices = all(len(tensor.stored_shape) >= 2 for tensor in (left, right, output))
    if operator.name == "BATCH_MATMUL" and matrices and output.elements:
        # With M x K by K x N operands, left * right * output elements = (M K N)^2 times the batch; the transpose flags
        # do not matter.
        rows = left.stored_shape[-2] * left.stored_shape[-1]
        columns = right.stored_shape[-2] * right.stored_shape[-1]
        result = output.stored_shape[-2] * output.stored_shape[-1]
        batch = output.elements // max(result, 1)
        return batch * math.isqrt(rows * columns * result)
    if operator.name == "CONV_2D" and len(right.stored_shape) == 4:
        return output.elements * (right.elements // max(right.stored_shape[0], 1))
    return 0


def _arithmetic(left: Tensor, right: Tensor) -> str:
    if left.dtype in ("int8", "uint8", "int16") and right.dtype in _EIGHT_BITS_OR_LESS | {"int16"}:
        return "static"
    return "dynamic" if right.dtype in _EIGHT_BITS_OR_LESS else "float"


def _count_operators(file: TFLiteFile) -> tuple[OpCount, ...]:
    counts = Counter(
        (operator.name, operator.version, _dtypes(operator, graph), operator.custom)
        for graph in file.subgraphs
        for operator in graph.operators
    )
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(OpCount(name, version, dtypes, count, custom) for (name, version, dtypes, custom), count in ordered)


def _dtypes(operator: Operator, graph: Subgraph) -> str:
    sides = (
        ",".join(graph.tensors[index].dtype for index in side if index >= 0)
        for side in (operator.inputs, operator.outputs)
    )
    return " -> ".join(sides)


def _summary(file: TFLiteFile, signature) -> SignatureSummary:
    tensors = file.subgraphs[signature.subgraph].tensors

    def ports(indices: dict[str, int]) -> dict[str, str]:
        return {
            name: f"{tensors[i].dtype}[{', '.join(map(str, tensors[i].shape))}]" for name, i in sorted(indices.items())
        }

    return SignatureSummary(signature.name, ports(signature.inputs), ports(signature.outputs))


def _metadata_summary(card: packed.Metadata | None) -> dict[str, object] | None:
    if card is None:
        return None
    summary = {key: value for key, value in card.card().items() if key not in ("tokenizer", "format", "parameters")}
    summary["vocabulary"] = None if card.vocabulary is None else f"{len(card.vocabulary):,} tokens"
    summary["labels"] = None if card.labels is None else ", ".join(card.labels)
    return summary
