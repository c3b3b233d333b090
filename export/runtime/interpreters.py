"""Finds a TFLite interpreter and opens a model on it."""

import functools
import importlib
import os
import platform
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kerasbert import __version__
from kerasbert.arguments import check_choice, check_whole_number
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.early_exit import in_turn, stems_of
from kerasbert.export.runtime.interpreter_session import behind, bind, is_body, one_line
from kerasbert.export.runtime.session import Session
from kerasbert.export.tflite import metadata as packed_metadata
from kerasbert.export.tflite.graph_reader import check_structure
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.tflite.model_parts import check_host
from kerasbert.export.tflite.structure import check_identifier, load_bytes
from kerasbert.optional import import_optional
from kerasbert.sharing import ThreadLock

# Kernel set -> the interpreter's op resolver. XNNPACK is the default delegate of the first.
KERNELS = {"xnnpack": "BUILTIN", "builtin": "BUILTIN_WITHOUT_DEFAULT_DELEGATES", "reference": "BUILTIN_REF"}
_MOST_THREADS = 1024
DEFAULT_LENGTH = 128  # tokens, for resizable files


@dataclass(frozen=True)
class Runtime:
    """An installed interpreter package.

    Attributes:
        name: The package.
        version: The installed version.
        interpreter: The interpreter's class.
        resolvers: The enumeration of op resolvers.
    """

    name: str
    version: str
    interpreter: Any
    resolvers: Any


@functools.cache
def find_runtime() -> Runtime:
    """Find an interpreter: LiteRT's, else tflite-runtime's, else TensorFlow's.

    Raises:
        KerasBertError: when none of the three is installed.
    """
    for package in ("ai_edge_litert", "tflite_runtime", "tensorflow"):
        try:
            top = importlib.import_module(package)
            if package == "tensorflow":
                module, resolvers = top.lite, top.lite.experimental
            else:
                module = resolvers = importlib.import_module(f"{package}.interpreter")
        except (ImportError, AttributeError):
            continue
        return Runtime(package, getattr(top, "__version__", "unknown"), module.Interpreter, resolvers.OpResolverType)
    raise KerasBertError(
        "expected a TFLite runtime (ai-edge-litert or tflite-runtime), received an environment without one; install "
        "ai-edge-litert"
    )


def open_model(
    path_or_bytes: str | os.PathLike | bytes | ModelFile,
    threads: int = 1,
    kernels: str = "xnnpack",
    length: int | None = None,
    verified: bool = False,
    default_length: int | None = None,
) -> Session:
    """Open a `.tflite` file, ready to run; a partitioned model (target edge-tpu) together with its host model.

    Args:
        path_or_bytes: The file or its content; a `ModelFile` is not read again.
        threads: CPU threads of the runtime.
        kernels: `xnnpack` (the default delegate), `builtin` (optimized kernels, no delegate) or `reference`.
        length: The sequence length of a resizable model; a fixed model accepts its own length only.
        verified: Whether the file was verified already. Otherwise it is verified first, as runtimes crash on damaged files.
        default_length: The length of a resizable model without `length`; a fixed model ignores it.

    Returns:
        The model, which runs packed inputs of batch 1; `inputs` and `outputs` describe its tensors.

    Raises:
        KerasBertError: When the kernel set is unknown, the file is missing or damaged, or the model cannot take the length.

    Example:
        ```python
        model = kb.export.open_model("mine.tflite", threads=2)
        model.inputs  # shape and dtype by input name
        ```
    """
    settings = _checked(threads, kernels, length, default_length)
    if isinstance(path_or_bytes, ModelFile):
        name, metadata = path_or_bytes.label, path_or_bytes.metadata
        source: dict[str, Any] = {"model_content": path_or_bytes.content}
    else:
        name, metadata = check_identifier(path_or_bytes), _metadata(path_or_bytes)
        if not verified:
            check_structure(*load_bytes(path_or_bytes))
        in_memory = isinstance(path_or_bytes, bytes)
        source = {"model_content": path_or_bytes} if in_memory else {"model_path": str(path_or_bytes)}
    session = _open(source, name, metadata, *settings, default_length)
    if not is_body(session):
        return session
    host = path_or_bytes.read_host() if isinstance(path_or_bytes, ModelFile) else check_host(path_or_bytes)
    return behind(session, open_model(host, *settings))


