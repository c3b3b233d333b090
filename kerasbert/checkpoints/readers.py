"""The tensors of a checkpoint folder, in whichever format it has."""

import os
from pathlib import Path

import numpy as np

from kerasbert.checkpoints import hugging_face, pytorch_file, safetensors_file, tf1
from kerasbert.checkpoints.keras_nlp_folder import is_preset, read_preset
from kerasbert.checkpoints.messages import mismatch

_NOT_READ = ("tf_model.h5", "flax_model.msgpack", "model.onnx")


def read_tensors(folder: str | os.PathLike) -> dict[str, np.ndarray]:
    """Every tensor of a checkpoint folder under Hugging Face's name and in PyTorch's layout, floating-point ones as float32.

    Of several formats the first is taken: a preset of keras-nlp's, safetensors, `pytorch_model.bin`, a TensorFlow 1 checkpoint of Google's.
    Raises KerasBertError when there is none, or the files are damaged.
    """
    folder = Path(folder)
    if is_preset(folder):
        return read_preset(folder)[1]
    for reader in (safetensors_file, pytorch_file):
        if any((folder / name).is_file() for name in (reader.WEIGHTS_FILE, reader.INDEX_FILE)):
            return reader.read_tensors(folder)
    if folder.is_dir() and tf1.checkpoint_prefix(folder) is not None:
        return tf1.read_tensors(folder, hugging_face.read_config(folder)["model_type"])
    raise _nothing_found(folder)


def weight_files(folder: str | os.PathLike) -> list[Path]:
    """The files that `read_tensors` takes the weights from."""
    folder = Path(folder)
    if is_preset(folder):
        return [folder / "model.weights.h5"]
    prefix = tf1.checkpoint_prefix(folder) if folder.is_dir() else None
    for pattern in ("*.safetensors", "pytorch_model*.bin", *([f"{Path(prefix).name}.*"] if prefix else ())):
        if found := sorted(path for path in folder.glob(pattern) if path.name != "quantization.safetensors"):
            return found
    return []


def _nothing_found(folder: Path) -> Exception:
    if not folder.is_dir():
        return mismatch(folder, "a checkpoint folder", "no such folder")
    names = (safetensors_file.WEIGHTS_FILE, pytorch_file.WEIGHTS_FILE)
    expected = f"{', '.join(names)} (or their .index.json with shards) or a TensorFlow checkpoint (*.ckpt.index) in it"
    others = [name for name in _NOT_READ if (folder / name).is_file()]
    advice = "convert it to safetensors first (transformers' save_pretrained writes that)" if others else ""
    return mismatch(folder, expected, others[0] if others else "none of them", advice)
