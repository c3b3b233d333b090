"""A converted model in memory, and how it is saved."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from kerasbert.export.runtime.partitioned_model import host_path, written_files
from kerasbert.export.tflite.metadata import Metadata, write_sidecar
from kerasbert.files.atomic import atomic_file
from kerasbert.files.own_files import check_own


@dataclass(frozen=True)
class TFLiteModel:
    """A converted model.

    Attributes:
        content: The bytes of the file, with its metadata packed behind the FlatBuffer.
        metadata: The file's metadata.
        host: The bytes of the host model, which turns ids into vectors; only for a partitioned model (target edge-tpu).

    Example:
        ```python
        model = kb.export.convert(task, recipe="dynamic_wi8_afp32")
        len(model.content), model.metadata.recipe
        model.save("dynamic.tflite")
        ```
    """

    content: bytes = field(repr=False)
    metadata: Metadata
    host: bytes | None = field(default=None, repr=False)

    def save(self, path: str | os.PathLike) -> Path:
        """Write the file, its metadata as `<file>.json`, and a host model as `<stem>.host.tflite`; each whole or not at all.

        Args:
            path: The file to write, `.tflite`.

        Returns:
            The path of the file.

        Raises:
            KerasBertError: When one of them would replace a file that kerasbert did not write.
        """
        path = Path(path)
        for place, kind in written_files(path, host=self.host is not None):
            check_own(place, kind, f"the output {place.name}")
        contents = {path: self.content} if self.host is None else {host_path(path): self.host, path: self.content}
        for place, content in contents.items():
            with atomic_file(place) as partial:
                partial.write_bytes(content)
        write_sidecar(path, self.metadata)
        return path
