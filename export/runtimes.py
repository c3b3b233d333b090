"""Finds a TFLite interpreter and opens a model on it; the only place that knows the interpreters' own calls."""

import functools
import importlib
import os
import platform
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export import metadata
from kerasbert.export.tflite_file import check_identifier
from kerasbert.ids import check_ids

SIGNATURE = "serve"
# Name here -> the interpreter's own op resolver. XNNPACK is the default delegate of the first.
KERNELS = {"xnnpack": "BUILTIN", "builtin": "BUILTIN_WITHOUT_DEFAULT_DELEGATES", "reference": "BUILTIN_REF"}
_BATCH = 1


@dataclass(frozen=True)
class Runtime:
    """An interpreter package: `name` and `version` as installed."""

    name: str
    version: str
    interpreter: type
    resolvers: type


@dataclass(frozen=True)
class Port:
    """One input or output: shape with the length filled in, NumPy dtype."""

    shape: tuple[int, ...]
    dtype: np.dtype


@functools.cache
def find_runtime() -> Runtime:
    """LiteRT first, then tflite-runtime, then TensorFlow's own interpreter.

    Raises:
        KerasBertError: none of the three is installed.
    """
    for package, module, resolvers in (
        ("ai_edge_litert", "ai_edge_litert.interpreter", None),
        ("tflite_runtime", "tflite_runtime.interpreter", None),
        ("tensorflow", "tensorflow.lite", "experimental"),
    ):
        try:
            top = importlib.import_module(package)
            found = importlib.import_module(module) if resolvers is None else top.lite
        except (ImportError, AttributeError):
            continue
        holder = found if resolvers is None else found.experimental
        return Runtime(package, getattr(top, "__version__", "unknown"), found.Interpreter, holder.OpResolverType)
    raise KerasBertError(
        "Expected a TFLite runtime (ai-edge-litert or tflite-runtime). Received: an environment without one. Install "
        "ai-edge-litert."
    )


def open_model(
    path_or_bytes: str | os.PathLike | bytes,
    threads: int = 1,
    kernels: str = "xnnpack",
    length: int | None = None,
) -> "RunningModel":
    """Opens a `.tflite` file, ready to run.

    Args:
        path_or_bytes: the file or its content.
        threads: CPU threads of the runtime.
        kernels: `xnnpack` (the default delegate), `builtin` (optimized kernels, no delegate) or `reference`.
        length: the sequence length of a resizable model; a fixed model accepts its own length only.

    Raises:
        KerasBertError: an unknown kernel set, a missing or damaged file, a length that the model cannot take.
    """
    if kernels not in KERNELS:
        raise KerasBertError(f"Expected kernels among {', '.join(KERNELS)}. Received: {kernels!r}.")
    if threads < 1:
        raise KerasBertError(f"Expected at least one thread. Received: {threads}.")
    name = check_identifier(path_or_bytes)
    runtime = find_runtime()
    source = (
        {"model_content": path_or_bytes} if isinstance(path_or_bytes, bytes) else {"model_path": str(path_or_bytes)}
    )
    try:
        interpreter = runtime.interpreter(
            **source, num_threads=threads, experimental_op_resolver_type=runtime.resolvers[KERNELS[kernels]]
        )
        return RunningModel(interpreter, name, kernels, threads, length, _word_rows(path_or_bytes))
    except KerasBertError:
        raise
    except (ValueError, RuntimeError) as error:
        raise KerasBertError(
            f"Expected a model that {_title(runtime)} can open. Received: {name} ({one_line(error)})."
        ) from error


def _word_rows(path_or_bytes) -> int | None:
    try:
        card = metadata.read(path_or_bytes)
    except KerasBertError:  # whoever needs the card reports a damaged one
        return None
    return card.vocab_size if card else None


