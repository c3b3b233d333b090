"""Operators, constants and names of a float model, as a quantizer needs them."""

import re

import numpy as np

from kerasbert.export.tflite.model import GraphOperator, Model, operator_kinds


class FloatGraph:
    """The main graph of a model that the converter has just written. Only for trusted files, see `tflite_file` for any others."""

    def __init__(self, model: Model):
        self._model = model
        self._graph = self._model.subgraphs[0]
        self._kinds = operator_kinds(self._model)
        self._producers = {tensor: operator for operator in self._graph.operators for tensor in operator.outputs}

    def operators(self, kind: str) -> list[GraphOperator]:
        """Return the operators of a builtin kind, such as `FULLY_CONNECTED`, in the order of execution."""
        return [operator for operator in self._graph.operators if self.kind(operator) == kind]

    def kind(self, operator: GraphOperator) -> str:
        """Return the builtin operator's name in the schema."""
        return self._kinds[operator.opcodeIndex]

    def producer(self, tensor: int) -> GraphOperator | None:
        """Return the operator that writes a tensor; None for an input or a constant."""
        return self._producers.get(tensor)

    def readers(self, tensor: int) -> int:
        """Return the number of operators that read a tensor."""
        return sum(tensor in operator.inputs for operator in self._graph.operators)

    def constant(self, tensor: int) -> np.ndarray:
        """Return the float32 values of a constant tensor, in its shape; empty for a tensor that is computed."""
        info = self._graph.tensors[tensor]
        data = self._model.buffers[info.buffer].data
        if data is None or len(data) == 0:
            return np.empty(0, np.float32)
        return np.ascontiguousarray(data, np.uint8).view(np.float32).reshape(info.shape)

    def name(self, tensor: int) -> str:
        """Return the tensor's name."""
        return self._graph.tensors[tensor].name.decode("utf-8")

    def scope(self, operator: GraphOperator) -> str:
        """Return a regular expression that matches this operator alone.

        ai-edge-quantizer names an operator by its outputs, each followed by `;`.
        """
        names = "".join(f"{self.name(tensor)};" for tensor in operator.outputs)
        return f"^{re.escape(names)}$"

    def bounds(self, tensor: int, minimum: float, maximum: float) -> dict[str, np.ndarray]:
        """Return a tensor's calibration result in ai-edge-quantizer's form: `min` and `max`, arrays of the tensor's rank."""
        shape = (1,) * len(self._graph.tensors[tensor].shape)
        return {"min": np.full(shape, minimum, np.float32), "max": np.full(shape, maximum, np.float32)}
