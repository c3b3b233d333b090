"""The interface of every model that runs here at one length, whatever runs it; and the loop over rows."""

import abc
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from kerasbert.arguments import shown
from kerasbert.errors import KerasBertError
from kerasbert.ids import check_ids
from kerasbert.sharing import ThreadLock

TEXT_KINDS = "OSU"  # NumPy's kinds of the dtypes of texts


@dataclass(frozen=True)
class Port:
    """One input or output.

    Attributes:
        shape: The shape, with the length filled in.
        dtype: The NumPy dtype.
    """

    shape: tuple[int, ...]
    dtype: np.dtype


class Session(abc.ABC):
    """A `.tflite` model with batch 1 at one length, whose inputs and outputs are bound by name.

    It keeps nothing of a row. Several threads may run rows, which take turns.

    Attributes:
        name: The file's name in messages.
        kernels: The kernel set, see `open_model`.
        threads: CPU threads of the runtime.
        inputs: The inputs by name.
        outputs: The outputs by name.
        signature: The signature's name; None for a file without one, whose names are those of tensors.
        resizable: Whether the file leaves its length open.
        lengths: The lengths of a file with a signature for each; empty for a file with one signature.
        vocab_size: Rows of the token embedding table, if the file's metadata has it.
        partitioned: Whether a host model and an accelerator model run as one.
    """

    partitioned = False

    def __init__(
        self,
        name: str,
        kernels: str,
        threads: int,
        *,
        inputs: Mapping[str, Port],
        outputs: Mapping[str, Port],
        signature: str | None = None,
        resizable: bool = False,
        lengths: tuple[int, ...] = (),
        vocab_size: int | None = None,
        lock: ThreadLock | None = None,
    ):
        self._lock, self._process_id = lock or ThreadLock(name), os.getpid()
        self.name, self.kernels, self.threads = name, kernels, threads
        self.inputs, self.outputs, self.signature = dict(inputs), dict(outputs), signature
        self.resizable, self.lengths, self.vocab_size = resizable, lengths, vocab_size

    @abc.abstractmethod
    def at(self, length: int) -> "Session":
        """Return the model of another of its `lengths`: the file is not opened again.

        Raises:
            KerasBertError: When the file has no signature of that length.
        """

    @abc.abstractmethod
    def run_unlocked(self, inputs: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], float]:
        """Run one example as `timed` does, for a caller that keeps other threads out."""

    @property
    def ops_by_backend(self) -> dict[str, dict[str, int]]:
        """Operator counts by the kernels that run them, such as `{"xnnpack": {"ADD": 2}, "builtin": {"CAST": 1}}`.

        Empty for all signatures but the first, because the interpreter reports no others.
        """
        return {}

    @property
    def partitions(self) -> int | None:
        """The number of delegate partitions: 1 is best, 0 is a graph without the delegate. None for all signatures but the first."""
        return None

    @property
    def length(self) -> int | None:
        """Tokens of a row; None if no input has two axes."""
        lengths = {port.shape[-1] for port in self.inputs.values() if len(port.shape) == 2}
        return max(lengths, default=None)

    def run(self, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Run one example.

        Args:
            inputs: Arrays of the shapes and dtypes of `inputs`.

        Returns:
            Copies of the outputs by name.

        Raises:
            KerasBertError: when an input is missing, unknown, or of another shape or dtype, or an operator failed.
        """
        self.check(inputs)
        return self.timed(inputs)[0]

    def timed(self, inputs: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], float]:
        """Run one example without checking its inputs.

        Args:
            inputs: Arrays of the shapes and dtypes of `inputs`.

        Returns:
            Copies of the outputs by name, and the seconds of the graph, without those of the copies.

        Raises:
            KerasBertError: When an operator failed, or this process was forked from the one that opened the model.
        """
        if self._process_id != os.getpid():
            raise KerasBertError(
                f"expected {self.name} to run in the process that opened it, received a fork of that process; open it again"
            )
        with self._lock.held:
            return self.run_unlocked(inputs)

    def run_ones(self) -> None:
        """Run one example of ones, which shows that the file runs.

        Raises:
            KerasBertError: As `timed`.
        """
        self.timed({name: np.ones(port.shape, port.dtype) for name, port in self.inputs.items()})

    def run_rows(
        self, token_lists: Iterable[Mapping[str, np.ndarray]], group: int = 1
    ) -> Iterator[tuple[dict[str, np.ndarray], list[float]]]:
        """Run rows one after the other: the one loop over rows.

        Args:
            token_lists: The inputs of each token list as `run` takes them, row by row.
            group: Token lists in a row.

        Yields:
            The outputs of a row's token lists, `(group, ...)` by name, and the seconds of each.
        """
        runs = self._run_each(token_lists)
        while row := list(itertools.islice(runs, group)):
            outputs = row[0][0]
            if group > 1:
                outputs = {name: np.concatenate([each[name] for each, _ in row]) for name in outputs}
            yield outputs, [seconds for _, seconds in row]

    def _run_each(
        self, token_lists: Iterable[Mapping[str, np.ndarray]]
    ) -> Iterator[tuple[dict[str, np.ndarray], float]]:
        for inputs in token_lists:
            self.check(inputs)
            yield self.timed(inputs)

    def run_arrays(self, arrays: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], list[float]]:
        """Run token lists, `(n, length)` by input name.

        Returns:
            The outputs, `(n, ...)` by name, and the seconds of each token list; none for no token list.

        Raises:
            KerasBertError: As `run`.
        """
        token_lists = list(each_token_list(arrays, self.inputs)) if arrays else [arrays]
        return next(self.run_rows(token_lists, len(token_lists) or 1), ({}, []))

    def check(self, inputs: Mapping[str, np.ndarray]) -> None:
        """Check names, shapes and dtypes of inputs, and that ids are in the vocabulary.

        Raises:
            KerasBertError: when they do not fit the model.
        """
        if not isinstance(inputs, Mapping):
            raise KerasBertError(
                f"expected the inputs of {self.name} as a dict of arrays by name, received {shown(inputs)}; pass a dict"
            )
        if set(inputs) != set(self.inputs):
            raise KerasBertError(
                f"expected the inputs {_join(self.inputs)} of {self.name}, received {_join(inputs)}; pass exactly these"
            )
        for key, port in self.inputs.items():
            value = np.asarray(inputs[key])
            if value.shape != port.shape:
                advice = "open the model with that length" if self.resizable else "pack the texts to that length"
                raise KerasBertError(
                    f"expected {key!r} of shape {port.shape} for {self.name}, received {value.shape}; {advice}"
                )
            if value.dtype != port.dtype and not (value.dtype.kind in TEXT_KINDS and port.dtype.kind in TEXT_KINDS):
                raise KerasBertError(
                    f"expected {key!r} of dtype {port.dtype} for {self.name}, received {value.dtype}; convert the array"
                )
        if self.vocab_size is not None and "input_ids" in inputs:
            # A runtime would read behind the table, or refuse with an operator's number.
            check_ids(inputs["input_ids"], self.vocab_size, self.name)


def each_token_list(arrays: Mapping[str, np.ndarray], names: Iterable[str]) -> Iterator[dict[str, np.ndarray]]:
    """Yield the inputs of each token list, `(1, length)` by name.

    Args:
        arrays: Token lists, `(n, length)` by name.
        names: The names of the inputs.
    """
    names = [name for name in names if name in arrays]
    for number in range(len(next(iter(arrays.values())))):
        yield {name: arrays[name][number : number + 1] for name in names}


def _join(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
