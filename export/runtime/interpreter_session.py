"""A `.tflite` model on an interpreter of this process."""

import functools
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kerasbert.arguments import argument
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.session import Inputs, Placement, Port, Run, Session, guarded
from kerasbert.export.tflite.model_parts import BIAS, HIDDEN
from kerasbert.sharing import ThreadLock, keep_in_forks

SIGNATURE = "serve"
_BATCH = 1


def bind(
    interpreter: Any,
    name: str,
    kernels: str,
    threads: int,
    length: int | None,
    vocab_size: int | None = None,
    default_length: int | None = None,
    lock: ThreadLock | None = None,
    stem: str = SIGNATURE,
) -> Session:
    """Bind the inputs and outputs of an interpreter by name, at one length.

    Args:
        interpreter: The runtime's interpreter.
        name: The file's name in messages.
        kernels: The kernel set, see `open_model`.
        threads: CPU threads of the runtime.
        length: Tokens of a row; None for the file's own.
        vocab_size: Rows of the token embedding table, if the file's metadata has it.
        default_length: The length of a resizable file without `length`.
        lock: The lock of an interpreter that models of several lengths share.
        stem: The start of the signature's name: `serve`, or that of an exit.

    Raises:
        KerasBertError: When the file does not have that length.
    """
    keep_in_forks(interpreter)
    lengths, lock = _signature_lengths(interpreter, stem), lock or ThreadLock(name)
    signature, subgraph = _choose_signature(interpreter, name, lengths, length, stem)
    inputs, outputs = _tensor_indices(interpreter, signature)
    details = _details(interpreter, inputs, subgraph)
    resizable = any(-1 in detail["shape_signature"] for detail in details.values())
    _resize_inputs(interpreter, subgraph, name, details, length or default_length if resizable else length, resizable)
    if subgraph:
        interpreter._interpreter.AllocateTensors(subgraph)
    else:
        interpreter.allocate_tensors()

    def run(example: Inputs) -> Run:
        try:
            return _run_graph(interpreter, subgraph, inputs, outputs, example)
        except (RuntimeError, ValueError) as error:
            raise KerasBertError(
                f"expected {name} to run on {kernels} kernels, received {one_line(error)}; convert the model again"
            ) from error

    def at(other: int) -> Session:
        with lock.held:
            return bind(interpreter, name, kernels, threads, other, vocab_size, lock=lock, stem=stem)

    placement = functools.partial(_placement, interpreter, "reference" if kernels == "reference" else "builtin")
    return Session(
        name, kernels, threads, _ports(_details(interpreter, inputs, subgraph)), _ports(_details(interpreter, outputs, subgraph)),
        guarded(name, run, lock), at, signature, resizable, lengths, vocab_size,
        placement=(lambda: (None, {})) if subgraph else functools.cache(placement),
    )  # fmt: skip


def behind(body: Session, host: Session) -> Session:
    """Return an accelerator model behind its host model (target edge-tpu): the inputs of that one, and outputs in float32.

    The host model turns ids into vectors, and the body computes with integers only. `kerasbert.export.lowering.partition` makes such files.

    Args:
        body: The accelerator model, see `is_body`.
        host: The host model.

    Raises:
        KerasBertError: When the outputs of the host model do not fit.
    """
    if host.outputs != body.inputs:
        raise KerasBertError(
            f"expected outputs of {host.name} that fit {body.name}, received {_format_ports(host.outputs)} for "
            f"{_format_ports(body.inputs)}; convert the model again"
        )

    def run(inputs: Inputs) -> Run:
        vectors, host_seconds = host.timed(inputs)
        outputs, seconds = body.timed(vectors)
        dequantized = {name: _dequantized(values, body.outputs[name]) for name, values in outputs.items()}
        return dequantized, host_seconds + seconds

    floats = {name: Port(port.shape, np.dtype("float32")) for name, port in body.outputs.items()}
    return replace(body, inputs=host.inputs, outputs=floats, run_each=guarded(body.name, run), partitioned=True)


def is_body(model: Session) -> bool:
    """Tell whether a model is an accelerator model, which takes the outputs of a host model."""
    return set(model.inputs) == {HIDDEN, BIAS}


