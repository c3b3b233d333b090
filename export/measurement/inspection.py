"""Inspects a `.tflite` file: operators, sizes by part, parameters, quantized share, and the runtime that it needs."""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kerasbert.console.numbers import format_bytes
from kerasbert.console.tables import Block, Facts, Table, render
from kerasbert.export.measurement.model_size import model_size
from kerasbert.export.tflite import metadata as packed_metadata
from kerasbert.export.tflite.arithmetic import graph_recipe
from kerasbert.export.tflite.constants import constant_roles, size_by_part, trained_weights
from kerasbert.export.tflite.macs import count_macs, macs_by_part
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.tflite.runtime_support import required_runtime
from kerasbert.export.tflite.structure import Operator, Signature, Subgraph, load_bytes

_SHOWN_TEXT = 200  # characters of a setting; the layer of a taught file has thousands


@dataclass(frozen=True)
class OpCount:
    """One kind of operator call, and its number of occurrences.

    Attributes:
        name: The operator's name.
        version: The operator version.
        dtypes: Types of inputs and outputs, such as `float32,int8 -> float32`.
        count: The number of calls.
        custom: Whether it is a custom operator.
    """

    name: str
    version: int
    dtypes: str
    count: int
    custom: bool


@dataclass(frozen=True)
class SignatureSummary:
    """A signature's inputs and outputs as `dtype[shape]` by name; -1 in a shape is a resizable length."""

    name: str
    inputs: dict[str, str]
    outputs: dict[str, str]


@dataclass(frozen=True)
class Inspection:
    """The content of a `.tflite` file.

    Attributes:
        path: The file's name.
        size: Bytes of the file.
        size_by_part: Bytes of embeddings, kernels, other constants, graph and packed files.
        parameters: Trained parameters of the model, see `model_size`.
        stored_parameters: Trained constants in the graph.
        bytes_per_parameter: Bytes of the model for each parameter, see `model_size`.
        quantized_parameter_share: The share of `stored_parameters` in 8 bits or less, from 0 to 1.
        macs: Multiply-accumulates of Dense layers and matrix products; for length 1 if the file is resizable.
        mac_shares: The shares of `macs` from 0 to 1: `static` (int8 activations and weights), `dynamic` (int8 weights, float activations)
            and `float`.
        macs_by_part: `macs` of embeddings, attention projections, attention products, feed-forward, bottlenecks and other, by the names
            of tensors.
        operators: The kinds of operators, the most frequent first.
        flex_operators: Names of TensorFlow operators, which need the Flex delegate.
        custom_operators: Names of other custom operators.
        minimum_runtime: The oldest runtime that supports the builtin operators.
        signatures: The entry points.
        subgraphs: The number of graphs.
        metadata: The packed metadata without the vocabulary; None for a file without any.
        recipe: The recipe that operators and tensors have, whatever the metadata say.

    Example:
        ```python
        content = kb.export.inspect("mine.tflite")
        content.size, content.recipe, content.minimum_runtime
        print(content.table())
        ```
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
    macs_by_part: dict[str, int]
    operators: tuple[OpCount, ...]
    flex_operators: tuple[str, ...]
    custom_operators: tuple[str, ...]
    minimum_runtime: str
    signatures: tuple[SignatureSummary, ...]
    subgraphs: int
    metadata: dict[str, Any] | None
    recipe: str = ""

    @property
    def described_recipe(self) -> str:
        """The recipe in the metadata; empty without metadata."""
        return str(self.metadata["recipe"]) if self.metadata else ""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, JSON-able."""
        return asdict(self)

    def table(self) -> str:
        """Return the inspection as plain text."""
        return render(self.blocks())

    def blocks(self) -> list[Block]:
        """Return the inspection as facts and tables, for `kerasbert.console.tables.render`."""
        parts = [(part, format_bytes(size), f"{size / self.size:.1%}") for part, size in self.size_by_part.items()]
        macs = [(part, f"{count:,}", f"{count / self.macs:.1%}") for part, count in self.macs_by_part.items()]
        operators = [(op.name, op.count, f"v{op.version}", op.dtypes) for op in self.operators]
        return [
            Facts([*self._file_facts(), *self._metadata_facts(), *self._signature_facts()]),
            "",
            Table(("part", "size", "share"), parts),
            "",
            *((Table(("part", "multiply-accumulates", "share"), macs), "") if macs else ()),
            Table(("operator", "count", "version", "dtypes"), operators),
        ]

    def _file_facts(self) -> list[tuple[str, str]]:
        mac_shares = ", ".join(f"{kind} {share:.1%}" for kind, share in self.mac_shares.items())
        quantized = f"{self.quantized_parameter_share:.1%} of the {self.stored_parameters:,} parameters in the graph"
        return [
            ("file", self.path),
            ("size", f"{format_bytes(self.size)} ({self.size:,} bytes)"),
            (
                "parameters",
                f"{self.parameters:,} ({self.bytes_per_parameter:.3f} bytes each){self._other_parameters()}",
            ),
            ("in at most 8 bits", quantized),
            ("multiply-accumulates", f"{self.macs:,} ({mac_shares})"),
            ("recipe", self.recipe + self._other_recipe()),
            ("minimum runtime", self.minimum_runtime),
            ("Flex operators", ", ".join(self.flex_operators) or "none"),
            ("custom operators", ", ".join(self.custom_operators) or "none"),
        ]

    def _other_recipe(self) -> str:
        if self.metadata is None:
            return " (judged by its tensors)"
        return (
            "" if self.described_recipe == self.recipe else f" by its tensors; the metadata say {self.described_recipe}"
        )

    def _other_parameters(self) -> str:
        described = (self.metadata or {}).get("parameters")
        return "" if described in (None, self.parameters) else f"; the graph's: the metadata say {described:,}"

    def _metadata_facts(self) -> list[tuple[str, str]]:
        return [
            (key.replace("_", " "), ("no", "yes")[value] if isinstance(value, bool) else str(value))
            for key, value in (self.metadata or {"kerasbert metadata": "none"}).items()
            if key not in ("recipe", "parameters") and value not in ({}, None)
        ]

    def _signature_facts(self) -> list[tuple[str, str]]:
        facts = []
        for signature in self.signatures:
            facts += [(f"{signature.name} <-", f"{name} {port}") for name, port in signature.inputs.items()]
            facts += [(f"{signature.name} ->", f"{name} {port}") for name, port in signature.outputs.items()]
        return facts


