"""A file at the length that a row needs: the shortest of its lengths that fits, or any where the caller sets it."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from kerasbert.export.runtime.interpreter_model import InterpreterModel
from kerasbert.export.runtime.interpreters import open_at_any_length, open_model
from kerasbert.export.tflite.metadata import Metadata

_BUCKET = 16  # a resizable file is opened once for each multiple of this


@dataclass(frozen=True)
class BucketedModel:
    """A file, opened once for each length that is asked for.

    longest: tokens in its longest row. lengths: those of a file with a signature for each. fixed: that of a file of one. open: opens the
    file, which was verified, at a length; by default `open_model`.
    """

    path: str | os.PathLike
    longest: int
    lengths: tuple[int, ...] = ()
    fixed: int | None = None
    threads: int = 1
    kernels: str = "xnnpack"
    open: Callable[[int], InterpreterModel] | None = None
    opened: dict[int, InterpreterModel] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, path: str | os.PathLike, longest: int, threads: int = 1) -> "BucketedModel":
        """Of a file that was verified and may carry no card: it is opened to see. Raises KerasBertError as `open_model` does."""
        model = open_at_any_length(path, threads, verified=True)
        if model.resizable:
            return cls(path, longest, threads=threads)
        return cls(
            path, longest, model.lengths, None if model.lengths else model.length, threads, opened={model.length: model}
        )

    @classmethod
    def of_card(
        cls, path: str | os.PathLike, card: Metadata, longest: int, threads: int, kernels: str, open=None
    ) -> "BucketedModel":
        """Of a file that tells its lengths and was verified; nothing is opened yet."""
        return cls(path, longest, card.lengths or (), card.sequence_length, threads, kernels, open)

    def at(self, tokens: int) -> InterpreterModel:
        """The model for a row of so many tokens; the longest there is, for longer ones."""
        length = self.length(tokens)
        if length not in self.opened:
            other = next(iter(self.opened.values()), None)
            if other is not None and other.lengths:
                self.opened[length] = other.at(length)
            elif self.open is not None:
                self.opened[length] = self.open(length)
            else:
                self.opened[length] = open_model(self.path, self.threads, self.kernels, length, verified=True)
        return self.opened[length]

    def length(self, tokens: int) -> int:
        """The length to run so many tokens at."""
        if self.lengths:
            return next((each for each in self.lengths if each >= tokens), self.lengths[-1])
        return self.fixed or min(-(-tokens // _BUCKET) * _BUCKET, self.longest)
