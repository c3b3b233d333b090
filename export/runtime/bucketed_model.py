"""Runs each row at the shortest length of a file that it fits: one of the file's lengths, or a bucket of a resizable file."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from kerasbert.export.runtime.interpreters import open_at_any_length, open_model
from kerasbert.export.runtime.runnable_model import RunnableModel
from kerasbert.export.tflite.metadata import Metadata
from kerasbert.sharing import ThreadLock

_BUCKET = 16  # tokens; a resizable file is opened once for each multiple


@dataclass(frozen=True)
class BucketedModel:
    """A verified file, opened once for each length in use.

    Attributes:
        path: The file.
        longest: Tokens of the longest row.
        lengths: The lengths of a file with several signatures.
        fixed: The length of a file with one signature; None if it is resizable.
        threads: CPU threads of the runtime.
        kernels: The kernel set, see `open_model`.
        open: Opens the file at a length; by default `open_model`.
        opened: The models by length.
        lock: Lets one thread open the file at a length, and others wait.
    """

    path: str | os.PathLike
    longest: int
    lengths: tuple[int, ...] = ()
    fixed: int | None = None
    threads: int = 1
    kernels: str = "xnnpack"
    open: Callable[[int], RunnableModel] | None = None
    opened: dict[int, RunnableModel] = field(default_factory=dict, repr=False)
    lock: ThreadLock = field(default_factory=lambda: ThreadLock("a model"), repr=False, compare=False)

    @classmethod
    def of(cls, path: str | os.PathLike, longest: int, threads: int = 1) -> "BucketedModel":
        """Open a verified file, with or without metadata, to find its lengths.

        Raises:
            KerasBertError: as `open_model` does.
        """
        model = open_at_any_length(path, threads, verified=True)
        if model.resizable or model.length is None:
            return cls(path, longest, threads=threads)
        fixed = None if model.lengths else model.length
        return cls(path, longest, model.lengths, fixed, threads, opened={model.length: model})

    @classmethod
    def of_metadata(
        cls,
        path: str | os.PathLike,
        metadata: Metadata,
        longest: int,
        threads: int,
        kernels: str,
        open: Callable[[int], RunnableModel] | None = None,
    ) -> "BucketedModel":
        """Take the lengths of a verified file from its metadata, without opening it."""
        return cls(path, longest, metadata.lengths or (), metadata.sequence_length, threads, kernels, open)

    def at(self, tokens: int) -> RunnableModel:
        """Return the model for a row of `tokens` tokens; the longest one, if the row fits none."""
        length = self.length(tokens)
        if (model := self.opened.get(length)) is not None:
            return model
        with self.lock.held:
            if length not in self.opened:
                self.opened[length] = self._open(length)
            return self.opened[length]

    def _open(self, length: int) -> RunnableModel:
        other = next(iter(self.opened.values()), None)
        if other is not None and other.lengths:
            return other.at(length)
        if self.open is not None:
            return self.open(length)
        return open_model(self.path, self.threads, self.kernels, length, verified=True)

    def length(self, tokens: int) -> int:
        """Return the length at which a row of `tokens` tokens runs."""
        if self.lengths:
            return next((each for each in self.lengths if each >= tokens), self.lengths[-1])
        return self.fixed or min(-(-tokens // _BUCKET) * _BUCKET, self.longest)
