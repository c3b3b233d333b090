"""A `.tflite` file in memory: its bytes, its metadata and its structure, read and verified once for every step that needs them."""

import functools
import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kerasbert.arguments import check_path
from kerasbert.errors import KerasBertError
from kerasbert.export.tflite import metadata as packed
from kerasbert.export.tflite.graph_reader import Graphs, check_structure, has_schema, read_graphs
from kerasbert.export.tflite.model_parts import check_host, host_path, written_files
from kerasbert.export.tflite.structure import Signature, Subgraph, Tensor, load_bytes
from kerasbert.files.atomic import atomic_file
from kerasbert.files.own_files import check_own

_SIGNATURE = "serve"
_NUMPY = ("float16", "float32", "int8", "int16", "int32", "int64", "uint8", "bool")  # dtypes that NumPy has too


@dataclass(frozen=True)
class ModelFile:
    """A model as a `.tflite` file, which was converted or read.

    Attributes:
        content: The bytes of the file, with its metadata packed behind the FlatBuffer.
        metadata: The file's metadata; None for a file of another tool.
        host: The bytes of the host model, which turns ids into vectors; only for a partitioned model (target edge-tpu) that was converted.
        path: Where it was read from; None for a model in memory.
        graphs: What `read_graphs` returns; None to read it when `subgraphs`, `signatures` or `spans` is first used.

    Example:
        ```python
        model = kb.export.convert(task, recipe="dynamic_wi8_afp32")
        len(model.content), model.metadata.recipe
        model.save("dynamic.tflite")
        file = kb.export.TFLiteFile.read("dynamic.tflite")
        file.signatures[0].inputs  # tensor indices by input name
        [operator.name for operator in file.subgraphs[0].operators[:3]]
        ```
    """

    content: bytes = field(repr=False)
    metadata: packed.Metadata | None
    host: bytes | None = field(default=None, repr=False)
    path: Path | None = None
    graphs: Graphs | None = field(default=None, repr=False, compare=False)

    @classmethod
    def read(cls, path_or_bytes: str | os.PathLike | bytes, name: str | None = None) -> "ModelFile":
        """Read, verify and decode a file or its content.

        Args:
            path_or_bytes: The file or its content.
            name: The name of bytes, for messages.

        Returns:
            The file.

        Raises:
            KerasBertError: When the file is missing, is not a `.tflite` file or is damaged, or when its metadata is.
        """
        content, default_name = load_bytes(path_or_bytes)
        name = name or default_name
        metadata = packed.read_content(content, name)
        path = None if isinstance(path_or_bytes, bytes | bytearray | memoryview) else Path(path_or_bytes)
        return cls(content, metadata, path=path, graphs=check_structure(content, name))

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return "the given bytes" if self.path is None else self.path.name

    @property
    def label(self) -> str:
        """The file's path, for messages."""
        return "the given bytes" if self.path is None else str(self.path)

    @property
    def size(self) -> int:
        """Bytes of the file, packed metadata included."""
        return len(self.content)

    @property
    def data(self) -> bytes:
        """The bytes of the file, as `content`."""
        return self.content

    @functools.cached_property
    def _graphs(self) -> Graphs:
        return self.graphs or read_graphs(self.content, self.label)

    @property
    def subgraphs(self) -> tuple[Subgraph, ...]:
        """The graphs.

        Raises:
            KerasBertError: When the file is damaged, and when neither ai-edge-litert nor TensorFlow is installed.
        """
        return self._graphs[0]

    @property
    def signatures(self) -> tuple[Signature, ...]:
        """The entry points; raises as `subgraphs`."""
        return self._graphs[1]

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Offset and size of each buffer in bytes; raises as `subgraphs`."""
        return self._graphs[2]

    def constant(self, tensor: Tensor) -> np.ndarray | None:
        """Return the values of a constant.

        Args:
            tensor: A tensor of this file.

        Returns:
            The values; None for a computed tensor, and for values below one byte (int4).
        """
        if not tensor.constant or tensor.dtype not in _NUMPY:
            return None
        start, size = self.spans[tensor.buffer]
        dtype = np.dtype(tensor.dtype)
        values = np.frombuffer(self.content, dtype, size // dtype.itemsize, start)
        return values.reshape(tensor.stored_shape) if values.size == tensor.elements else None

    @property
    def resizable(self) -> bool | None:
        """Whether the length is open; None where no FlatBuffer schema is installed."""
        if not has_schema():
            return None
        graph, indices = self.subgraphs[0], self.subgraphs[0].inputs
        signatures = {signature.name: signature for signature in self.signatures}
        if signatures:
            signature = signatures.get(_SIGNATURE) or next(iter(signatures.values()))
            graph, indices = self.subgraphs[signature.subgraph], tuple(signature.inputs.values())
        return any(-1 in graph.tensors[index].shape for index in indices)

    def require_metadata(self, purpose: str) -> packed.Metadata:
        """Return the metadata of a file that must have it.

        Args:
            purpose: The use of the metadata, such as `to run it on texts`; for the message.

        Raises:
            KerasBertError: When the file has none.
        """
        if self.metadata is None:
            raise KerasBertError(
                f"expected kerasbert metadata (vocabulary, labels) in {self.label} {purpose}, received a .tflite file without it; "
                "convert the model with `kerasbert convert`, or pass packed arrays instead of texts"
            )
        return self.metadata

    def check_takes_ids(self, purpose: str) -> None:
        """Check that the file takes token ids. A file without metadata is assumed to take them.

        Args:
            purpose: The use of the file, for the message.

        Raises:
            KerasBertError: When it takes texts.
        """
        if self.metadata is not None and self.metadata.inputs != packed.IDS:
            raise KerasBertError(
                f"expected a file that takes ids {purpose}, received {self.label}, which takes texts; convert the model with inputs of "
                "ids, or score the file with `kerasbert evaluate`"
            )

    def read_host(self) -> "ModelFile":
        """Return the host's part of a model in two parts.

        Raises:
            KerasBertError: When there is no such file beside this one, or it is damaged.
        """
        return ModelFile.read(check_host(self.path) if self.host is None else self.host)

    def save(self, path: str | os.PathLike) -> Path:
        """Write the file, its metadata as `<file>.json`, and a host model as `<stem>.host.tflite`; each whole or not at all.

        Args:
            path: The file to write, `.tflite`.

        Returns:
            The path of the file.

        Raises:
            KerasBertError: When one of them would replace a file that kerasbert did not write.
        """
        path = Path(check_path(path, "a file to write"))
        for place, kind in written_files(path, host=self.host is not None):
            check_own(place, kind, f"the output {place.name}")
        contents = {path: self.content} if self.host is None else {host_path(path): self.host, path: self.content}
        for place, content in contents.items():
            with atomic_file(place) as partial:
                partial.write_bytes(content)
        if self.metadata is not None:
            packed.write_sidecar(path, self.metadata)
        return path


TFLiteFile = ModelFile
"""The public name of `ModelFile`, for files that are read."""