def _checked(threads: Any, kernels: Any, length: Any, default_length: Any) -> tuple[int, str, int | None]:
    """Return threads, kernels and length, once they and the default length are checked."""
    check_choice(kernels, "kernels among", KERNELS)
    if default_length is not None:
        check_whole_number(default_length, "a default length")
    return check_threads(threads), kernels, None if length is None else check_whole_number(length, "a sequence length")


def _open(
    source: dict[str, Any],
    name: str,
    metadata: packed_metadata.Metadata | None,
    threads: int,
    kernels: str,
    length: int | None,
    default_length: int | None,
) -> Session:
    runtime = find_runtime()
    try:
        interpreter = _interpreter_class(runtime, metadata)(
            **source, num_threads=threads, experimental_op_resolver_type=runtime.resolvers[KERNELS[kernels]]
        )
        vocab_size, lock = metadata.vocab_size if metadata else None, ThreadLock(name)
        stages = [
            bind(interpreter, name, kernels, threads, length, vocab_size, default_length, lock, stem)
            for stem in stems_of(metadata)
        ]
        if metadata is None or not metadata.exits:
            return stages[0]
        return in_turn(stages, metadata.exits, metadata.exit_threshold)
    except KerasBertError:
        raise
    except (ValueError, RuntimeError) as error:
        raise KerasBertError(
            f"expected a model that {_title(runtime)} can open, received {name} ({one_line(error)}); convert it again"
        ) from error


def check_threads(threads: Any) -> int:
    """Return the number of threads of a runtime.

    Raises:
        KerasBertError: When it is not a whole number of at least 1, or larger than any machine needs: each is a thread of the system.
    """
    return check_whole_number(threads, "threads", most=_MOST_THREADS)


def _metadata(path_or_bytes: str | os.PathLike | bytes) -> packed_metadata.Metadata | None:
    try:
        return packed_metadata.read(path_or_bytes)
    except KerasBertError:  # callers that need the metadata report the damage
        return None


def _interpreter_class(runtime: Runtime, metadata: packed_metadata.Metadata | None) -> Any:
    """Return the runtime's interpreter; for a file that takes texts with tensorflow-text's operators, which must be installed."""
    if metadata is None or metadata.inputs == packed_metadata.IDS:
        return runtime.interpreter
    registrar = import_optional("tensorflow_text", "the operators of a file that takes texts").tflite_registrar
    with_operators = importlib.import_module(runtime.interpreter.__module__).InterpreterWithCustomOps
    return functools.partial(with_operators, custom_op_registerers=registrar.SELECT_TFTEXT_OPS)


def describe_machine() -> dict[str, str]:
    """Describe the machine for reports: CPU model, cores, system, package versions and the date. TensorFlow is listed if it is loaded."""
    runtime = find_runtime()
    return {
        "cpu": cpu_model(),
        "cores": str(os.cpu_count() or 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "runtime": _title(runtime),
        **{name: module.__version__ for name in ("tensorflow", "numpy") if (module := sys.modules.get(name))},
        "kerasbert": __version__,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


@functools.cache
def cpu_model() -> str:
    """Return the CPU's marketing name, if the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for key in ("model name", "Hardware", "Model"):
        for line in lines:
            if line.startswith(key):
                return " ".join(line.partition(":")[2].split()) or platform.machine()
    return platform.processor() or platform.machine() or "unknown CPU"


def _title(runtime: Runtime) -> str:
    return f"{runtime.name} {runtime.version}"
