"""A file at every length in use: each row runs at the shortest length that it fits."""

import functools
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreters import DEFAULT_LENGTH, open_model
from kerasbert.export.runtime.session import TEXT_KINDS, Session
from kerasbert.export.tflite.metadata import TEXT
from kerasbert.processors.features import Features
from kerasbert.sharing import ThreadLock

Report: TypeAlias = Callable[[int, int], None]  # called with the rows done and all rows
_BUCKET = 16  # tokens; a resizable file is opened once for each multiple


class Runner:
    """A verified file, opened once at each length in use. It keeps nothing of a row; several threads may run rows.

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
        open: Callable[[int | None], Session],
        longest: int = 0,
        lengths: tuple[int, ...] = (),
        fixed: int | None = None,
        opened: Session | None = None,
        bucket: int = _BUCKET,
    ):
        self._open, self._longest, self._lengths, self._fixed = open, longest, lengths, fixed
        self._bucket = bucket
        self._sessions: dict[int | None, Session] = {} if opened is None else {opened.length: opened}
        self._lock = ThreadLock("a model")  # one thread opens the file at a length, and others wait

    @classmethod
    def of(cls, path: str | os.PathLike, longest: int, threads: int = 1) -> "Runner":
        """Open a verified file, with or without metadata, to find its lengths.

        Raises:
            KerasBertError: As `open_model` does.
        """
        session = open_model(path, threads, verified=True, default_length=DEFAULT_LENGTH)
        opens = functools.partial(open_model, path, threads, "xnnpack", verified=True)
        if session.resizable or session.length is None:
            return cls(opens, longest)
        return cls(opens, longest, session.lengths, None if session.lengths else session.length, session)

    def at(self, length: int | None) -> Session:
        """Return the model at a length; None stands for any length that the file has.

        Raises:
            KerasBertError: As `open_model` does.
        """
        if (session := self._sessions.get(length)) is not None:
            return session
        with self._lock.held:
            if length not in self._sessions:
                other = next(iter(self._sessions.values()), None)
                if other is not None and other.lengths:
                    self._sessions[length] = other.at(length or other.lengths[-1])
                else:
                    self._sessions[length] = self._open(length)
            return self._sessions[length]

    def for_row(self, tokens: int) -> Session:
        """Return the model for a row of `tokens` tokens; the longest one, if the row fits none."""
        if self._lengths:
            return self.at(next((each for each in self._lengths if each >= tokens), self._lengths[-1]))
        return self.at(self._fixed or min(-(-tokens // self._bucket) * self._bucket, self._longest))

    def run(
        self,
        features: Features,
        pad_id: int,
        check: Callable[[Session], None],
        texts: Sequence[Any] | None = None,
        report: Report | None = None,
    ) -> Iterator[tuple[int, dict[str, np.ndarray], int]]:
        """Run rows, those of one length in sequence.

        Args:
            features: The rows.
            pad_id: The id of the padding token.
            check: Called with each model before it runs; raises an error if it does not fit.
            texts: The example of each row, for a file with the tokenizer in its graph.
            report: Called with the rows done and all rows.

        Yields:
            A row's number, the outputs of its token lists by name, `(group, ...)`, and the tokens of the row that ran, padding included.

        Raises:
            KerasBertError: When a model does not take rows, or an operator failed.
        """
        by_length = map(int, np.argsort(features.lengths, kind="stable"))  # each model runs all its rows in sequence
        grouped = itertools.groupby(by_length, lambda row: self.for_row(int(features.lengths[row])))
        done = 0
        for session, group in grouped if texts is None else [(self.at(None), range(len(texts)))]:
            check(session)
            rows = list(group)
            if texts is not None:
                inputs = _texts(session, texts)
            elif session.length is not None:
                inputs = features.each_list(rows, session.length, pad_id, session.inputs)
            else:
                raise KerasBertError(
                    f"expected {session.name} to take rows of tokens, received others; convert the model again"
                )
            for row, (outputs, _) in zip(rows, session.run_rows(inputs, features.group), strict=True):
                yield row, outputs, session.length or self._longest
                done += 1
                if report is not None:
                    report(done, len(features))


def _texts(session: Session, examples: Sequence[Any]) -> Iterator[dict[str, np.ndarray]]:
    """Yield the inputs of a file with the tokenizer in its graph."""
    if (dtype := session.inputs[TEXT].dtype).kind not in TEXT_KINDS:
        raise KerasBertError(
            f"expected an input of texts in {session.name}, as its metadata says, received one of {dtype}; convert the model again"
        )
    for example in examples:
        text, pair = example if isinstance(example, tuple) else (example, None)
        if pair is not None:
            raise KerasBertError(
                f"expected one text an example for {session.name}, which takes texts, received a pair; use a file that takes ids"
            )
        yield {TEXT: np.array([text])}
