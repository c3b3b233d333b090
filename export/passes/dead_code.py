"""Dead-code elimination."""

from kerasbert.export.tflite.model import Model


def eliminate_dead_code(model: Model) -> None:
    """Remove unused tensors and operator codes of a model with one graph.

    An old runtime refuses a newer operator even if only its code is listed.
    """
    (graph,) = model.subgraphs
    ports = [port for signature in model.signatureDefs for port in (*signature.inputs, *signature.outputs)]
    used = {*graph.inputs, *graph.outputs, *(port.tensorIndex for port in ports)}
    used |= {tensor for operator in graph.operators for tensor in (*operator.inputs, *operator.outputs) if tensor >= 0}
    new_index = {tensor: index for index, tensor in enumerate(sorted(map(int, used)))} | {-1: -1}
    graph.tensors = [graph.tensors[tensor] for tensor in sorted(used)]
    for holder in (graph, *graph.operators):
        holder.inputs = [new_index[int(tensor)] for tensor in holder.inputs]
        holder.outputs = [new_index[int(tensor)] for tensor in holder.outputs]
    for port in ports:
        port.tensorIndex = new_index[int(port.tensorIndex)]
    codes = sorted({operator.opcodeIndex for operator in graph.operators})
    model.operatorCodes = [model.operatorCodes[code] for code in codes]
    for operator in graph.operators:
        operator.opcodeIndex = codes.index(operator.opcodeIndex)