def inspect(path: str | os.PathLike) -> Inspection:
    """Inspect a `.tflite` file without running it.

    Args:
        path: The file.

    Returns:
        The sizes, operators, signatures and metadata of the file.

    Raises:
        KerasBertError: When the file is missing, is not a `.tflite` file, or is damaged.

    Example:
        ```python
        content = kb.export.inspect("mine.tflite")
        content.mac_shares["static"]  # the share of multiply-accumulates in int8
        ```
    """
    content, name = load_bytes(path)
    place = None if isinstance(path, bytes) else Path(path)
    return inspect_file(ModelFile(content, packed_metadata.read_content(content, name), path=place))


def inspect_file(file: ModelFile) -> Inspection:
    """Inspect a file that was read already, as `inspect` does.

    Raises:
        KerasBertError: When no FlatBuffer schema is installed.
    """
    metadata = file.metadata
    roles = constant_roles(file)
    weights = trained_weights(file, roles).values()
    stored = sum(weight.elements for weight in weights)
    quantized = sum(weight.elements for weight in weights if weight.bits <= 8)
    size = model_size(file.path or file.content, metadata, stored)
    macs = count_macs(file)
    total_macs = sum(macs.values())
    flex_operators, custom_operators = _custom_operators(file)
    return Inspection(
        path=file.name,
        size=file.size,
        size_by_part=size_by_part(file, roles, packed_metadata.packed_size(file.content, file.label)),
        parameters=size.parameters,
        stored_parameters=stored,
        bytes_per_parameter=size.bytes_per_parameter,
        quantized_parameter_share=quantized / stored if stored else 0.0,
        macs=total_macs,
        mac_shares={kind: (macs[kind] / total_macs if total_macs else 0.0) for kind in ("static", "dynamic", "float")},
        macs_by_part=macs_by_part(file),
        operators=_count_operators(file),
        flex_operators=flex_operators,
        custom_operators=custom_operators,
        minimum_runtime=required_runtime(file),
        signatures=tuple(_summarize_signature(file, signature) for signature in file.signatures),
        subgraphs=len(file.subgraphs),
        metadata=_summarize_metadata(metadata),
        recipe=graph_recipe(file),
    )


def _custom_operators(file: ModelFile) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of Flex operators and of other custom operators."""
    names = sorted({op.name for graph in file.subgraphs for op in graph.operators if op.custom})
    flex = tuple(name for name in names if name.startswith("Flex"))
    return flex, tuple(name for name in names if name not in flex)


def _count_operators(file: ModelFile) -> tuple[OpCount, ...]:
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


def _summarize_signature(file: ModelFile, signature: Signature) -> SignatureSummary:
    tensors = file.subgraphs[signature.subgraph].tensors

    def ports(indices: Mapping[str, int]) -> dict[str, str]:
        return {
            name: f"{tensors[i].dtype}[{', '.join(map(str, tensors[i].shape))}]" for name, i in sorted(indices.items())
        }

    return SignatureSummary(signature.name, ports(signature.inputs), ports(signature.outputs))


def _summarize_metadata(metadata: packed_metadata.Metadata | None) -> dict[str, Any] | None:
    if metadata is None:
        return None
    hidden = ("tokenizer", "format")
    summary = {key: value for key, value in metadata.as_dict().items() if key not in hidden}
    summary["settings"] = {
        name: f"{len(value):,} characters" if isinstance(value, str) and len(value) > _SHOWN_TEXT else value
        for name, value in summary["settings"].items()
    }
    summary["vocabulary"] = None if metadata.vocabulary is None else f"{len(metadata.vocabulary):,} tokens"
    summary["labels"] = None if metadata.labels is None else ", ".join(metadata.labels)
    return summary
