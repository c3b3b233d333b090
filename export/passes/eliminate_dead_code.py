"""Dead-code elimination."""

from kerasbert.export.passes.context import PassContext
from kerasbert.export.tflite.graph_editor import GraphEditor
from kerasbert.export.tflite.model import Model


def eliminate_dead_code(model: Model, context: PassContext) -> None:
    """Remove the tensors and the operator codes that earlier passes have left without use.

        before:  tensors 0 1 2 3, of which operators use 0 and 3;  codes ADD, TILE, of which operators use ADD
        after:   tensors 0 1, once 0 and 3;                        code ADD

    An old runtime refuses a newer operator even if only its code is listed.
    """
    GraphEditor(model).compact()
