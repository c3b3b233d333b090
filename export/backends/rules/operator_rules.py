"""What a backend would take of a file, told by rules and not by running: one mechanism for every backend's table of rules."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from kerasbert.export.tflite.structure import Operator, Subgraph, Tensor
from kerasbert.export.tflite.tflite_file import TFLiteFile


@dataclass(frozen=True)
class Call:
    """An operator call with what rules ask of it: its tensors, its constants, its options."""

    file: TFLiteFile
    graph: Subgraph
    operator: Operator
    widened: frozenset[int] = frozenset()  # tensors that are constants of fewer bits, widened by a DEQUANTIZE

    @property
    def inputs(self) -> tuple[Tensor | None, ...]:
        """None where an input is left out."""
        return tuple(self.graph.tensors[index] if index >= 0 else None for index in self.operator.inputs)

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        return tuple(self.graph.tensors[index] for index in self.operator.outputs if index >= 0)

    @property
    def computed(self) -> tuple[Tensor, ...]:
        """The inputs that are known at run time only."""
        return tuple(self.graph.tensors[index] for index in self.computed_indices)

    @property
    def computed_indices(self) -> tuple[int, ...]:
        """The numbers of the tensors in `computed`."""
        indices = (index for index in self.operator.inputs if index >= 0 and index not in self.widened)
        return tuple(index for index in indices if not self.graph.tensors[index].constant)

    def input(self, number: int) -> Tensor | None:
        """An input by its place, None where there is none."""
        return self.inputs[number] if number < len(self.operator.inputs) else None

    def constant(self, number: int) -> np.ndarray | None:
        """The values of an input by its place; None where it is computed, or not there."""
        tensor = self.input(number)
        return None if tensor is None else self.file.constant(tensor)

    def option(self, name: str, default=0):
        """A number of its options."""
        return self.operator.options.get(name, default)


@dataclass(frozen=True)
class Rule:
    """A limit in words, and why a call does not keep it, in a few more; None: it does."""

    limit: str
    broken: Callable[[Call], str | None]


def rule(limit: str) -> Callable[[Callable[[Call], str | None]], Rule]:
    """A decorator that makes a rule of a function."""
    return lambda broken: Rule(limit, broken)


@rule("fixed shapes")
def fixed_shapes(call: Call) -> str | None:
    """Nothing whose length the caller of the file sets."""
    return "a shape that is not fixed" if any(-1 in t.shape for t in (*call.computed, *call.outputs)) else None


@rule("no tensor twice")
def no_tensor_twice(call: Call) -> str | None:
    """The process of LiteRT's GPU accelerator ends over such a call, and no rule of the older delegate speaks for it."""
    computed = call.computed_indices
    return "the same tensor twice" if len(set(computed)) < len(computed) else None


@dataclass(frozen=True)
class RuleTable:
    """A backend's rules. everywhere: of every call. operators: of each operator that it has; another one is refused.

    backend: whose rules they are. source: where they are written down. unknown: what is said of an operator that it does not have.
    """

    backend: str
    source: str
    everywhere: tuple[Rule, ...]
    operators: Mapping[str, tuple[Rule, ...]]
    unknown: str = "no such operator"

    def refusal(self, call: Call) -> str | None:
        """Why the backend does not take a call, None if it does."""
        if call.operator.custom or call.operator.name not in self.operators:
            return self.unknown
        found = (each.broken(call) for each in (*self.everywhere, *self.operators[call.operator.name]))
        return next((reason for reason in found if reason is not None), None)


@dataclass(frozen=True)
class Verdict:
    """One call of a file: its number in the graph, its operator, and why it is refused, or None."""

    number: int
    operator: str
    refused: str | None


def verdicts(file: TFLiteFile, table: RuleTable, subgraph: int = 0) -> tuple[Verdict, ...]:
    """Every call of a subgraph, in the order of the file."""
    return tuple(
        Verdict(number, call.operator.name, table.refusal(call)) for number, call in enumerate(calls(file, subgraph))
    )


def calls(file: TFLiteFile, subgraph: int = 0) -> Iterator[Call]:
    """The operator calls of a subgraph, in the order of the file."""
    graph = file.subgraphs[subgraph]
    widened = frozenset(
        index
        for operator in graph.operators
        if operator.name == "DEQUANTIZE" and graph.tensors[operator.inputs[0]].constant
        for index in operator.outputs
    )
    return (Call(file, graph, operator, widened) for operator in graph.operators)


def counted(found: tuple[Verdict, ...]) -> dict[tuple[str, str | None], int]:
    """How many calls of which operator there are with which reason, or none; in order of their first."""
    return dict(Counter((verdict.operator, verdict.refused) for verdict in found))


def told(found: tuple[Verdict, ...], most: int = 4) -> str:
    """The refused calls in a line: `3 GATHER: indices of rank 2; ...`."""
    lines = [f"{count} {name}: {reason}" for (name, reason), count in counted(found).items() if reason is not None]
    more = f"; and {len(lines) - most} kinds more" if len(lines) > most else ""
    return "; ".join(lines[:most]) + more


def operators_by_backend(found: tuple[Verdict, ...], backend: str, other: str) -> dict[str, dict[str, int]]:
    """Operator counts of what the backend takes, and of what is left to another one."""
    taken = Counter(verdict.operator for verdict in found if verdict.refused is None)
    left = Counter(verdict.operator for verdict in found if verdict.refused is not None)
    return {backend: dict(taken), other: dict(left)}
