"""Changes to a `.tflite` file: its metadata, its vocabulary and labels, its graph, and forms that mean the same."""

import dataclasses
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerasbert.export.tflite import metadata
from kerasbert.export.tflite.model import Model, decode, encode, operator_kinds
from kerasbert.processors import Processor

DESCRIPTION, VOCABULARY, LABELS = metadata.DESCRIPTION, metadata.VOCABULARY, metadata.LABELS
Members = dict[str, str]


@dataclass(frozen=True)
class Mutation:
    """A change to a file.

    Attributes:
        name: In a few words.
        change: Takes the bytes of a file and returns others.
        same_meaning: Whether the changed file means the same by construction, for any text.
    """

    name: str
    change: Callable[[bytes], bytes]
    same_meaning: bool = False


def members_of(content: bytes) -> Members:
    """Return the packed files by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name).decode("utf-8") for name in archive.namelist()}


def with_members(content: bytes, members: Mapping[str, str]) -> bytes:
    """Return the file with other packed files, without a check of what they say."""
    stream = io.BytesIO(content[: len(content) - metadata.packed_size(content)])
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_STORED) as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return stream.getvalue()


def described(name: str, change: Callable[[dict], Any], same_meaning: bool = False) -> Mutation:
    """A change of `kerasbert.json`. `change`: alters the parsed object, or returns another one."""

    def apply(content: bytes) -> bytes:
        members = members_of(content)
        description = json.loads(members[DESCRIPTION])
        return with_members(content, {**members, DESCRIPTION: json.dumps(change(description) or description)})

    return Mutation(name, apply, same_meaning)


def listed(name: str, member: str, change: Callable[[list[str]], Sequence[str] | None]) -> Mutation:
    """A change of the lines of the vocabulary or the labels; None removes them."""

    def apply(content: bytes) -> bytes:
        members = members_of(content)
        lines = change(members.pop(member).splitlines())
        return with_members(
            content, members if lines is None else {**members, member: "".join(f"{x}\n" for x in lines)}
        )

    return Mutation(name, apply)


def in_graph(name: str, change: Callable[[Model], None], same_meaning: bool = False) -> Mutation:
    """A change of the decoded graph."""

    def apply(content: bytes) -> bytes:
        model = decode(bytearray(content[: len(content) - metadata.packed_size(content)]))
        change(model)
        return with_members(encode(model), members_of(content))

    return Mutation(name, apply, same_meaning)


def setting_mutations(processor: Processor) -> Iterator[Mutation]:
    """Change each setting of a processor, one at a time, whatever settings it has."""
    for field in dataclasses.fields(processor):
        value = getattr(processor, field.name)
        for other in () if field.name == "labels" else _other_values(value):
            yield described(f"processor {field.name}: {other!r}", _update("settings", field.name, other))


def tokenizer_mutations(content: bytes) -> Iterator[Mutation]:
    """Change each setting of the tokenizer, one at a time, whatever settings it has."""
    settings = json.loads(members_of(content)[DESCRIPTION])["tokenizer"]
    special = [name for name in settings if name.endswith("_token")]
    for name, value in settings.items():
        others = [settings[special[special.index(name) - 1]]] if name in special else _other_values(value)
        for other in () if name in ("kind", "model_max_length") else others:
            yield described(f"tokenizer {name}: {other!r}", _update("tokenizer", name, other))


def _update(part: str, name: str, value: Any) -> Callable[[dict], None]:
    return lambda description: description[part].update({name: value})


def _other_values(value: Any) -> list[Any]:
    """Return other values of a setting's type; of a missing one both truths, numbers and texts that a loader may take."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [1, value + 1]
    if isinstance(value, float):
        return [value + 0.3, value + 1000.0]
    if isinstance(value, str):
        return [{"word": "character", "character": "word"}.get(value, f"{value} ")]
    return [] if isinstance(value, list | dict | tuple) else [False, 2]


def dense_kernels(model: Model) -> list[int]:
    """Return the tensors of the first graph that are kernels of Dense layers, in the order of the graph."""
    kinds, graph = operator_kinds(model), model.subgraphs[0]
    return [op.inputs[1] for op in graph.operators if kinds[op.opcodeIndex] == "FULLY_CONNECTED"]