def _run_graph(
    interpreter: Any, subgraph: int, inputs: Mapping[str, int], outputs: Mapping[str, int], example: Inputs
) -> Run:
    """Run one example. `inputs` and `outputs` are tensor indices by name."""
    for name, value in example.items():
        if subgraph:  # the public methods reach the first subgraph only
            interpreter._interpreter.SetTensor(inputs[name], value, subgraph)
        else:
            interpreter.set_tensor(inputs[name], value)
    start = time.perf_counter()
    if subgraph:
        interpreter._interpreter.Invoke(subgraph)
    else:
        interpreter.invoke()
    seconds = time.perf_counter() - start
    return {name: interpreter.get_tensor(index, subgraph) for name, index in outputs.items()}, seconds


def _dequantized(values: np.ndarray, port: Port) -> np.ndarray:
    if values.dtype == np.float32:
        return values
    scale, zero_point = port.quantization
    return (values.astype(np.float32) - int(zero_point)) * np.float32(scale)


def _placement(interpreter: Any, fallback: str) -> Placement:
    """Count delegate partitions, and operators by the kernels that run them. `fallback`: the kernels outside the delegate."""
    nodes = interpreter._get_ops_details()
    delegates = [node for node in nodes if node["op_name"] == "DELEGATE"]
    operators = [node for node in nodes if node["op_name"] != "DELEGATE"]
    delegated = set().union(*(_delegated_operators(delegate, operators) for delegate in delegates))
    counts = {"xnnpack": Counter(), fallback: Counter()} if delegates else {fallback: Counter()}
    for node in operators:
        counts["xnnpack" if node["index"] in delegated else fallback][node["op_name"]] += 1
    return len(delegates), {backend: dict(counter) for backend, counter in counts.items()}


def _details(interpreter: Any, indices: Mapping[str, int], subgraph: int) -> dict[str, dict[str, Any]]:
    return {name: interpreter._get_tensor_details(index, subgraph) for name, index in indices.items()}


def _resize_inputs(
    interpreter: Any,
    subgraph: int,
    name: str,
    details: Mapping[str, dict[str, Any]],
    length: int | None,
    resizable: bool,
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
        if subgraph:
            interpreter._interpreter.ResizeInputTensor(detail["index"], np.array(shape, np.int32), False, subgraph)
        else:
            interpreter.resize_tensor_input(detail["index"], shape)


def _signature_lengths(interpreter: Any, stem: str) -> tuple[int, ...]:
    """Return N of each signature `serve_N`, in rising order. `stem`: what stands there for `serve`."""
    matches = (re.fullmatch(rf"{stem}_([1-9]\d*)", key) for key in interpreter.get_signature_list())
    return tuple(sorted(int(match[1]) for match in matches if match))


def _choose_signature(
    interpreter: Any, name: str, lengths: tuple[int, ...], length: int | None, stem: str
) -> tuple[str | None, int]:
    """Choose `serve`, the signature of the length, the longest one, or the file's only one.

    Returns:
        The signature's name, None for a file without signatures; and its subgraph.
    """
    signatures = list(interpreter.get_signature_list())
    if not signatures and stem == SIGNATURE:
        return None, 0
    if stem != SIGNATURE and not lengths and stem not in signatures:
        raise KerasBertError(
            f"expected a signature {stem!r} in {name}, as its metadata says, received {', '.join(signatures) or 'none'}; convert the "
            "model again"
        )
    chosen = stem if stem in signatures else signatures[0]
    if chosen != stem and lengths:
        if length is not None and length not in lengths:
            raise KerasBertError(
                f"expected a length of {', '.join(map(str, lengths))}, those {name} was converted for, received {length}; name one of these"
            )
        chosen = f"{stem}_{length or lengths[-1]}"
    elif chosen != stem and len(signatures) > 1:
        raise KerasBertError(
            f"expected a signature {SIGNATURE!r} in {name}, received {', '.join(signatures)}; convert the model with kerasbert"
        )
    subgraph = getattr(interpreter.get_signature_runner(chosen), "_subgraph_index", 0)
    if subgraph and not lengths and stem == SIGNATURE:
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
        key: Port(tuple(int(size) for size in detail["shape"]), np.dtype(detail["dtype"]), detail["quantization"])
        for key, detail in details.items()
    }


def _format_ports(ports: Mapping[str, Port]) -> str:
    return ", ".join(f"{name} {port.dtype} {port.shape}" for name, port in sorted(ports.items()))


def one_line(error: BaseException, limit: int = 200) -> str:
    """Return an exception's text without line breaks, at most `limit` characters."""
    return " ".join(str(error).split())[:limit].rstrip(".") or type(error).__name__
