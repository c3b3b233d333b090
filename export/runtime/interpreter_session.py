"""A `.tflite` model on an interpreter of this process."""

import contextlib
import functools
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kerasbert.arguments import argument
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.session import Port, Session
from kerasbert.export.tflite.model_parts import BIAS, HIDDEN
from kerasbert.sharing import ThreadLock, keep_in_forks

SIGNATURE = "serve"
_BATCH = 1


class InterpreterSession(Session):
    """A `.tflite` model on an interpreter of this process.

    A model in two parts (target edge-tpu) runs as one: the host model turns ids into vectors, and the accelerator model (the body)
    computes with integers only. `kerasbert.export.lowering.partition` makes such files.

    Args:
        interpreter: The runtime's interpreter.
        name: The file's name in messages.
        kernels: The kernel set, see `open_model`.
        threads: CPU threads of the runtime.
        length: Tokens of a row; None for the file's own.
        vocab_size: Rows of the token embedding table, if the file's metadata has it.
        lock: The lock of an interpreter that models of several lengths share.
        default_length: The length of a resizable file without `length`.

    Raises:
        KerasBertError: When the file does not have that length.
    """

    def __init__(
        self,
        interpreter: Any,
        name: str,
        kernels: str,
        threads: int,
        length: int | None,
        vocab_size: int | None = None,
        lock: ThreadLock | None = None,
        default_length: int | None = None,
    ):
        keep_in_forks(interpreter)
        lengths = _signature_lengths(interpreter)
        signature, self._subgraph = _choose_signature(interpreter, name, lengths, length)
        self._interpreter = interpreter
        self._input_indices, self._output_indices = _tensor_indices(interpreter, signature)
        details = self._details(self._input_indices)
        resizable = any(-1 in detail["shape_signature"] for detail in details.values())
        _resize_inputs(interpreter, name, details, length or default_length if resizable else length, resizable)
        if self._subgraph:
            interpreter._interpreter.AllocateTensors(self._subgraph)
        else:
            interpreter.allocate_tensors()
        super().__init__(
            name, kernels, threads,
            inputs=_ports(self._details(self._input_indices)), outputs=_ports(self._details(self._output_indices)),
            signature=signature, resizable=resizable, lengths=lengths, vocab_size=vocab_size, lock=lock,
        )  # fmt: skip
        self._host: Session | None = None

    @property
    def is_body(self) -> bool:
        """Whether this is an accelerator model, which takes the outputs of a host model."""
        return set(self.inputs) == {HIDDEN, BIAS}

    def behind(self, host: Session) -> "InterpreterSession":
        """Return this accelerator model behind its host model: the inputs of that one, and outputs in float32.

        Raises:
            KerasBertError: When the outputs of the host model do not fit.
        """
        if host.outputs != self.inputs:
            raise KerasBertError(
                f"expected outputs of {host.name} that fit {self.name}, received {_format_ports(host.outputs)} for "
                f"{_format_ports(self.inputs)}; convert the model again"
            )
        self._host, self.partitioned, self.inputs = host, True, host.inputs
        self.outputs = {name: Port(port.shape, np.dtype("float32")) for name, port in self.outputs.items()}
        return self

    def at(self, length: int) -> "InterpreterSession":
        settings = self.name, self.kernels, self.threads, length, self.vocab_size, self._lock
        with self._lock.held:
            return InterpreterSession(self._interpreter, *settings)

    def run_unlocked(self, inputs: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], float]:
        if self._host is None:
            return self._run_graph(inputs)
        vectors, host_seconds = self._host.run_unlocked(inputs)
        outputs, seconds = self._run_graph(vectors)
        return {name: self._dequantized(name, values) for name, values in outputs.items()}, host_seconds + seconds

    def _run_graph(self, inputs: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], float]:
        interpreter, outputs = self._interpreter, self._output_indices.items()
        with self._runtime_errors():
            for key, value in inputs.items():
                if self._subgraph:  # the public methods reach the first subgraph only
                    interpreter._interpreter.SetTensor(self._input_indices[key], value, self._subgraph)
                else:
                    interpreter.set_tensor(self._input_indices[key], value)
            start = time.perf_counter()
            if self._subgraph:
                interpreter._interpreter.Invoke(self._subgraph)
            else:
                interpreter.invoke()
            seconds = time.perf_counter() - start
            return {key: interpreter.get_tensor(index, self._subgraph) for key, index in outputs}, seconds

    @contextlib.contextmanager
    def _runtime_errors(self) -> Iterator[None]:
        """Raise the runtime's exceptions as KerasBertError."""
        try:
            yield
        except (RuntimeError, ValueError) as error:
            raise KerasBertError(
                f"expected {self.name} to run on {self.kernels} kernels, received {one_line(error)}; convert the model again"
            ) from error

    def _dequantized(self, output: str, values: np.ndarray) -> np.ndarray:
        if values.dtype == np.float32:
            return values
        scale, zero_point = self._details(self._output_indices)[output]["quantization"]
        return (values.astype(np.float32) - int(zero_point)) * np.float32(scale)

    @property
    def ops_by_backend(self) -> dict[str, dict[str, int]]:
        return {} if self._subgraph else self._placement[1]

    @property
    def partitions(self) -> int | None:
        return None if self._subgraph else self._placement[0]

    @functools.cached_property
    def _placement(self) -> tuple[int, dict[str, dict[str, int]]]:
        nodes = self._interpreter._get_ops_details()
        delegates = [node for node in nodes if node["op_name"] == "DELEGATE"]
        operators = [node for node in nodes if node["op_name"] != "DELEGATE"]
        delegated = set().union(*(_delegated_operators(delegate, operators) for delegate in delegates))
        fallback = "reference" if self.kernels == "reference" else "builtin"
        counts = {"xnnpack": Counter(), fallback: Counter()} if delegates else {fallback: Counter()}
        for node in operators:
            counts["xnnpack" if node["index"] in delegated else fallback][node["op_name"]] += 1
        return len(delegates), {backend: dict(counter) for backend, counter in counts.items()}

    def _details(self, indices: Mapping[str, int]) -> dict[str, dict[str, Any]]:
        return {key: self._interpreter._get_tensor_details(index, self._subgraph) for key, index in indices.items()}


