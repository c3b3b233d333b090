"""Dead-code elimination."""

from kerasbert.export.tflite.model import Model


def eliminate_dead_code(model: Model) -> None:
    """Removes unused tensors and operator codes of a model with one graph: an old runtime refuses a newer operator that is listed alone."""
    (graph,) = model.subgraphs
    ends = [
        tensor.tensorIndex for signature in model.signatureDefs for tensor in (*signature.inputs, *signature.outputs)
    ]
    used = {*graph.inputs, *graph.outputs, *ends}
    used |= {tensor for operator in graph.operators for tensor in (*operator.inputs, *operator.outputs) if tensor >= 0}
    places = {tensor: place for place, tensor in enumerate(sorted(map(int, used)))} | {-1: -1}
    graph.tensors = [graph.tensors[tensor] for tensor in sorted(used)]
    for holder in (graph, *graph.operators):
        holder.inputs, holder.outputs = (
            [places[int(tensor)] for tensor in end] for end in (holder.inputs, holder.outputs)
        )
    for tensor in (each for signature in model.signatureDefs for each in (*signature.inputs, *signature.outputs)):
        tensor.tensorIndex = places[int(tensor.tensorIndex)]
    codes = sorted({operator.opcodeIndex for operator in graph.operators})
    model.operatorCodes = [model.operatorCodes[code] for code in codes]
    for operator in graph.operators:
        operator.opcodeIndex = codes.index(operator.opcodeIndex)
