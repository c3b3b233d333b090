"""A task in two files for a processor that takes integers only and looks nothing up: ids to vectors on its host, and all the rest.

The host's file takes ids and gives what the body's file takes: `hidden` (1, S, H) and `attention_bias` (1, S), both int8 with the scale
that training gave them. The body computes in 8 bits from its inputs to its outputs. One after the other gives what the integer-only file
of the whole task would give, but for attention, which the body computes in another way (`kerasbert.layers.lowering.decomposed_attention`).
"""

import tensorflow as tf

from kerasbert.cleanup import temporary_folder
from kerasbert.errors import KerasBertError
from kerasbert.export.lowering.integer_only import integer_target, integer_twin
from kerasbert.export.lowering.tracing import converted_graph, save_function
from kerasbert.export.passes.check_integer_only import float_operators
from kerasbert.export.passes.dead_code import eliminate_dead_code
from kerasbert.export.passes.fully_connected_to_conv1x1 import fold_reshapes, fully_connected_to_conv1x1
from kerasbert.export.runtime.partitioned_model import BIAS, HIDDEN
from kerasbert.export.targets import Target
from kerasbert.export.tflite.model import decode, encode, operator_kinds
from kerasbert.ids import INPUT_NAMES
from kerasbert.layers.attention import INTEGER_MASK
from kerasbert.layers.lowering.decomposed_attention import in_eight_bits
from kerasbert.layers.quantization.tie_ranges import output_quantizer
from kerasbert.memory import release


def split_files(task, target: Target, length: int) -> tuple[bytes, bytes]:
    """The host's file and the body's, without cards. task: quantized with integers only.

    Raises KerasBertError for a task whose head needs more than what the blocks give, and for a graph with something in float.
    """
    if task.reads_mask:
        raise KerasBertError(
            f"expected a task whose head reads the encoder's output alone, received a {type(task).__name__}, which also reads which tokens "
            "are padding"
        )
    twin, layout = integer_twin(task), integer_target(target).layout(length)
    written = output_quantizer(twin.encoder.embeddings)
    bounds = float(written.minimum), float(written.maximum)

    def embed(**inputs):
        hidden, bias = twin.encoder.embed(inputs, layout=layout)
        return {HIDDEN: hidden, BIAS: tf.reshape(bias, (1, length))}

    def serve(**inputs):
        held = {HIDDEN: in_eight_bits(inputs[HIDDEN], *bounds), BIAS: in_eight_bits(inputs[BIAS], INTEGER_MASK, 0.0)}
        return twin.serve(held, layout=layout)

    ids = {name: tf.TensorSpec((1, length), tf.int32, name=name) for name in INPUT_NAMES}
    vectors = {
        HIDDEN: tf.TensorSpec((1, length, task.config.hidden_size), tf.float32, name=HIDDEN),
        BIAS: tf.TensorSpec((1, length), tf.float32, name=BIAS),
    }
    host = _integers(_converted(embed, ids))
    body = _integers(_converted(serve, vectors))
    fully_connected_to_conv1x1(body)
    fold_reshapes(body)
    for part in (host, body):
        eliminate_dead_code(part)
    return encode(host), encode(body)


def _converted(function, specs) -> bytes:
    with temporary_folder("graph") as folder:
        save_function(function, specs, folder)
        release()
        return converted_graph(folder, integer=True)


def _integers(model: bytes):
    """The unpacked file without the operators that lead from float at its start and to float at its end."""
    content = decode(model)
    (graph,), (signature,) = content.subgraphs, content.signatureDefs
    kinds, moved, kept = operator_kinds(content), {}, []
    for operator in graph.operators:
        kind, source, written = kinds[operator.opcodeIndex], operator.inputs[0], operator.outputs[0]
        if kind == "QUANTIZE" and source in graph.inputs:
            moved[source] = written
        elif kind == "DEQUANTIZE" and written in graph.outputs:
            moved[written] = source
        else:
            kept.append(operator)
    graph.operators = kept
    graph.inputs, graph.outputs = (
        [moved.get(tensor, tensor) for tensor in end] for end in (graph.inputs, graph.outputs)
    )
    for named in (*signature.inputs, *signature.outputs):
        named.tensorIndex = moved.get(named.tensorIndex, named.tensorIndex)
        graph.tensors[named.tensorIndex].name = named.name  # a compiler may keep names of tensors and no signature
    if left := float_operators(content):
        raise KerasBertError(
            f"expected every operator of an integer file in 8 bits, {len(left)} stay in float: {', '.join(sorted(set(left)))}"
        )
    return content
