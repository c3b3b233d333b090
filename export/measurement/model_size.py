"""The size of a converted model: one definition for `convert`, `inspect`, reports and measurements."""

import os
from dataclasses import dataclass
from pathlib import Path

from kerasbert.export.lowering.targets import is_partitioned
from kerasbert.export.tflite.metadata import Metadata
from kerasbert.export.tflite.model_parts import host_path

_LEAST_STORED, _MOST_STORED = 0.5, 2.1  # parameters in the graph for each that was trained


@dataclass(frozen=True)
class ModelSize:
    """The size of a converted model.

    Attributes:
        bytes: Bytes of all files of the model, tokenizer and metadata included.
        parameters: Trained parameters of the model that was converted.
    """

    bytes: int
    parameters: int

    @property
    def bytes_per_parameter(self) -> float:
        """Bytes for each parameter; 0 for a model without parameters."""
        return self.bytes / self.parameters if self.parameters > 0 else 0.0


def model_size(path_or_bytes: str | os.PathLike | bytes, metadata: Metadata | None, constants: int = 0) -> ModelSize:
    """Measure a file, or both files of a partitioned model.

    The number of parameters comes from the metadata. It counts each parameter once, also where several lengths or layers share it, and
    where the file leaves positions out. A number that the graph contradicts is not believed: the constants count then.

    Args:
        path_or_bytes: The file or its content.
        metadata: The file's metadata, if it has any.
        constants: Parameters among the graph's constants, which count for a file without metadata.
    """
    parameters = metadata.parameters if metadata is not None and _is_plausible(metadata, constants) else constants
    if isinstance(path_or_bytes, bytes | bytearray | memoryview):
        return ModelSize(len(path_or_bytes), parameters)
    host = host_path(path_or_bytes)
    partitioned = metadata is not None and is_partitioned(metadata.target) and host.is_file()
    host_bytes = host.stat().st_size if partitioned else 0
    return ModelSize(Path(path_or_bytes).stat().st_size + host_bytes, parameters)


def _is_plausible(metadata: Metadata, constants: int) -> bool:
    """Tell whether a graph with so many constants can have the parameters in the metadata.

    A file may leave positions out, and the target gpu stores the embeddings of a masked language model twice. The accelerator's part of a
    file in two parts has no embeddings.
    """
    if metadata.parameters <= 0 or not constants:
        return metadata.parameters > 0
    lowest = 0.0 if is_partitioned(metadata.target) else _LEAST_STORED
    return lowest <= constants / metadata.parameters <= _MOST_STORED
