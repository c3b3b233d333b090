"""A `.tflite` file that was read, verified and decoded once, for every step that needs its bytes or its structure."""

import functools
import os
from dataclasses import dataclass, field
from pathlib import Path

from kerasbert.export.runtime.partitioned_model import check_host
from kerasbert.export.tflite import metadata as packed
from kerasbert.export.tflite.structure import load_bytes
from kerasbert.export.tflite.tflite_file import TFLiteFile, check_structure

_SIGNATURE = "serve"


@dataclass(frozen=True)
class ModelFile:
    """An intact `.tflite` file in memory.

    Attributes:
        path: Where it was read from.
        content: All bytes of the file.
        structure: The decoded graphs; None where only tflite-runtime is installed, which has no schema.
        metadata: The packed metadata; None for a file of another tool.
    """

    path: Path
    content: bytes = field(repr=False)
    structure: TFLiteFile | None = field(repr=False)
    metadata: packed.Metadata | None = field(repr=False)

    @classmethod
    def read(cls, path: str | os.PathLike) -> "ModelFile":
        """Read, verifies and decodes a file.

        Raises:
            KerasBertError: When the file is missing, is not a `.tflite` file or is damaged, or when its metadata is.
        """
        content, name = load_bytes(path)
        metadata = packed.read(content, name)
        return cls(Path(path), content, check_structure(content, name), metadata)

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return self.path.name

    @functools.cached_property
    def host(self) -> "ModelFile":
        """The host's part of a file in two parts.

        Raises:
            KerasBertError: When there is no such file beside this one, or it is damaged.
        """
        return ModelFile.read(check_host(self.path))

    @property
    def resizable(self) -> bool | None:
        """Whether the length is open; None where the structure is not known."""
        if self.structure is None:
            return None
        graph, indices = self.structure.subgraphs[0], self.structure.subgraphs[0].inputs
        signatures = {signature.name: signature for signature in self.structure.signatures}
        if signatures:
            signature = signatures.get(_SIGNATURE) or next(iter(signatures.values()))
            graph, indices = self.structure.subgraphs[signature.subgraph], tuple(signature.inputs.values())
        return any(-1 in graph.tensors[index].shape for index in indices)

    def require_structure(self) -> TFLiteFile:
        """Return the decoded graphs.

        Raises:
            KerasBertError: When no FlatBuffer schema is installed.
        """
        return self.structure or TFLiteFile.read(self.content, str(self.path))
