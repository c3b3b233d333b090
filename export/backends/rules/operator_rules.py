"""Rules for the operators that a backend supports: one mechanism for every backend's table. Nothing is run."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.tflite.structure import Operator, Subgraph, Tensor


@dataclass(frozen=True)
class Call:
    """An operator call with its tensors, constants and options.

    Attributes:
        file: The file.
        graph: The subgraph of the call.
        operator: The operator.
        widened: Tensors that are constants of fewer bits, widened by a DEQUANTIZE.
    """

    file: ModelFile
    graph: Subgraph
    operator: Operator
    widened: frozenset[int] = frozenset()

    @property
    def inputs(self) -> tuple[Tensor | None, ...]:
        """Its inputs in order; None where one is left out."""
        return tuple(self.graph.tensors[index] if index >= 0 else None for index in self.operator.inputs)

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """Its outputs in order."""
        return tuple(self.graph.tensors[index] for index in self.operator.outputs if index >= 0)

    @property
    def computed(self) -> tuple[Tensor, ...]:
        """The inputs that are only known at run time."""
        return tuple(self.graph.tensors[index] for index in self.computed_indices)

    @property
    def computed_indices(self) -> tuple[int, ...]:
        """The numbers of the tensors in `computed`."""
        indices = (index for index in self.operator.inputs if index >= 0 and index not in self.widened)
        return tuple(index for index in indices if not self.graph.tensors[index].constant)

    def input(self, number: int) -> Tensor | None:
        """Return an input by its place; None where there is none."""
        return self.inputs[number] if number < len(self.operator.inputs) else None

    def required_input(self, number: int) -> Tensor:
        """Return an input that every call of the operator has.

        Raises:
            KerasBertError: When it is left out.
        """
        tensor = self.input(number)
        if tensor is None:
            raise KerasBertError(
                f"expected input {number} of {self.operator.name}, received a call without it; convert the model again"
            )
        return tensor

    def constant(self, number: int) -> np.ndarray | None:
        """Return the values of an input by its place; None where it is computed, or not there."""
        tensor = self.input(number)
        return None if tensor is None else self.file.constant(tensor)

    def option(self, name: str, default: int | float | bool | str = 0) -> int | float | bool | str:
        """Return an option by its name."""
        return self.operator.options.get(name, default)


@dataclass(frozen=True)
class Rule:
    """A limit of a backend.

    Attributes:
        limit: The limit in words.
        violation: Call -> how it violates the limit; None where it does not.
    """

    limit: str
    violation: Callable[[Call], str | None]


def rule(limit: str) -> Callable[[Callable[[Call], str | None]], Rule]:
    """Decorate a function that returns the violation of a limit, and makes a rule of it."""
    return lambda violation: Rule(limit, violation)


@rule("fixed shapes")
def fixed_shapes(call: Call) -> str | None:
    """Refuse tensors whose length the caller of the file sets."""
    return "a shape that is not fixed" if any(-1 in t.shape for t in (*call.computed, *call.outputs)) else None


@rule("no tensor twice")
def no_tensor_twice(call: Call) -> str | None:
    """Refuse calls over which LiteRT's GPU accelerator crashes; no rule of the older delegate allows them either."""
    computed = call.computed_indices
    return "the same tensor twice" if len(set(computed)) < len(computed) else None


@dataclass(frozen=True)
class RuleTable:
    """The rules of a backend.

    Attributes:
        backend: Its name.
        source: Where the rules are written down.
        everywhere: The rules for every call.
        operators: The rules for each operator that it supports.
        unknown: The reason for every other operator.
    """

    backend: str
    source: str
    everywhere: tuple[Rule, ...]
    operators: Mapping[str, tuple[Rule, ...]]
    unknown: str = "no such operator"

    def unsupported_reason(self, call: Call) -> str | None:
        """Return why the backend does not support a call; None where it does."""
        if call.operator.custom or call.operator.name not in self.operators:
            return self.unknown
        violations = (each.violation(call) for each in (*self.everywhere, *self.operators[call.operator.name]))
        return next((violation for violation in violations if violation is not None), None)


@dataclass(frozen=True)
class OperatorVerdict:
    """The verdict of a backend on one call of a file.

    Attributes:
        number: The call's number in its graph.
        operator: Its name.
        unsupported_reason: The reason why not; None where it does.
    """

    number: int
    operator: str
    unsupported_reason: str | None


def operator_verdicts(file: ModelFile, table: RuleTable, subgraph: int = 0) -> tuple[OperatorVerdict, ...]:
    """Apply a table to every call of a subgraph, in the order of the file."""
    return tuple(
        OperatorVerdict(number, call.operator.name, table.unsupported_reason(call))
        for number, call in enumerate(calls(file, subgraph))
    )


def calls(file: ModelFile, subgraph: int = 0) -> Iterator[Call]:
    """Iterate over the operator calls of a subgraph, in the order of the file."""
    graph = file.subgraphs[subgraph]
    widened = frozenset(
        index
        for operator in graph.operators
        if operator.name == "DEQUANTIZE" and graph.tensors[operator.inputs[0]].constant
        for index in operator.outputs
    )
    return (Call(file, graph, operator, widened) for operator in graph.operators)


def summarize(verdicts: Sequence[OperatorVerdict], most: int = 4) -> str:
    """List the unsupported calls in a line: `3 GATHER: indices of rank 2; ...`."""
    counts = Counter(
        (each.operator, each.unsupported_reason) for each in verdicts if each.unsupported_reason is not None
    )
    lines = [f"{count} {name}: {reason}" for (name, reason), count in counts.items()]
    more = f"; and {len(lines) - most} kinds more" if len(lines) > most else ""
    return "; ".join(lines[:most]) + more


def operators_by_backend(verdicts: Sequence[OperatorVerdict], backend: str, other: str) -> dict[str, dict[str, int]]:
    """Counts the operators that a backend supports, and those that are left to another one."""
    supported = Counter(verdict.operator for verdict in verdicts if verdict.unsupported_reason is None)
    unsupported = Counter(verdict.operator for verdict in verdicts if verdict.unsupported_reason is not None)
    return {backend: dict(supported), other: dict(unsupported)}