class RunningModel:
    """A `.tflite` model on an interpreter, its inputs and outputs bound by signature name, batch 1.

    Attributes:
        inputs, outputs: name -> `Port`.
        signature: the signature's name, or None for a file without one (then tensor names are used).
        resizable: whether the file leaves its length open.
        length: the sequence length it runs at, None when no input has one.
        vocab_size: rows of its word table, None when the file does not say so.
    """

    def __init__(
        self, interpreter, name: str, kernels: str, threads: int, length: int | None, vocab_size: int | None = None
    ):
        self.vocab_size = vocab_size
        self._interpreter, self.name, self.kernels, self.threads = interpreter, name, kernels, threads
        self.signature, self._indices, self._output_indices = _bind(interpreter, name)
        details = self._details(self._indices, interpreter.get_input_details())
        self.resizable = any(-1 in detail["shape_signature"] for detail in details.values())
        self._resize(details, length)
        interpreter.allocate_tensors()
        self.inputs = _ports(self._details(self._indices, interpreter.get_input_details()))
        self.outputs = _ports(self._details(self._output_indices, interpreter.get_output_details()))

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

    def check(self, inputs: Mapping[str, np.ndarray]) -> None:
        """Raises KerasBertError unless `inputs` has exactly the model's names, shapes and dtypes, and ids of its vocabulary."""
        if set(inputs) != set(self.inputs):
            raise KerasBertError(
                f"Expected the inputs {_listing(self.inputs)} of {self.name}. Received: {_listing(inputs)}."
            )
        for key, port in self.inputs.items():
            value = np.asarray(inputs[key])
            if value.shape != port.shape:
                hint = "Open the model with that length." if self.resizable else "Pack the texts to that length."
                raise KerasBertError(
                    f"Expected {key!r} of shape {port.shape} for {self.name}. Received: {value.shape}. {hint}"
                )
            if value.dtype != port.dtype:
                raise KerasBertError(
                    f"Expected {key!r} of dtype {port.dtype} for {self.name}. Received: {value.dtype}."
                )

        if self.vocab_size is not None and "input_ids" in inputs:
            # A runtime would read behind the table, or refuse with an operator's number.
            check_ids(inputs["input_ids"], self.vocab_size, self.name)

    def fill(self, inputs: Mapping[str, np.ndarray]) -> None:
        for key, value in inputs.items():
            self._interpreter.set_tensor(self._indices[key], value)

    def invoke(self) -> None:
        try:
            self._interpreter.invoke()
        except (RuntimeError, ValueError) as error:
            raise KerasBertError(
                f"Expected {self.name} to run on {self.kernels} kernels. Received: {one_line(error)}."
            ) from error

    def fetch(self) -> dict[str, np.ndarray]:
        return {key: self._interpreter.get_tensor(index) for key, index in self._output_indices.items()}

    @functools.cached_property
    def ops_by_backend(self) -> dict[str, dict[str, int]]:
        """`{"xnnpack": {operator: count}, "builtin": {...}}`: which operators the delegate took and which it left."""
        return self._placement[1]

    @functools.cached_property
    def partitions(self) -> int:
        """Number of pieces the graph was cut into for the delegate; 1 is best, 0 means that no delegate took part."""
        return self._placement[0]

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

    @staticmethod
    def _details(indices: Mapping[str, int], details: list[dict]) -> dict[str, dict]:
        by_index = {detail["index"]: detail for detail in details}
        return {key: by_index[index] for key, index in indices.items()}

    def _resize(self, details: Mapping[str, dict], length: int | None) -> None:
        if not self.resizable:
            fixed = max((int(d["shape"][-1]) for d in details.values() if len(d["shape"]) == 2), default=None)
            if length is not None and length != fixed:
                raise KerasBertError(
                    f"Expected length {fixed}, the one {self.name} was converted for. Received: {length}. "
                    "Use that length, or convert with a resizable one."
                )
            return
        if length is None or length < 1:
            raise KerasBertError(
                f"Expected a sequence length for {self.name}, which is resizable. Received: {length}. Pass length=..."
            )
        for detail in details.values():
            # Axis 0 is the batch wherever the file leaves both open.
            shape = [
                (_BATCH if axis == 0 else length) if size == -1 else int(size)
                for axis, size in enumerate(detail["shape_signature"])
            ]
            self._interpreter.resize_tensor_input(detail["index"], shape)


def describe_machine() -> dict[str, str]:
    """The machine as a report names it: CPU model, cores, system, Python and runtime version."""
    runtime = find_runtime()
    return {
        "cpu": cpu_model(),
        "cores": str(os.cpu_count() or 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "runtime": _title(runtime),
    }


@functools.cache
def cpu_model() -> str:
    """The CPU's marketing name, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for key in ("model name", "Hardware", "Model"):
        for line in lines:
            if line.startswith(key):
                return " ".join(line.partition(":")[2].split()) or platform.machine()
    return platform.processor() or platform.machine() or "unknown CPU"


def one_line(error: BaseException, limit: int = 200) -> str:
    """An exception's text without its line breaks."""
    return " ".join(str(error).split())[:limit].rstrip(".") or type(error).__name__


def _bind(interpreter, name: str) -> tuple[str | None, dict[str, int], dict[str, int]]:
    """The signature to use (`serve`, or the file's only one; None for files from before signatures) and its tensor
    indices."""
    signatures = list(interpreter.get_signature_list())
    if not signatures:
        inputs = {detail["name"]: detail["index"] for detail in interpreter.get_input_details()}
        outputs = {detail["name"]: detail["index"] for detail in interpreter.get_output_details()}
        return None, inputs, outputs
    chosen = SIGNATURE if SIGNATURE in signatures else signatures[0]
    if chosen != SIGNATURE and len(signatures) > 1:
        raise KerasBertError(f"Expected a signature {SIGNATURE!r} in {name}. Received: {', '.join(signatures)}.")
    # The runner must not outlive this function: an interpreter refuses to run while one holds it.
    runner = interpreter.get_signature_runner(chosen)
    inputs = {key: detail["index"] for key, detail in runner.get_input_details().items()}
    outputs = {key: detail["index"] for key, detail in runner.get_output_details().items()}
    if getattr(runner, "_subgraph_index", 0) != 0:
        raise KerasBertError(f"Expected signature {chosen!r} on the first subgraph of {name}. Received: a later one.")
    return chosen, inputs, outputs


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


def _title(runtime: Runtime) -> str:
    return f"{runtime.name} {runtime.version}"


def _listing(names) -> str:
    return ", ".join(sorted(names)) or "none"
