"""sentence-transformers' files: the modules behind an encoder, which are pooling, a Dense layer without bias, and normalization."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kerasbert.checkpoints import pytorch_file, safetensors_file
from kerasbert.checkpoints.messages import mismatch, short_repr
from kerasbert.files.json_text import read_json

KERNEL = "2_Dense.linear.weight"  # the tensor of the Dense module, beside those of the encoder
POOLINGS = {"mean": "pooling_mode_mean_tokens", "cls": "pooling_mode_cls_token", "max": "pooling_mode_max_tokens"}
_MODULES_FILE, _DENSE_FOLDER, _POOLING_FOLDER, _CONFIG_FILE = "modules.json", "2_Dense", "1_Pooling", "config.json"
_IDENTITY = "torch.nn.modules.linear.Identity"
# A Dense module that is a projection and nothing else, and the part of that which is the module's default.
_PLAIN_SOURCE = {"module_input_name": "sentence_embedding", "use_residual": False}
_PLAIN = {"bias": False, "activation_function": _IDENTITY, **_PLAIN_SOURCE}
_FOLDER_NAME = re.compile(r"\w[\w.\-]{0,99}", re.ASCII)


def read_settings(folder: Path, hidden_size: object, longest: int) -> dict[str, Any]:
    """Return the arguments of a sentence encoder that the folder's files define.

    Args:
        folder: A sentence-transformers folder, or one without any of its files.
        hidden_size: The width of the encoder.
        longest: The number of tokens that the encoder accepts.

    Raises:
        KerasBertError: When a file is damaged, or a Dense module has a bias or an activation.
    """
    settings: dict[str, Any] = {}
    modes = _read_object(folder / _POOLING_FOLDER / _CONFIG_FILE)
    poolings = [name for name, key in POOLINGS.items() if modes.get(key)]
    if len(poolings) == 1:
        settings["pooling"] = poolings[0]
    modules = _read_modules(folder)
    if modules is not None:
        settings["normalize"] = any(kind == "Normalize" for kind, _ in modules)
    dense = _dense_folders(folder)
    if dense:
        kinds = [kind for kind, _ in modules or ()]
        if len(dense) > 1 or kinds[kinds.index("Dense") - 1] != "Pooling":
            expected = "one Dense module at most, right behind the Pooling module"
            raise mismatch(folder / _MODULES_FILE, expected, ", ".join(kinds)[:100], "load another model")
        settings["dimensions"] = _read_dimensions(dense[0] / _CONFIG_FILE, hidden_size)
    length = _read_object(folder / "sentence_bert_config.json").get("max_seq_length")
    if isinstance(length, int):
        settings["sequence_length"] = min(length, longest)
    return settings


def read_dense_tensors(folder: Path) -> dict[str, np.ndarray]:
    """Return the tensors of the folder's Dense module under names that begin with `2_Dense.`; none without exactly one such module.

    Raises:
        KerasBertError: When a file is missing or damaged.
    """
    dense = _dense_folders(folder)
    if len(dense) != 1:
        return {}
    for reader in (safetensors_file, pytorch_file):
        if (dense[0] / reader.WEIGHTS_FILE).is_file():
            return {f"{_DENSE_FOLDER}.{name}": values for name, values in reader.read_tensors(dense[0]).items()}
    files = f"{safetensors_file.WEIGHTS_FILE} or {pytorch_file.WEIGHTS_FILE}"
    raise mismatch(dense[0], f"{files} in it", "neither", "is the folder complete?")


def write_modules(
    folder: Path, hidden_size: int, sequence_length: int, pooling: str, dimensions: int | None, normalize: bool
) -> None:
    """Write the files that describe the modules.

    Args:
        folder: The folder of the encoder.
        hidden_size: The width of the encoder.
        sequence_length: Tokens in the longest row.
        pooling: A name among `POOLINGS`.
        dimensions: The width of the Dense module; None without one.
        normalize: Whether vectors are normalized.
    """
    kinds = ["Transformer", "Pooling", *["Dense"] * (dimensions is not None), *["Normalize"] * normalize]
    modules = [
        {"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "", "type": f"sentence_transformers.models.{kind}"}
        for i, kind in enumerate(kinds)
    ]
    _write(folder / _MODULES_FILE, modules)
    modes = {key: name == pooling for name, key in POOLINGS.items()}
    _write(folder / _POOLING_FOLDER / _CONFIG_FILE, {"word_embedding_dimension": hidden_size, **modes})
    if dimensions is not None:
        sizes = {"in_features": hidden_size, "out_features": dimensions}
        _write(folder / _DENSE_FOLDER / _CONFIG_FILE, {**sizes, "bias": False, "activation_function": _IDENTITY})
    _write(folder / "sentence_bert_config.json", {"max_seq_length": sequence_length, "do_lower_case": False})


def write_dense_tensors(folder: Path, tensors: Mapping[str, np.ndarray]) -> None:
    """Write the tensors of the Dense module, under names as `read_dense_tensors` returns them.

    Raises:
        KerasBertError: When the file cannot be written.
    """
    path = folder / _DENSE_FOLDER / safetensors_file.WEIGHTS_FILE
    path.parent.mkdir(exist_ok=True)
    safetensors_file.write_tensors(
        path, {name.removeprefix(f"{_DENSE_FOLDER}."): values for name, values in tensors.items()}
    )


def _dense_folders(folder: Path) -> list[Path]:
    return [folder / path for kind, path in _read_modules(folder) or () if kind == "Dense"]


def _read_modules(folder: Path) -> list[tuple[str, str]] | None:
    """Return the class and the folder of each module in their order; None without a `modules.json`."""
    path = folder / _MODULES_FILE
    if not path.is_file():
        return None
    entries = read_json(path)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise mismatch(path, "a list of modules", short_repr(entries), "correct the file")
    modules = [(str(entry.get("type", "")).rpartition(".")[2], str(entry.get("path", ""))) for entry in entries]
    for kind, name in modules:
        if kind == "Dense" and not _FOLDER_NAME.fullmatch(name):
            raise mismatch(path, "the path of a module as a folder's name", short_repr(name), "correct the file")
    return modules


def _read_dimensions(path: Path, hidden_size: object) -> int:
    """Return the width of a Dense module."""
    if not path.is_file():
        raise mismatch(path.parent, f"{path.name} in it", "none", "is the folder complete?")
    config = _read_object(path)
    width = config.get("out_features")
    if type(width) is not int or width < 1 or config.get("in_features") != hidden_size:
        received = short_repr({name: config.get(name) for name in ("in_features", "out_features")})
        raise mismatch(path, f"in_features of {hidden_size} and a positive out_features", received, "correct the file")
    # The module's own defaults are a bias and Tanh.
    settings = {"bias": True, "activation_function": None, **_PLAIN_SOURCE, **config}
    different = {name: settings[name] for name, plain in _PLAIN.items() if settings[name] != plain}
    if different:
        expected = "a Dense module of the sentence's vector without bias, activation and residual"
        raise mismatch(path, expected, short_repr(different), "load a model without this Dense module")
    return width


def _read_object(path: Path) -> dict[str, Any]:
    """Return the object of a JSON file, empty where there is no file."""
    content = read_json(path) if path.is_file() else {}
    if not isinstance(content, dict):
        raise mismatch(path, "a JSON object", short_repr(content), "correct the file")
    return content


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", "utf-8")
