"""Whether the operators of a user's head exist in a `.tflite` file, which a training must not find out at its end."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.console.native_output import suppress_stderr

# Operators that the converter takes in every form. Heads with these alone need no trial, which takes a third of a second.
_TAKEN = frozenset(
    """
    Abs Add AddV2 All Any ArgMax ArgMin BatchMatMulV2 BiasAdd BroadcastTo Cast ConcatV2 Const Conv2D Cumsum DivNoNan Elu Equal Erf Erfc Exp
    ExpandDims Fill FusedBatchNormV3 GatherNd GatherV2 Greater GreaterEqual Identity LeakyRelu Less LessEqual Log LogSoftmax LogicalAnd
    LogicalNot LogicalOr MatMul Max Maximum Mean Min Minimum Mul Neg NoOp NotEqual OneHot OnesLike Pack Pad PadV2 PartitionedCall
    Placeholder Pow Prod Range Rank ReadVariableOp RealDiv Relu Relu6 Reshape ReverseV2 Rsqrt Select SelectV2 Shape Sigmoid Size Slice
    Softmax Softplus Split SplitV Sqrt Square SquaredDifference Squeeze StatefulPartitionedCall StatelessWhile StopGradient StridedSlice
    Sub Sum Tanh TensorListFromTensor TensorListGetItem TensorListReserve TensorListSetItem TensorListStack Tile TopKV2 Transpose Unpack
    While ZerosLike
    """.split()
)
_RESULTS: dict[frozenset[str], str | None] = {}  # by the unusual operators: copies of a model need no further trial
_UNKNOWN = re.compile(r"'tf\.(\w+)' op is neither")


def missing_operator(
    call: Callable, inputs: Mapping[str, tf.Tensor], concrete: Any, layer: keras.layers.Layer
) -> str | None:
    """Return an operator of a head that no `.tflite` file has; None if it can be converted.

    Args:
        call: Takes the inputs by name.
        inputs: An example of them.
        concrete: The traced call.
        layer: The layer with the head's weights.
    """
    unusual = frozenset(_operators(concrete.graph.as_graph_def())) - _TAKEN
    if not unusual:
        return None
    if unusual not in _RESULTS:
        _RESULTS[unusual] = _tried(call, inputs, layer, sorted(unusual))
    return _RESULTS[unusual]


def _operators(graph: Any) -> set[str]:
    """Return the operators of a graph and of the functions that it calls; a library has gradients and other devices' functions too."""
    functions = {function.signature.name: function for function in graph.library.function}
    found, waiting = set(), list(graph.node)
    while waiting:
        node = waiting.pop()
        found.add(node.op)
        for value in node.attr.values():
            called = functions.pop(value.func.name, None)
            waiting += [] if called is None else called.node_def
    return found


def _tried(
    call: Callable, inputs: Mapping[str, tf.Tensor], layer: keras.layers.Layer, unusual: list[str]
) -> str | None:
    """Convert a head by itself, for one text as a file does."""
    specs = {name: tf.TensorSpec([1, *value.shape[1:]], value.dtype) for name, value in inputs.items()}
    with suppress_stderr():
        concrete = tf.function(call, autograph=False).get_concrete_function(specs)
        try:
            tf.lite.TFLiteConverter.from_concrete_functions([concrete], layer).convert()
        except Exception as error:
            found = _UNKNOWN.search(str(error))
            return found[1] if found else ", ".join(unusual)
    return None