def scale_layer(layer: int, factor: float) -> Callable[[Model], None]:
    """Multiply a Dense layer's kernel and bias: numbers of floats, scales of integers."""

    def change(model: Model) -> None:
        graph = model.subgraphs[0]
        kinds = operator_kinds(model)
        op = [op for op in graph.operators if kinds[op.opcodeIndex] == "FULLY_CONNECTED"][layer]
        changed = set()
        for index in op.inputs[1:3]:
            if index >= 0 and graph.tensors[index].buffer not in changed:
                changed.add(graph.tensors[index].buffer)
                _scale(model, index, factor)
        output = graph.tensors[op.outputs[0]].quantization
        if output is not None and output.scale is not None and len(output.scale):
            output.scale = np.asarray(output.scale, np.float32) * np.float32(factor)

    return change


def _scale(model: Model, index: int, factor: float) -> None:
    """Scale a constant in every graph that shares its buffer."""
    first = model.subgraphs[0].tensors[index]
    if first.type == 0:
        values = np.frombuffer(model.buffers[first.buffer].data, np.float32) * np.float32(factor)
        model.buffers[first.buffer].data = np.frombuffer(values.tobytes(), np.uint8)
        return
    for graph in model.subgraphs:
        for tensor in graph.tensors:
            if (
                tensor.buffer == first.buffer
                and tensor.quantization is not None
                and tensor.quantization.scale is not None
            ):
                tensor.quantization.scale = np.asarray(tensor.quantization.scale, np.float32) * np.float32(factor)


def change_kernel(
    layer: int, change: Callable[[np.ndarray, np.random.Generator], np.ndarray]
) -> Callable[[Model], None]:
    """Change the stored numbers of a Dense layer's kernel, (outputs, inputs) float32 or int8."""

    def apply(model: Model) -> None:
        tensor = model.subgraphs[0].tensors[dense_kernels(model)[layer]]
        dtype = {0: np.float32, 9: np.int8}[tensor.type]
        kernel = np.frombuffer(model.buffers[tensor.buffer].data, dtype).reshape(tensor.shape).copy()
        changed = change(kernel, np.random.default_rng(0)).astype(dtype)
        model.buffers[tensor.buffer].data = np.frombuffer(changed.tobytes(), np.uint8)

    return apply


def noise(share: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    """Add noise whose deviation is a share of the kernel's own."""

    def change(kernel: np.ndarray, random: np.random.Generator) -> np.ndarray:
        noisy = kernel + random.normal(0, share * kernel.astype(np.float64).std(), kernel.shape)
        return np.clip(noisy.round(), -127, 127) if kernel.dtype == np.int8 else noisy

    return change


def same_meaning() -> list[Mutation]:
    """Return changes after which a file means the same."""
    return [
        described("keys of the metadata in another order", lambda d: dict(reversed(d.items())), True),
        described("keys of the tokenizer in another order", _reorder("tokenizer"), True),
        described("keys of the processor in another order", _reorder("settings"), True),
        described("special tokens left out, as they are the defaults", _without_special_tokens, True),
        described("accents stripped explicitly, the default with lowercase", _update("tokenizer", "strip_accents", True), True),
        described("an added token without flags", _update("tokenizer", "added_tokens", [{"content": "[CLS]"}]), True),
        described("settings of the processor left out where they are defaults", _without_defaults, True),
        described("written by another version", lambda d: d.update(kerasbert="0.0.9"), True),
        Mutation("metadata without indentation", _rewritten, True),
        Mutation("packed files in another order", _reversed_members, True),
        in_graph("the FlatBuffer packed again", lambda model: None, True),
        in_graph("another description in the FlatBuffer", lambda m: setattr(m, "description", b"packed by another tool"), True),
    ]  # fmt: skip


def _reorder(part: str) -> Callable[[dict], None]:
    return lambda description: description.update({part: dict(reversed(description[part].items()))})


def _without_special_tokens(description: dict) -> None:
    for name in [name for name in description["tokenizer"] if name.endswith("_token")]:
        del description["tokenizer"][name]


def _without_defaults(description: dict) -> None:
    from kerasbert.processors.registry import processor_class

    defaults = {field.name: field.default for field in dataclasses.fields(processor_class(description["problem"]))}
    settings = description["settings"]
    description["settings"] = {name: value for name, value in settings.items() if value != defaults[name]}


def _rewritten(content: bytes) -> bytes:
    members = members_of(content)
    return with_members(content, {**members, DESCRIPTION: json.dumps(json.loads(members[DESCRIPTION]))})


def _reversed_members(content: bytes) -> bytes:
    return with_members(content, dict(reversed(members_of(content).items())))
