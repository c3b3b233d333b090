"""A `.tflite` model on an interpreter, bound by names."""

import contextlib
import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.ids import check_ids

SIGNATURE = "serve"
_BATCH = 1


class LengthRequiredError(KerasBertError):
    """A resizable file that was opened without a length."""


@dataclass(frozen=True)
class Port:
    """One input or output: shape with the length filled in, NumPy dtype."""

    shape: tuple[int, ...]
    dtype: np.dtype


class InterpreterModel:
    """A `.tflite` model on an interpreter, its inputs and outputs bound by signature name, batch 1.

    Attributes:
        inputs, outputs: name -> `Port`.
        signature: the signature's name, or None for a file without one (then tensor names are used).
        resizable: whether the file leaves its length open.
        lengths: those of a file with a signature for each; empty for another one.
        length: the sequence length it runs at, None when no input has one.
        vocab_size: rows of its word table, None when the file does not say so.
    """

    def __init__(
        self, interpreter, name: str, kernels: str, threads: int, length: int | None, vocab_size: int | None = None
    ):
        self.vocab_size = vocab_size
        self._interpreter, self.name, self.kernels, self.threads = interpreter, name, kernels, threads
        self.lengths = _lengths(interpreter)
        self.signature, self._subgraph = _chosen(interpreter, name, self.lengths, length)
        self._indices, self._output_indices = _indices(interpreter, self.signature)
        details = self._details(self._indices)
        self.resizable = any(-1 in detail["shape_signature"] for detail in details.values())
        self._resize(details, length)
        if self._subgraph:
            interpreter._interpreter.AllocateTensors(self._subgraph)
        else:
            interpreter.allocate_tensors()
        self.inputs = _ports(self._details(self._indices))
        self.outputs = _ports(self._details(self._output_indices))

    def at(self, length: int) -> "InterpreterModel":
        """The signature of another of its `lengths`, on the same interpreter: the file is not opened again.

        Raises KerasBertError for a length that the file has none for.
        """
        return InterpreterModel(self._interpreter, self.name, self.kernels, self.threads, length, self.vocab_size)

    @property
    def length(self) -> int | None:
        lengths = {port.shape[-1] for port in self.inputs.values() if len(port.shape) == 2}
        return max(lengths, default=None)

    def run(self, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Runs one example; arrays of the exact shapes and dtypes of `inputs`. Returns copies, by output name.

        Raises:
            KerasBertError: a missing or unknown input, a wrong shape or dtype, or an operator that failed.
        """
        self.check(inputs)
        self.fill(inputs)
        self.invoke()
        return self.fetch()

    def run_each(self, rows: Iterable[Mapping[str, np.ndarray]]) -> Iterator[dict[str, np.ndarray]]:
        """The outputs of many examples, one after the other; each as `run` takes and gives it."""
        for inputs in rows:
            yield self.run(inputs)

    def check(self, inputs: Mapping[str, np.ndarray]) -> None:
        """Raises KerasBertError unless `inputs` has exactly the model's names, shapes and dtypes, and ids of its vocabulary."""
        if set(inputs) != set(self.inputs):
            raise KerasBertError(
                f"expected the inputs {_listing(self.inputs)} of {self.name}, received {_listing(inputs)}"
            )
        for key, port in self.inputs.items():
            value = np.asarray(inputs[key])
            if value.shape != port.shape:
                hint = "Open the model with that length." if self.resizable else "Pack the texts to that length."
                raise KerasBertError(
                    f"expected {key!r} of shape {port.shape} for {self.name}, received {value.shape}. {hint}"
                )
            if value.dtype != port.dtype:
                raise KerasBertError(f"expected {key!r} of dtype {port.dtype} for {self.name}, received {value.dtype}")

        if self.vocab_size is not None and "input_ids" in inputs:
            # A runtime would read behind the table, or refuse with an operator's number.
            check_ids(inputs["input_ids"], self.vocab_size, self.name)

    def fill(self, inputs: Mapping[str, np.ndarray]) -> None:
        with self._refusals():
            for key, value in inputs.items():
                if self._subgraph:  # the interpreter's own call knows the first one only
                    self._interpreter._interpreter.SetTensor(self._indices[key], value, self._subgraph)
                else:
                    self._interpreter.set_tensor(self._indices[key], value)

    def invoke(self) -> None:
        with self._refusals():
            if self._subgraph:
                self._interpreter._interpreter.Invoke(self._subgraph)
            else:
                self._interpreter.invoke()

    def fetch(self) -> dict[str, np.ndarray]:
        outputs = self._output_indices.items()
        with self._refusals():
            return {key: self._interpreter.get_tensor(index, self._subgraph) for key, index in outputs}

    @contextlib.contextmanager
    def _refusals(self) -> Iterator[None]:
        """What the runtime raises, as KerasBertError."""
        try:
            yield
        except (RuntimeError, ValueError) as error:
            raise KerasBertError(
                f"expected {self.name} to run on {self.kernels} kernels, received {one_line(error)}"
            ) from error

    def grid(self, output: str) -> tuple[float, int]:
        """The step and the zero point of an output in 8 bits."""
        step, zero = self._details(self._output_indices)[output]["quantization"]
        return float(step), int(zero)

    @functools.cached_property
    def ops_by_backend(self) -> dict[str, dict[str, int]]:
        """`{"xnnpack": {operator: count}, "builtin": {...}}`: which operators the delegate took and which it left. Empty for a signature
        behind the first, of which the interpreter does not tell."""
        return {} if self._subgraph else self._placement[1]

    @functools.cached_property
    def partitions(self) -> int | None:
        """Number of pieces the graph was cut into for the delegate; 1 is best, 0 means that no delegate took part. None for a signature
        behind the first."""
        return None if self._subgraph else self._placement[0]

    @functools.cached_property
    def _placement(self) -> tuple[int, dict[str, dict[str, int]]]:
        nodes = self._interpreter._get_ops_details()
        delegates = [node for node in nodes if node["op_name"] == "DELEGATE"]
        operators = [node for node in nodes if node["op_name"] != "DELEGATE"]
        taken = set().union(*(_inside(delegate, operators) for delegate in delegates))
        left_name = "reference" if self.kernels == "reference" else "builtin"
        counts = {"xnnpack": Counter(), left_name: Counter()} if delegates else {left_name: Counter()}
        for node in operators:
            counts["xnnpack" if node["index"] in taken else left_name][node["op_name"]] += 1
        return len(delegates), {backend: dict(counter) for backend, counter in counts.items()}

    def _details(self, indices: Mapping[str, int]) -> dict[str, dict]:
        return {key: self._interpreter._get_tensor_details(index, self._subgraph) for key, index in indices.items()}

    def _resize(self, details: Mapping[str, dict], length: int | None) -> None:
        if not self.resizable:
            fixed = max((int(d["shape"][-1]) for d in details.values() if len(d["shape"]) == 2), default=None)
            if length is not None and length != fixed:
                raise KerasBertError(
                    f"expected length {fixed}, the one {self.name} was converted for, received {length}; "
                    "use that length, or convert with a resizable one"
                )
            return
        if length is None or length < 1:
            raise LengthRequiredError(
                f"expected a sequence length for {self.name}, which is resizable, received {length}; give `length=`"
            )
        for detail in details.values():
            # Axis 0 is the batch wherever the file leaves both open.
            shape = [
                (_BATCH if axis == 0 else length) if size == -1 else int(size)
                for axis, size in enumerate(detail["shape_signature"])
            ]
            self._interpreter.resize_tensor_input(detail["index"], shape)


def _lengths(interpreter) -> tuple[int, ...]:
    """N of each signature `serve_N`, rising."""
    found = (re.fullmatch(rf"{SIGNATURE}_([1-9]\d*)", key) for key in interpreter.get_signature_list())
    return tuple(sorted(int(match[1]) for match in found if match))


def _chosen(interpreter, name: str, lengths: tuple[int, ...], length: int | None) -> tuple[str | None, int]:
    """The signature to use (`serve`, that of the length or the longest one, or the file's only one; None for files from before signatures)
    and its subgraph."""
    signatures = list(interpreter.get_signature_list())
    if not signatures:
        return None, 0
    chosen = SIGNATURE if SIGNATURE in signatures else signatures[0]
    if chosen != SIGNATURE and lengths:
        if length is not None and length not in lengths:
            raise KerasBertError(
                f"expected a length of {', '.join(map(str, lengths))}, those {name} was converted for, received {length}"
            )
        chosen = f"{SIGNATURE}_{length or lengths[-1]}"
    elif chosen != SIGNATURE and len(signatures) > 1:
        raise KerasBertError(f"expected a signature {SIGNATURE!r} in {name}, received {', '.join(signatures)}")
    subgraph = getattr(interpreter.get_signature_runner(chosen), "_subgraph_index", 0)
    if subgraph and not lengths:
        raise KerasBertError(f"expected signature {chosen!r} on the first subgraph of {name}, received a later one")
    return chosen, subgraph


def _indices(interpreter, signature: str | None) -> tuple[dict[str, int], dict[str, int]]:
    """Tensor indices of inputs and outputs by name."""
    if signature is None:
        sides = (interpreter.get_input_details(), interpreter.get_output_details())
        return tuple({detail["name"]: detail["index"] for detail in side} for side in sides)
    # The runner must not outlive this function: an interpreter refuses to run while one holds it.
    runner = interpreter.get_signature_runner(signature)
    sides = (runner.get_input_details(), runner.get_output_details())
    return tuple({key: detail["index"] for key, detail in side.items()} for side in sides)


def _inside(delegate: Mapping, operators: list[dict]) -> set[int]:
    """Operators that a delegate node replaced: all that lie between its inputs and its outputs."""
    producer = {int(tensor): node for node in operators for tensor in node["outputs"]}
    boundary = {int(tensor) for tensor in delegate["inputs"]}
    open_tensors, found = [int(tensor) for tensor in delegate["outputs"]], set()
    while open_tensors:
        tensor = open_tensors.pop()
        node = producer.get(tensor)
        if node is None or tensor in boundary or node["index"] in found:
            continue
        found.add(node["index"])
        open_tensors.extend(int(source) for source in node["inputs"])
    return found


def _ports(details: Mapping[str, dict]) -> dict[str, Port]:
    return {
        key: Port(tuple(int(size) for size in detail["shape"]), np.dtype(detail["dtype"]))
        for key, detail in details.items()
    }


def _listing(names) -> str:
    return ", ".join(sorted(names)) or "none"


def one_line(error: BaseException, limit: int = 200) -> str:
    """An exception's text without its line breaks."""
    return " ".join(str(error).split())[:limit].rstrip(".") or type(error).__name__
