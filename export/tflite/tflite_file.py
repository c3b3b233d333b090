"""Reads the structure of a `.tflite` file without running it."""

import os
from dataclasses import fields

from kerasbert.export.tflite.reader import read_file
from kerasbert.export.tflite.structure import FileStructure, load_bytes


class TFLiteFile(FileStructure):
    """The structure of a `.tflite` file."""

    @classmethod
    def read(cls, path_or_bytes: str | os.PathLike | bytes) -> "TFLiteFile":
        """Parse a file or its bytes.

        Raises:
            KerasBertError: when the file is missing, is not a `.tflite` file, or is damaged.
        """
        structure = read_file(*load_bytes(path_or_bytes))
        return cls(**{field.name: getattr(structure, field.name) for field in fields(FileStructure)})
