import json
import subprocess
import sys

import numpy as np
import pytest

from kerasbert.checkpoints.readers import read_tensors
from kerasbert.checkpoints.safetensors_file import write_tensors
from kerasbert.errors import KerasBertError

SIZES = {
    **{"vocab_size": 30, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2},
    "intermediate_size": 16,
}


def complaint(folder):
    with pytest.raises(KerasBertError) as caught:
        read_tensors(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def google_checkpoint(folder):
    import tensorflow as tf

    kernel = tf.reshape(tf.range(6.0), (2, 3))
    tf.raw_ops.SaveV2(
        prefix=str(folder / "bert_model.ckpt"),
        tensor_names=["bert/pooler/dense/kernel"],
        shape_and_slices=[""],
        tensors=[kernel],
    )
    (folder / "bert_config.json").write_text(json.dumps(SIZES))


def test_formats_have_an_order_of_precedence(tmp_path, torch_files):
    google_checkpoint(tmp_path)
    read = read_tensors(tmp_path)
    np.testing.assert_array_equal(read["bert.pooler.dense.weight"], np.arange(6).reshape(2, 3).T)
    torch_files.zip_file(tmp_path / "pytorch_model.bin", {"b": torch_files.tensor([1.0])})
    assert list(read_tensors(tmp_path)) == ["b"]
    write_tensors(tmp_path / "model.safetensors", {"c": np.ones(1, np.float32)})
    assert list(read_tensors(tmp_path)) == ["c"]


def test_sharded_safetensors_take_precedence_over_pytorch(tmp_path, torch_files):
    torch_files.zip_file(tmp_path / "pytorch_model.bin", {"b": torch_files.tensor([1.0])})
    write_tensors(tmp_path / "x.safetensors", {"c": np.ones(1, np.float32)})
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"c": "x.safetensors"}}))
    assert list(read_tensors(tmp_path)) == ["c"]


def test_missing_weights_error_names_the_formats(tmp_path):
    assert "no such folder" in complaint(tmp_path / "nowhere")
    text = complaint(tmp_path)
    for name in ("model.safetensors", "pytorch_model.bin", ".index.json", "*.ckpt.index", "none of them"):
        assert name in text
    (tmp_path / "tf_model.h5").touch()
    assert "received tf_model.h5; convert it to safetensors" in complaint(tmp_path)


def test_other_formats_do_not_import_tensorflow():
    """The command line describes folders without TensorFlow."""
    code = "import sys, kerasbert.checkpoints.readers; sys.exit('tensorflow' in sys.modules or 'keras' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
