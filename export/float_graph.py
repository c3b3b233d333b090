"""What a quantizer asks of a float `.tflite`: its operators, constants and names."""

import re

import numpy as np

_BUILTINS = {"FULLY_CONNECTED": 9, "GATHER": 36}  # tflite schema, enum BuiltinOperator


class FloatGraph:
    """The main subgraph of a file that the converter has just written (trusted bytes: `tflite_file` reads files of unknown origin)."""

    def __init__(self, model: bytes):
        from ai_edge_litert import schema_py_generated as schema

        self._model = schema.ModelT.InitFromPackedBuf(model, 0)
        self._graph = self._model.subgraphs[0]

    def operators(self, kind: str) -> list:
        """Operators of a builtin kind, in the order of execution."""
        codes = {i for i, code in enumerate(self._model.operatorCodes) if _builtin(code) == _BUILTINS[kind]}
        return [operator for operator in self._graph.operators if operator.opcodeIndex in codes]

    def constant(self, tensor: int) -> np.ndarray:
        """The float32 contents of a constant tensor, in its shape; empty for a tensor that is computed."""
        info = self._graph.tensors[tensor]
        data = self._model.buffers[info.buffer].data
        if data is None or len(data) == 0:
            return np.empty(0, np.float32)
        return np.frombuffer(np.asarray(data, np.uint8).tobytes(), np.float32).reshape(info.shape)

    def name(self, tensor: int) -> str:
        return self._graph.tensors[tensor].name.decode("utf-8")

    def scope(self, operator) -> str:
        """A regular expression that fits this operator alone: ai-edge-quantizer names an operator by its outputs, each ended by `;`."""
        names = "".join(f"{self.name(tensor)};" for tensor in operator.outputs)
        return f"^{re.escape(names)}$"

    def bounds(self, tensor: int, minimum: float, maximum: float) -> dict[str, np.ndarray]:
        """A calibration result for a tensor: arrays of its rank."""
        shape = (1,) * len(self._graph.tensors[tensor].shape)
        return {"min": np.full(shape, minimum, np.float32), "max": np.full(shape, maximum, np.float32)}


def _builtin(code) -> int:
    return max(code.builtinCode, code.deprecatedBuiltinCode)
