"""Finds a TFLite interpreter and opens a model on it."""

import functools
import importlib
import os
import platform
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from kerasbert import __version__
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreter_model import InterpreterModel, LengthRequiredError, one_line
from kerasbert.export.runtime.partitioned_model import PartitionedModel, check_host, is_body
from kerasbert.export.runtime.verified_file import VerifiedFile
from kerasbert.export.tflite import metadata
from kerasbert.export.tflite.reader import check_structure
from kerasbert.export.tflite.structure import check_identifier
from kerasbert.optional import import_optional

# Name here -> the interpreter's own op resolver. XNNPACK is the default delegate of the first.
KERNELS = {"xnnpack": "BUILTIN", "builtin": "BUILTIN_WITHOUT_DEFAULT_DELEGATES", "reference": "BUILTIN_REF"}
DEFAULT_LENGTH = 128  # tokens, where a file leaves it open


@dataclass(frozen=True)
class Runtime:
    """An interpreter package: `name` and `version` as installed."""

    name: str
    version: str
    interpreter: type
    resolvers: type


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
        "expected a TFLite runtime (ai-edge-litert or tflite-runtime), received an environment without one; install "
        "ai-edge-litert"
    )


def open_model(
    path_or_bytes: str | os.PathLike | bytes | VerifiedFile,
    threads: int = 1,
    kernels: str = "xnnpack",
    length: int | None = None,
    verified: bool = False,
) -> "InterpreterModel":
    """Opens a `.tflite` file, ready to run; one in two parts (target edge-tpu) with the other part beside it.

    Args:
        path_or_bytes: the file or its content; a `VerifiedFile` is not read again.
        threads: CPU threads of the runtime.
        kernels: `xnnpack` (the default delegate), `builtin` (optimized kernels, no delegate) or `reference`.
        length: the sequence length of a resizable model; a fixed model accepts its own length only.
        verified: whether `check_structure` has seen the file already; else it is verified first, as runtimes crash on damaged ones.

    Raises:
        KerasBertError: an unknown kernel set, a missing or damaged file, a length that the model cannot take.
    """
    if kernels not in KERNELS:
        raise KerasBertError(f"expected kernels among {', '.join(KERNELS)}, received {kernels!r}")
    if threads < 1:
        raise KerasBertError(f"expected at least one thread, received {threads}")
    if isinstance(path_or_bytes, VerifiedFile):
        name, card, source = str(path_or_bytes.path), path_or_bytes.metadata, {"model_content": path_or_bytes.content}
    else:
        name, card = check_identifier(path_or_bytes), _card(path_or_bytes)
        if not verified:
            check_structure(path_or_bytes)
        source = (
            {"model_content": path_or_bytes} if isinstance(path_or_bytes, bytes) else {"model_path": str(path_or_bytes)}
        )
    runtime = find_runtime()
    try:
        interpreter = _interpreter_class(runtime, card)(
            **source, num_threads=threads, experimental_op_resolver_type=runtime.resolvers[KERNELS[kernels]]
        )
        model = InterpreterModel(interpreter, name, kernels, threads, length, card.vocab_size if card else None)
        if is_body(model):
            host = path_or_bytes.host if isinstance(path_or_bytes, VerifiedFile) else check_host(path_or_bytes)
            return PartitionedModel(open_model(host, threads, kernels, length), model)
        return model
    except KerasBertError:
        raise
    except (ValueError, RuntimeError) as error:
        raise KerasBertError(
            f"expected a model that {_title(runtime)} can open, received {name} ({one_line(error)})"
        ) from error


def open_at_any_length(
    path: str | os.PathLike | VerifiedFile,
    threads: int = 1,
    kernels: str = "xnnpack",
    verified: bool = False,
    resized_to: int = DEFAULT_LENGTH,
) -> InterpreterModel:
    """Opens a file at its own length, or a resizable one at a length of ours.

    Args:
        path: as `open_model` takes it; of a `VerifiedFile` one interpreter is made, of another file that is resizable two.
        threads: CPU threads of the runtime.
        kernels: as `open_model` takes them.
        verified: as `open_model` takes it.
        resized_to: tokens a row, of a resizable file.

    Raises:
        KerasBertError: as `open_model`.
    """
    resizable = isinstance(path, VerifiedFile) and path.resizable
    try:
        return open_model(path, threads, kernels, resized_to if resizable else None, verified)
    except LengthRequiredError:
        return open_model(path, threads, kernels, resized_to, verified=True)


def _card(path_or_bytes) -> metadata.Metadata | None:
    try:
        return metadata.read(path_or_bytes)
    except KerasBertError:  # whoever needs the card reports a damaged one
        return None


def _interpreter_class(runtime: Runtime, card: metadata.Metadata | None):
    """The runtime's interpreter, for a file that takes texts with tensorflow-text's operators. Raises KerasBertError without that."""
    if card is None or card.inputs == metadata.IDS:
        return runtime.interpreter
    registrar = import_optional("tensorflow_text", "the operators of a file that takes texts").tflite_registrar
    with_operators = importlib.import_module(runtime.interpreter.__module__).InterpreterWithCustomOps
    return functools.partial(with_operators, custom_op_registerers=registrar.SELECT_TFTEXT_OPS)


def describe_machine() -> dict[str, str]:
    """The machine as a report names it: CPU model, cores, system, the versions of what ran (TensorFlow's where it is loaded), the date."""
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


def _title(runtime: Runtime) -> str:
    return f"{runtime.name} {runtime.version}"