def _resize_inputs(
    interpreter: Any, name: str, details: Mapping[str, dict[str, Any]], length: int | None, resizable: bool
) -> None:
    """Resize the inputs of a resizable file to `length`; for another one it checks the length."""
    if not resizable:
        fixed = max((int(d["shape"][-1]) for d in details.values() if len(d["shape"]) == 2), default=None)
        if length is not None and length != fixed:
            raise KerasBertError(
                f"expected length {fixed}, the one {name} was converted for, received {length}; "
                "use that length, or convert with a resizable one"
            )
        return
    if length is None or length < 1:
        raise KerasBertError(
            f"expected a sequence length for {name}, which is resizable, received {length}; give {argument('length')}"
        )
    for detail in details.values():
        # Axis 0 is the batch wherever the file leaves both open.
        shape = [
            (_BATCH if axis == 0 else length) if size == -1 else int(size)
            for axis, size in enumerate(detail["shape_signature"])
        ]
        interpreter.resize_tensor_input(detail["index"], shape)


def _signature_lengths(interpreter: Any) -> tuple[int, ...]:
    """Return N of each signature `serve_N`, in rising order."""
    matches = (re.fullmatch(rf"{SIGNATURE}_([1-9]\d*)", key) for key in interpreter.get_signature_list())
    return tuple(sorted(int(match[1]) for match in matches if match))


def _choose_signature(
    interpreter: Any, name: str, lengths: tuple[int, ...], length: int | None
) -> tuple[str | None, int]:
    """Choose `serve`, the signature of the length, the longest one, or the file's only one.

    Returns:
        The signature's name, None for a file without signatures; and its subgraph.
    """
    signatures = list(interpreter.get_signature_list())
    if not signatures:
        return None, 0
    chosen = SIGNATURE if SIGNATURE in signatures else signatures[0]
    if chosen != SIGNATURE and lengths:
        if length is not None and length not in lengths:
            raise KerasBertError(
                f"expected a length of {', '.join(map(str, lengths))}, those {name} was converted for, received {length}; name one of these"
            )
        chosen = f"{SIGNATURE}_{length or lengths[-1]}"
    elif chosen != SIGNATURE and len(signatures) > 1:
        raise KerasBertError(
            f"expected a signature {SIGNATURE!r} in {name}, received {', '.join(signatures)}; convert the model with kerasbert"
        )
    subgraph = getattr(interpreter.get_signature_runner(chosen), "_subgraph_index", 0)
    if subgraph and not lengths:
        raise KerasBertError(
            f"expected signature {chosen!r} on the first subgraph of {name}, received a later one; convert the model with kerasbert"
        )
    return chosen, subgraph


def _tensor_indices(interpreter: Any, signature: str | None) -> tuple[dict[str, int], dict[str, int]]:
    """Return the tensor indices of inputs and of outputs by name."""
    if signature is None:
        inputs, outputs = (
            {detail["name"]: detail["index"] for detail in side}
            for side in (interpreter.get_input_details(), interpreter.get_output_details())
        )
        return inputs, outputs
    # The runner must not outlive this function: an interpreter refuses to run while one holds it.
    runner = interpreter.get_signature_runner(signature)
    inputs, outputs = (
        {key: detail["index"] for key, detail in side.items()}
        for side in (runner.get_input_details(), runner.get_output_details())
    )
    return inputs, outputs


def _delegated_operators(delegate: Mapping[str, Any], operators: Sequence[Mapping[str, Any]]) -> set[int]:
    """Return the operators that a delegate node replaced: all between its inputs and its outputs."""
    producer = {int(tensor): node for node in operators for tensor in node["outputs"]}
    boundary = {int(tensor) for tensor in delegate["inputs"]}
    pending, replaced = [int(tensor) for tensor in delegate["outputs"]], set()
    while pending:
        tensor = pending.pop()
        node = producer.get(tensor)
        if node is None or tensor in boundary or node["index"] in replaced:
            continue
        replaced.add(node["index"])
        pending.extend(int(source) for source in node["inputs"])
    return replaced


def _ports(details: Mapping[str, dict[str, Any]]) -> dict[str, Port]:
    return {
        key: Port(tuple(int(size) for size in detail["shape"]), np.dtype(detail["dtype"]))
        for key, detail in details.items()
    }


def _format_ports(ports: Mapping[str, Port]) -> str:
    return ", ".join(f"{name} {port.dtype} {port.shape}" for name, port in sorted(ports.items()))


def one_line(error: BaseException, limit: int = 200) -> str:
    """Return an exception's text without line breaks, at most `limit` characters."""
    return " ".join(str(error).split())[:limit].rstrip(".") or type(error).__name__
