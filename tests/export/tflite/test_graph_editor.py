"""Edits of a graph: rewiring, insertion, constants, and the removal of what nobody reads."""

import numpy as np
import pytest

from kerasbert.export.lowering.targets import TARGETS
from kerasbert.export.tflite.graph_editor import GraphEditor
from kerasbert.export.tflite.model import decode, encode, schema, signature_end


@pytest.fixture
def graph():
    """x (1, 4) -> RESHAPE -> y -> RESHAPE -> z, in a model with one signature."""
    model, subgraph, signature = schema().ModelT(), schema().SubGraphT(), schema().SignatureDefT()
    empty = schema().BufferT()
    model.version, model.operatorCodes, model.subgraphs, model.buffers = 3, [], [subgraph], [empty]
    subgraph.tensors, subgraph.operators, subgraph.inputs, subgraph.outputs = [], [], [0], [2]
    signature.signatureKey, signature.subgraphIndex = b"serve", 0
    signature.inputs, signature.outputs = [signature_end("x", 0)], [signature_end("z", 2)]
    model.signatureDefs, model.metadata = [signature], []
    editor, like = GraphEditor(model), schema().TensorT()
    for name in "xyz":
        editor.add_tensor(like, name, (1, 4))
    editor.append(editor.operator("RESHAPE", [0], [1]), editor.operator("RESHAPE", [1], [2]))
    editor.apply()
    return GraphEditor(model)


def kinds(graph: GraphEditor) -> list[str]:
    return [operator.kind for operator in GraphEditor(decode(encode(graph.model))).operators()]


def test_an_operator_that_nobody_reads_any_more_is_removed(graph):
    with graph:
        graph.replace_uses(2, 1)
    assert kinds(graph) == ["RESHAPE"] and graph.outputs == [1]
    assert graph.model.signatureDefs[0].outputs[0].tensorIndex == 1
    assert len(graph.graph.tensors) == 3  # numbers of tensors stay
    graph.compact()
    assert [graph.name(number) for number in range(2)] == ["x", "y"] and len(graph.graph.tensors) == 2


def test_a_chain_that_nobody_reads_is_removed_whole(graph):
    with graph:
        graph.replace_uses(2, 0)
    assert kinds(graph) == [] and graph.outputs == [0]


def test_operators_are_inserted_where_they_are_asked_for(graph):
    first, second = graph.operators("RESHAPE")
    with graph:
        before, after = graph.add_tensor(0, "before"), graph.add_tensor(0, "after")
        graph.insert_before(second, graph.operator("ADD", [1, 1], [before]))
        second.inputs = [before]
        graph.insert_after(first, graph.operator("ABS", [0], [after]))
    assert kinds(graph) == ["RESHAPE", "ABS", "ADD", "RESHAPE"]
    assert graph.producer(before).kind == "ADD"


def test_a_failed_edit_leaves_the_operators_as_they_were(graph):
    with pytest.raises(ZeroDivisionError), graph:
        graph.replace(graph.operators()[0])
        1 / 0  # noqa: B018
    assert kinds(graph) == ["RESHAPE", "RESHAPE"]


def test_constants_are_read_in_their_type_and_freed_without_readers(graph):
    number = graph.add_constant("numbers", np.arange(3, dtype=np.int32), np.ones(3))
    np.testing.assert_array_equal(graph.constant(number), [0, 1, 2])
    assert graph.constant(0).size == 0 and graph.has_type(number, "INT32", "INT8") and not graph.has_type(0, "INT32")
    buffer = graph.tensor(number).buffer
    graph.free(buffer)
    assert graph.constant(number).size == 3
    graph.tensor(number).buffer = 0
    graph.free(buffer)
    assert graph.model.buffers[buffer].data is None


def test_every_pass_of_a_target_draws_the_graph_before_and_after():
    for target in TARGETS.values():
        for each in (*target.passes, *target.integer_passes, *target.host_passes):
            assert "    before:  " in each.__doc__, each
