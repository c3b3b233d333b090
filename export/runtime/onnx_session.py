"""An `.onnx` file on ONNX Runtime, so that its latency can be compared with that of a `.tflite` file."""

import functools
import time
from typing import Any

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreter_session import one_line
from kerasbert.export.runtime.interpreters import DEFAULT_LENGTH
from kerasbert.export.runtime.session import Inputs, Port, Run, Session, guarded
from kerasbert.ids import INPUT_NAMES
from kerasbert.optional import import_optional

ONNX = ".onnx"
_KERNELS = "onnxruntime"


def open_onnx(path: str, threads: int, length: int | None) -> Session:
    """Open an `.onnx` file.

    Args:
        path: The file.
        threads: CPU threads of the runtime.
        length: Tokens of a row, for an open length.

    Raises:
        KerasBertError: When ONNX Runtime is not installed or cannot open the file, or the file has other inputs.
    """
    onnxruntime = import_optional("onnxruntime", "an .onnx file")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its exception classes are not public
        raise KerasBertError(
            f"expected a model that ONNX Runtime can open, received {path} ({one_line(error)}); export it again"
        ) from error
    return _at(session, path, threads, length or DEFAULT_LENGTH)


def _at(session: Any, name: str, threads: int, length: int) -> Session:
    """Return the model of ONNX Runtime's session at a length; a fixed length of the file comes first.

    Raises:
        KerasBertError: When the file has other inputs.
    """
    found = session.get_inputs()
    if unknown := sorted({port.name for port in found} - set(INPUT_NAMES)):
        raise KerasBertError(
            f"expected inputs among {', '.join(INPUT_NAMES)} in {name}, received {', '.join(unknown)}; export it with these names"
        )
    fixed = next((port.shape[-1] for port in found if isinstance(port.shape[-1], int)), None)
    shape = (1, fixed or length)
    inputs = {port.name: Port(shape, np.dtype("int32" if "int32" in port.type else "int64")) for port in found}

    def at(other: int) -> Session:
        if fixed is not None and other > fixed:
            raise KerasBertError(
                f"expected rows of at most {fixed} tokens, the length of the .onnx file, received one of {other}; export it "
                "with an open length, or convert the .tflite file to this one"
            )
        return _at(session, name, threads, other)

    # The shapes of outputs may be open.
    run_each = guarded(name, functools.partial(_run, session))
    return Session(name, _KERNELS, threads, inputs, {}, run_each, at, resizable=fixed is None)


def _run(session: Any, inputs: Inputs) -> Run:
    start = time.perf_counter()
    try:
        values = session.run(None, inputs)
    except Exception as error:  # its exception classes are not public
        raise KerasBertError(
            f"expected an .onnx file that takes the token ids of the .tflite file, received an error ({one_line(error)}); name a "
            "model with the same vocabulary"
        ) from error
    seconds = time.perf_counter() - start
    return {str(number): value for number, value in enumerate(values)}, seconds
