"""Operator versions of dynamically quantized FULLY_CONNECTED operators."""

from kerasbert.export.passes.context import PassContext
from kerasbert.export.tflite.graph_editor import graphs_of, operators_of
from kerasbert.export.tflite.model import Model

# The operator versions with float activations, quantized asymmetrically at run time, and int8 kernels.
_PER_CHANNEL, _PER_TENSOR = 12, 9
_PER_BLOCK = 14  # that of the oldest runtime that such files were run with


def set_dynamic_range_versions(model: Model, context: PassContext) -> None:
    """Set asymmetric inputs and version 12 for dynamic FULLY_CONNECTED operators; 9 if the kernel has one scale, 14 with scales of blocks.

        before:  float -> FULLY_CONNECTED v1 (int8 kernel, symmetric inputs) -> float
        after:   float -> FULLY_CONNECTED v12 (int8 kernel, asymmetric inputs) -> float

    XNNPACK always quantizes their inputs asymmetrically, the builtin kernels only if the file asks for it. Symmetric inputs would lose half
    of an 8-bit range after GELU, whose negative side is short. The version makes a runtime that would misread the scales refuse the file.
    """
    graphs, versions = graphs_of(model), {_PER_CHANNEL: [], _PER_TENSOR: [], _PER_BLOCK: []}
    for graph, operator in operators_of(graphs, "FULLY_CONNECTED"):
        source, kernel = operator.inputs[:2]
        if graph.has_type(source, "FLOAT32") and graph.has_type(kernel, "INT8", "INT4"):
            operator.options.asymmetricQuantizeInputs = True
            quantization = graph.tensor(kernel).quantization
            if quantization.details is not None:
                versions[_PER_BLOCK].append(operator)
            else:
                versions[_PER_CHANNEL if len(quantization.scale) > 1 else _PER_TENSOR].append(operator)
    for version, operators in versions.items():
        graphs[0].set_version(operators, version)
