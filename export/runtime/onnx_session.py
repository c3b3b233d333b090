"""An `.onnx` file on ONNX Runtime, so that its latency can be compared with that of a `.tflite` file."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreter_session import one_line
from kerasbert.export.runtime.interpreters import DEFAULT_LENGTH
from kerasbert.export.runtime.session import Port, Session
from kerasbert.ids import INPUT_NAMES
from kerasbert.optional import import_optional

ONNX = ".onnx"
_KERNELS = "onnxruntime"


class OnnxSession(Session):
    """An `.onnx` file with the inputs of kerasbert's files, its length open or fixed. `open_onnx` opens it.

    Args:
        session: ONNX Runtime's session.
        name: The file's name in messages.
        threads: CPU threads of the runtime.
        length: Tokens of a row.

    Raises:
        KerasBertError: When the file has other inputs.
    """

    def __init__(self, session: Any, name: str, threads: int, length: int):
        self._session, found = session, session.get_inputs()
        if unknown := sorted({port.name for port in found} - set(INPUT_NAMES)):
            raise KerasBertError(
                f"expected inputs among {', '.join(INPUT_NAMES)} in {name}, received {', '.join(unknown)}; export it with these names"
            )
        sizes = {port.shape[-1] for port in found if isinstance(port.shape[-1], int)}
        self._fixed: int | None = next(iter(sizes), None)
        shape = (1, self._fixed or length)
        inputs = {port.name: Port(shape, np.dtype("int32" if "int32" in port.type else "int64")) for port in found}
        # The shapes of outputs may be open.
        super().__init__(name, _KERNELS, threads, inputs=inputs, outputs={}, resizable=self._fixed is None)

    def at(self, length: int) -> "OnnxSession":
        if self._fixed is not None and length > self._fixed:
            raise KerasBertError(
                f"expected rows of at most {self._fixed} tokens, the length of the .onnx file, received one of {length}; export it "
                "with an open length, or convert the .tflite file to this one"
            )
        return self if length == self.length else OnnxSession(self._session, self.name, self.threads, length)

    def run_unlocked(self, inputs: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], float]:
        start = time.perf_counter()
        try:
            values = self._session.run(None, inputs)
        except Exception as error:  # its exception classes are not public
            raise KerasBertError(
                f"expected an .onnx file that takes the token ids of the .tflite file, received an error ({one_line(error)}); name a "
                "model with the same vocabulary"
            ) from error
        seconds = time.perf_counter() - start
        return {str(number): value for number, value in enumerate(values)}, seconds


def open_onnx(path: str, threads: int, length: int | None) -> OnnxSession:
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
    return OnnxSession(session, path, threads, length or DEFAULT_LENGTH)
