"""Readers of checkpoint folders in all supported formats."""

import os
from pathlib import Path

import numpy as np

from kerasbert.checkpoints import hugging_face, peft, pytorch_file, safetensors_file, tf1
from kerasbert.checkpoints.keras_nlp import is_preset, read_preset
from kerasbert.checkpoints.messages import mismatch
from kerasbert.checkpoints.sentence_transformers import read_dense_tensors
from kerasbert.checkpoints.wrappers import without_wrappers
from kerasbert.errors import KerasBertError
from kerasbert.files.model_folder import RANGES_FILE

_UNSUPPORTED_FILES = ("tf_model.h5", "flax_model.msgpack", "model.onnx")


def read_tensors(folder: str | os.PathLike, base: str | os.PathLike | None = None) -> dict[str, np.ndarray]:
    """Read every tensor of a checkpoint folder.

    The first format of these is taken: a keras-nlp preset, safetensors, `pytorch_model.bin`, Google's TensorFlow 1 checkpoint. Those of
    sentence-transformers' Dense module are added. The weights of an adapter of PEFT are merged into those of its base model.

    Args:
        folder: the checkpoint folder.
        base: the base model of an adapter; by default the one that the adapter names.

    Returns:
        Arrays by Hugging Face's names, in PyTorch's layout; floating-point ones are float32. Prefixes of wrappers are removed.

    Raises:
        KerasBertError: when there are no weights, or the files are damaged.
    """
    folder = Path(folder)
    if peft.is_adapter(folder):
        config = hugging_face.read_config(folder, base)
        return peft.adapted_tensors(read_tensors(peft.base_folder(folder, base)), folder, config["model_type"])
    if is_preset(folder):
        return read_preset(folder)[1]
    for reader in (safetensors_file, pytorch_file):
        if any((folder / name).is_file() for name in (reader.WEIGHTS_FILE, reader.INDEX_FILE)):
            return without_wrappers(reader.read_tensors(folder), folder) | read_dense_tensors(folder)
    if folder.is_dir() and tf1.find_checkpoint(folder) is not None:
        return tf1.read_tensors(folder, hugging_face.read_config(folder)["model_type"])
    raise _no_weights_error(folder)


def find_weight_files(folder: str | os.PathLike) -> list[Path]:
    """Return the files from which `read_tensors` reads the weights."""
    folder = Path(folder)
    if is_preset(folder):
        return [folder / "model.weights.h5"]
    prefix = tf1.find_checkpoint(folder) if folder.is_dir() else None
    for pattern in ("*.safetensors", "pytorch_model*.bin", *([f"{Path(prefix).name}.*"] if prefix else ())):
        if files := sorted(path for path in folder.glob(pattern) if path.name != RANGES_FILE):
            return files
    return []


def _no_weights_error(folder: Path) -> KerasBertError:
    if not folder.is_dir():
        return mismatch(folder, "a checkpoint folder", "no such folder", "check the path")
    names = (safetensors_file.WEIGHTS_FILE, pytorch_file.WEIGHTS_FILE)
    expected = f"{', '.join(names)} (or their .index.json with shards) or a TensorFlow checkpoint (*.ckpt.index) in it"
    unsupported = [name for name in _UNSUPPORTED_FILES if (folder / name).is_file()]
    advice = "convert it to safetensors first (transformers' save_pretrained writes that)" if unsupported else ""
    return mismatch(folder, expected, unsupported[0] if unsupported else "none of them", advice)
