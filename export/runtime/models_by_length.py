"""One file at every length in use: at a given one, or at the shortest that a row fits."""

import functools
import os
from collections.abc import Callable

from kerasbert.export.runtime.interpreters import open_at_any_length, open_model
from kerasbert.export.runtime.runnable_model import RunnableModel
from kerasbert.export.tflite.metadata import Metadata
from kerasbert.sharing import ThreadLock

_BUCKET = 16  # tokens; a resizable file is opened once for each multiple


class ModelsByLength:
    """A verified file, opened once at each length in use. Several threads may ask for models.

    Args:
        open: Opens the file at a length; None stands for any length that it has.
        longest: Tokens of the longest row.
        lengths: The lengths of a file with several signatures.
        fixed: The length of a file with one signature; None if it is resizable.
        opened: A model of the file that is open already.
        bucket: A resizable file runs rows at multiples of so many tokens.
    """

    def __init__(
        self,
        open: Callable[[int | None], RunnableModel],
        longest: int = 0,
        lengths: tuple[int, ...] = (),
        fixed: int | None = None,
        opened: RunnableModel | None = None,
        bucket: int = _BUCKET,
    ):
        self._open, self._longest, self._lengths, self._fixed = open, longest, lengths, fixed
        self._bucket = bucket
        self._models: dict[int | None, RunnableModel] = {} if opened is None else {opened.length: opened}
        self._lock = ThreadLock("a model")  # one thread opens the file at a length, and others wait

    @classmethod
    def of(cls, path: str | os.PathLike, longest: int, threads: int = 1) -> "ModelsByLength":
        """Open a verified file, with or without metadata, to find its lengths.

        Raises:
            KerasBertError: As `open_model` does.
        """
        model = open_at_any_length(path, threads, verified=True)
        opens = functools.partial(open_model, path, threads, "xnnpack", verified=True)
        if model.resizable or model.length is None:
            return cls(opens, longest)
        return cls(opens, longest, model.lengths, None if model.lengths else model.length, model)

    @classmethod
    def of_metadata(
        cls, metadata: Metadata, longest: int, open: Callable[[int | None], RunnableModel]
    ) -> "ModelsByLength":
        """Take the lengths of a verified file from its metadata, without opening it."""
        return cls(open, longest, metadata.lengths or (), metadata.sequence_length)

    def at(self, length: int | None) -> RunnableModel:
        """Return the model at a length; None stands for any length that the file has.

        Raises:
            KerasBertError: As `open_model` does.
        """
        if (model := self._models.get(length)) is not None:
            return model
        with self._lock.held:
            if length not in self._models:
                other = next(iter(self._models.values()), None)
                if other is not None and other.lengths:
                    self._models[length] = other.at(length or other.lengths[-1])
                else:
                    self._models[length] = self._open(length)
            return self._models[length]

    def for_row(self, tokens: int) -> RunnableModel:
        """Return the model for a row of `tokens` tokens; the longest one, if the row fits none."""
        if self._lengths:
            return self.at(next((each for each in self._lengths if each >= tokens), self._lengths[-1]))
        return self.at(self._fixed or min(-(-tokens // self._bucket) * self._bucket, self._longest))
