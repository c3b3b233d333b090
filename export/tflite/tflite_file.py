"""Reads the structure of a `.tflite` file without running it."""

import os
from dataclasses import fields

from kerasbert.export.tflite.reader import read_file
from kerasbert.export.tflite.structure import FileStructure, load_bytes


class TFLiteFile(FileStructure):
    """The structure of a `.tflite` file: graphs, tensors, operators and entry points. See `read`.

    Args:
        size: Bytes of the file, packed metadata included.
        subgraphs: The graphs.
        signatures: The entry points.
        spans: Offset and size of each buffer in bytes.
        data: The file's bytes.

    Example:
        ```python
        file = kb.export.TFLiteFile.read("mine.tflite")
        file.signatures[0].inputs  # tensor indices by input name
        [operator.name for operator in file.subgraphs[0].operators[:3]]
        ```
    """

    @classmethod
    def read(cls, path_or_bytes: str | os.PathLike | bytes) -> "TFLiteFile":
        """Parse a file or its bytes.

        Args:
            path_or_bytes: The file or its content.

        Returns:
            The structure.

        Raises:
            KerasBertError: When the file is missing, is not a `.tflite` file, or is damaged.
        """
        structure = read_file(*load_bytes(path_or_bytes))
        return cls(**{field.name: getattr(structure, field.name) for field in fields(FileStructure)})
