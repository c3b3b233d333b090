"""The converter that loads no weights makes the same files as TensorFlow's own."""

import pytest
import tensorflow as tf

from kerasbert.export.lowering.saved_model import saved_model_converter
from kerasbert.export.lowering.tracing import SIGNATURE, converted_graph, save_function


@pytest.fixture
def folder(tmp_path):
    module = tf.Module()
    module.kernel, module.unread = tf.Variable(tf.random.normal((8, 4), seed=1)), tf.Variable(tf.zeros((8, 4)))
    specs = {"x": tf.TensorSpec((1, 8), tf.float32, name="x")}
    save_function(lambda x: {"y": tf.nn.relu(tf.matmul(x, module.kernel))}, specs, tmp_path)
    return tmp_path


def test_files_equal_those_of_tensorflows_converter(folder, monkeypatch):
    from tensorflow.lite.python import lite

    loads, load = [], lite._load
    monkeypatch.setattr(lite, "_load", lambda *arguments: loads.append(arguments) or load(*arguments))
    ours = converted_graph(folder)
    assert not loads  # neither for signatures nor for messages
    monkeypatch.setattr(lite, "TFLiteSavedModelConverterV2", None)  # as in other builds of TensorFlow
    with pytest.raises(TypeError):  # TensorFlow's own converter needs that class
        saved_model_converter(folder, SIGNATURE)
    assert len(loads) == 1
    monkeypatch.undo()
    theirs = tf.lite.TFLiteConverter.from_saved_model(str(folder), signature_keys=[SIGNATURE])
    theirs._experimental_use_buffer_offset = theirs.exclude_conversion_metadata = True
    assert ours == bytes(theirs.convert())


def test_unread_variables_are_not_saved(folder):
    names = [name for name, _ in tf.train.list_variables(str(folder / "variables" / "variables"))]
    assert [name for name in names if name.startswith("weights/")] == ["weights/0/.ATTRIBUTES/VARIABLE_VALUE"]
