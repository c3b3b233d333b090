"""A model that runs here at one length, whatever runs it; and the loop over rows."""

import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from kerasbert.arguments import shown
from kerasbert.errors import KerasBertError
from kerasbert.ids import check_ids
from kerasbert.sharing import ThreadLock

TEXT_KINDS = "OSU"  # NumPy's kinds of the dtypes of texts

Inputs: TypeAlias = Mapping[str, np.ndarray]  # of one example, by name
Run: TypeAlias = tuple[dict[str, np.ndarray], float]  # outputs of an example by name, and the seconds of the graph
Placement: TypeAlias = tuple[int | None, dict[str, dict[str, int]]]  # delegate partitions, operator counts by kernels


@dataclass(frozen=True)
class Port:
    """One input or output.

    Attributes:
        shape: The shape, with the length filled in.
        dtype: The NumPy dtype.
        quantization: Scale and zero point of integers.
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    quantization: tuple[float, int] = field(default=(0.0, 0), compare=False, repr=False)


@dataclass(frozen=True, repr=False, eq=False)
class Session:
    """A model with batch 1 at one length, whose inputs and outputs are bound by name; whatever runs it.

    It keeps nothing of a row. Several threads may run rows, which take turns.

    Attributes:
        name: The file's name in messages.
        kernels: The kernel set, see `open_model`.
        threads: CPU threads of the runtime.
        inputs: The inputs by name.
        outputs: The outputs by name.
        run_each: Runs checked inputs one after the other, and yields copies of the outputs and the seconds of the graph.
        at: Returns the model of another of its `lengths`: the file is not opened again.
        signature: The signature's name; None for a file without one, whose names are those of tensors.
        resizable: Whether the file leaves its length open.
        lengths: The lengths of a file with a signature for each; empty for a file with one signature.
        vocab_size: Rows of the token embedding table, if the file's metadata has it.
        partitioned: Whether a host model and an accelerator model run as one.
        placement: Returns `partitions` and `ops_by_backend`.
    """

    name: str
    kernels: str
    threads: int
    inputs: Mapping[str, Port]
    outputs: Mapping[str, Port]
    run_each: Callable[[Iterable[Inputs]], Iterator[Run]]
    at: "Callable[[int], Session]"
    signature: str | None = None
    resizable: bool = False
    lengths: tuple[int, ...] = ()
    vocab_size: int | None = None
    partitioned: bool = False
    placement: Callable[[], Placement] = lambda: (None, {})

    @property
    def ops_by_backend(self) -> dict[str, dict[str, int]]:
        """Operator counts by the kernels that run them, such as `{"xnnpack": {"ADD": 2}, "builtin": {"CAST": 1}}`.

        Empty for all signatures but the first, because the interpreter reports no others.
        """
        return self.placement()[1]

    @property
    def partitions(self) -> int | None:
        """The number of delegate partitions: 1 is best, 0 is a graph without the delegate. None for all signatures but the first."""
        return self.placement()[0]

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
        return self.timed(self.checked(inputs))[0]

    def timed(self, inputs: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], float]:
        """Run one example without checking its inputs.

        Args:
            inputs: Arrays of the shapes and dtypes of `inputs`.

        Returns:
            Copies of the outputs by name, and the seconds of the graph, without those of the copies.

        Raises:
            KerasBertError: When an operator failed, or this process was forked from the one that opened the model.
        """
        return next(self.run_each([inputs]))

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
        runs = self.run_each(map(self.checked, token_lists))
        while row := list(itertools.islice(runs, group)):
            outputs = row[0][0]
            if group > 1:
                outputs = {name: np.concatenate([each[name] for each, _ in row]) for name in outputs}
            yield outputs, [seconds for _, seconds in row]

    def run_arrays(self, arrays: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], list[float]]:
        """Run token lists, `(n, length)` by input name.

        Returns:
            The outputs, `(n, ...)` by name, and the seconds of each token list; none for no token list.

        Raises:
            KerasBertError: As `run`.
        """
        token_lists = list(each_token_list(arrays, self.inputs)) if arrays else [arrays]
        return next(self.run_rows(token_lists, len(token_lists) or 1), ({}, []))

    def checked(self, inputs: Inputs) -> Inputs:
        """Return inputs, once names, shapes and dtypes are checked, and that ids are in the vocabulary.

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
        return inputs


def guarded(
    name: str, run: Callable[[Inputs], Run], lock: ThreadLock | None = None
) -> Callable[[Iterable[Inputs]], Iterator[Run]]:
    """Return the `run_each` of a model in this process: threads take turns, and a forked process is refused.

    Args:
        name: The file's name in messages.
        run: Runs one example.
        lock: The lock of a runtime that models of several lengths share.
    """
    lock, owner = lock or ThreadLock(name), os.getpid()

    def run_alone(inputs: Inputs) -> Run:
        if owner != os.getpid():
            raise KerasBertError(
                f"expected {name} to run in the process that opened it, received a fork of that process; open it again"
            )
        with lock.held:
            return run(inputs)

    return functools.partial(map, run_alone)


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
