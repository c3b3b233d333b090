"""How large a converted model is: one definition for `convert`, `inspect`, reports and measurements."""

import os
from dataclasses import dataclass
from pathlib import Path

from kerasbert.export.runtime.partitioned_model import host_path
from kerasbert.export.tflite.metadata import Metadata


@dataclass(frozen=True)
class ModelSize:
    """bytes: of all files of the model, tokenizer and metadata included. parameters: trained numbers of the model that was converted."""

    bytes: int
    parameters: int

    @property
    def bytes_per_parameter(self) -> float:
        """0 for a model without parameters."""
        return self.bytes / self.parameters if self.parameters > 0 else 0.0


def model_size(path_or_bytes: str | os.PathLike | bytes, card: Metadata | None, constants: int = 0) -> ModelSize:
    """The size of a file, or of both files of a model in two parts.

    The card says how many parameters the model has: each is counted once, also where several lengths or layers share it, and where a file
    leaves positions out. constants: those in the graph, which count for a file without a card.
    """
    parameters = card.parameters if card is not None and card.parameters > 0 else constants
    if isinstance(path_or_bytes, bytes | bytearray | memoryview):
        return ModelSize(len(path_or_bytes), parameters)
    host = host_path(path_or_bytes)
    other = host.stat().st_size if card is not None and card.target == "edge-tpu" and host.is_file() else 0
    return ModelSize(Path(path_or_bytes).stat().st_size + other, parameters)
