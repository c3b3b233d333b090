"""Checkpoint folders in Hugging Face's layout: lookup, configs, and writing."""

import difflib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kerasbert.arguments import check_path
from kerasbert.checkpoints import peft, tf1
from kerasbert.checkpoints.keras_nlp import is_preset, read_preset
from kerasbert.checkpoints.messages import mismatch, one_line, short_repr, with_advice
from kerasbert.checkpoints.name_tables import ARCHITECTURES
from kerasbert.checkpoints.safetensors_file import WEIGHTS_FILE, write_shards, write_tensors
from kerasbert.checkpoints.sentence_modules import encoder_folder
from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file, recover
from kerasbert.files.json_text import read_json_object
from kerasbert.model_names import shipped_model, shipped_names
from kerasbert.suggestions import nearest

CONFIG_FILE = "config.json"
DTYPES = ("float32", "float16")

# "org/name"; the hub's oldest models, such as bert-base-uncased, also have a name without organization, which it redirects.
_HUB_NAME = re.compile(r"(?:[A-Za-z0-9][\w.\-]*/)?[A-Za-z0-9][\w.\-]{0,95}", re.ASCII)
_FILE_NAME = re.compile(
    r".*\.(tflite|npz|json|jsonl|txt|csv|tsv|gz|h5|bin|safetensors|ckpt|pt|onnx|keras|toml)", re.ASCII
)
_LABEL_NUMBER = re.compile("[0-9]{1,9}")
_MAX_CONFIG_BYTES = 10_000_000
_SIZES = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
_SIZES_BY_MODEL_TYPE = {
    "distilbert": ("vocab_size", "dim", "n_layers", "n_heads", "hidden_dim"),
    "bilstm": ("vocab_size", "hidden_size", "num_hidden_layers"),
    "static": ("vocab_size", "hidden_size"),
}  # in the order of _SIZES
_REPETITIONS = ("num_hidden_layers", "n_layers", "num_hidden_groups", "inner_group_num", "num_feedforward_networks")
_OPTIONAL_SIZES = (  # encoders have defaults for absent and null ones
    *("max_position_embeddings", "type_vocab_size", "embedding_size"),
    *("num_hidden_groups", "inner_group_num"),  # ALBERT
    *("intra_bottleneck_size", "num_feedforward_networks"),  # MobileBERT
)
_MAX_REPETITIONS = 1000
_MAX_WEIGHT_BYTES = 64 * 2**30  # XLM-RoBERTa XXL, the largest published encoder, takes 40 GiB


def resolve(name_or_path: str | os.PathLike, revision: str | None = None) -> Path:
    """Return the local folder of a checkpoint; a hub model is downloaded.

    Of a sentence-transformers model it is the folder of the encoder, which is another one in old models.

    Args:
        name_or_path: a checkpoint folder, the name of an encoder in the zoo, or "org/name" or "name" on the hub.
        revision: branch, tag or commit on the hub; ignored for a local folder.

    Raises:
        KerasBertError: when it is neither a folder nor a hub name, the download fails, or `modules.json` is damaged.
    """
    return encoder_folder(_resolve(name_or_path, revision))


def _resolve(name_or_path: str | os.PathLike, revision: str | None) -> Path:
    text = check_path(name_or_path, "a checkpoint folder or a hub name")
    local = os.path.expanduser(text)
    if not os.path.isdir(local) and "\0" not in local:
        recover(local)
    if os.path.isdir(local):
        return Path(local)
    if os.path.exists(local):
        raise mismatch(text, "a checkpoint folder", "a file", "pass the folder that it is in")
    if (shipped := shipped_model(text)) is not None:
        if shipped.is_dir():
            return shipped
        raise mismatch(
            text, "a checkpoint folder", "the name of a file in the zoo", "`kerasbert zoo list` shows encoders"
        )
    if isinstance(name_or_path, str) and _HUB_NAME.fullmatch(text) and not _FILE_NAME.fullmatch(text):
        return _from_hub(text, revision)
    advice = f"did you mean {similar!r}?" if (similar := _similar_folder(local)) else ""
    raise mismatch(
        short_repr(text),
        "a checkpoint folder or a hub name such as 'org/name'",
        "neither: there is no such folder",
        advice or "check the path",
    )


def _from_hub(name: str, revision: str | None) -> Path:
    """Download a model, with a note before it where the name may be a local path with a typing error."""
    from kerasbert.checkpoints.hub import download

    similar = _similar_name(name)
    if similar or os.path.isdir(os.path.dirname(name)):
        note(f"there is no folder {name!r} here; asking the hub")
    try:
        return download(name, revision)
    except KerasBertError as error:
        if similar is None:
            raise
        raise with_advice(error, f"did you mean {similar}?") from error


def _similar_name(name: str) -> str | None:
    """A folder or a model of the zoo whose name resembles the unknown one."""
    if (folder := _similar_folder(name)) is not None:
        return f"the folder {folder!r}"
    return None if (model := nearest(name, shipped_names())) is None else f"{model} of the zoo"


def _similar_folder(path: str) -> str | None:
    """An existing folder whose name resembles the missing one's."""
    parent, name = os.path.split(os.path.normpath(path))
    try:
        folders = [entry.name for entry in os.scandir(parent or ".") if entry.is_dir()]
    except (OSError, ValueError):
        return None
    matches = difflib.get_close_matches(name, folders, 1, 0.75)
    return os.path.join(parent, matches[0]) if matches else None


def read_config(folder: str | os.PathLike, base: str | os.PathLike | None = None) -> dict[str, Any]:
    """Read the config of a checkpoint folder, in Hugging Face's keys and with checked sizes.

    The file is `config.json`, else Google's `*_config.json`, or the config of a keras-nlp preset. That of an adapter of PEFT is its base
    model's.

    Args:
        folder: the checkpoint folder.
        base: the base model of an adapter; by default the one that the adapter names.

    Raises:
        KerasBertError: when the config is missing or not a JSON object, the model type is not supported, a size is missing or invalid,
            or the weights would take more than 64 GiB.
    """
    path = Path(folder) / CONFIG_FILE
    if peft.is_adapter(folder):
        return peft.adapted_config(read_config(peft.base_folder(folder, base)), folder)
    if is_preset(folder):
        config = read_preset(folder)[0]
    elif path.is_file():
        config = _read_object(path)
    elif google_config := tf1.find_config(folder):
        path = google_config
        config = tf1.convert_config(_read_object(path))
    else:
        raise mismatch(folder, f"{CONFIG_FILE} in it", "none", "is this a checkpoint folder?")
    _check_sizes(path, config)
    return config


def max_sequence_length(config: Mapping[str, Any]) -> int:
    """Return the longest sequence in tokens that a model of this `config.json` accepts; 512 where the config has no number.

    Raises:
        KerasBertError: when RoBERTa's padding id is not a whole number.
    """
    positions = config.get("max_position_embeddings") or 512
    if config.get("model_type") not in ("roberta", "xlm-roberta"):
        return positions
    padding = config.get("pad_token_id", 1)
    if type(padding) is not int or not 0 <= padding < 2**31:
        raise mismatch(
            CONFIG_FILE, "pad_token_id as a whole number of at least 0", short_repr(padding), "correct the config"
        )
    return positions - padding - 1  # RoBERTa's positions start after the padding id


def label_names(config: Mapping[str, Any]) -> list[str]:
    """Return the labels of a `config.json` in the order of their numbers; none without `id2label`.

    Raises:
        KerasBertError: when a key of `id2label` is not a whole number, numbers are left out, or a label is not a string.
    """
    id2label = config.get("id2label")
    if id2label is None:
        return []
    numbered = isinstance(id2label, dict) and all(map(_LABEL_NUMBER.fullmatch, id2label))
    if not numbered or not all(isinstance(label, str) for label in id2label.values()):
        raise mismatch(
            CONFIG_FILE, "id2label as an object of labels by number", short_repr(id2label), "correct the config"
        )
    numbers = sorted(id2label, key=int)
    if [int(number) for number in numbers] != list(range(len(numbers))):
        received = f"the numbers {', '.join(numbers[:8])}"
        raise mismatch(CONFIG_FILE, "id2label numbered from 0 without gaps", received, "correct the config")
    return [id2label[number] for number in numbers]


def _read_object(path: Path) -> dict[str, Any]:
    return read_json_object(path, max_bytes=_MAX_CONFIG_BYTES)


def write_folder_files(
    folder: str | os.PathLike,
    config: Mapping[str, Any],
    tensors: Mapping[str, np.ndarray],
    dtype: str = "float32",
    shard_bytes: int | None = None,
) -> None:
    """Write `config.json` and `model.safetensors` or its shards, each atomically; the folder is created if needed.

    Args:
        folder: the checkpoint folder.
        config: the content of `config.json`.
        tensors: arrays by name.
        dtype: of the numbers in the file, `float32` or `float16`.
        shard_bytes: the largest size of a shard; None for one file.

    Raises:
        KerasBertError: when a file cannot be written, or a number is too large for the dtype.
    """
    folder, tensors = Path(folder), converted(tensors, dtype)
    config = config if dtype == "float32" else {**config, "torch_dtype": dtype}
    text = json.dumps(dict(config), indent=2, sort_keys=True, allow_nan=False) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if shard_bytes is None:
            write_tensors(folder / WEIGHTS_FILE, tensors)
        else:
            write_shards(folder, tensors, shard_bytes)
        with atomic_file(folder / CONFIG_FILE) as partial:
            partial.write_text(text, "ascii")
    except OSError as error:
        raise mismatch(
            folder / CONFIG_FILE, "a writable file", one_line(error), "check the disk and the folder's permissions"
        ) from error


def converted(tensors: Mapping[str, np.ndarray], dtype: str) -> dict[str, np.ndarray]:
    """Return tensors with the floating-point ones in another dtype.

    Args:
        tensors: arrays by name.
        dtype: `float32` or `float16`.

    Raises:
        KerasBertError: when there is no such dtype, or a number is too large for it.
    """
    if dtype not in DTYPES:
        raise KerasBertError(f"expected a dtype of {', '.join(DTYPES)}, received {dtype!r}")
    if dtype == DTYPES[0]:
        return dict(tensors)
    result = {}
    for name, tensor in tensors.items():
        floating = tensor.dtype.kind == "f"
        if floating and not np.abs(tensor).max(initial=0.0) <= np.finfo(dtype).max:
            raise KerasBertError(f"expected numbers within {dtype} in {name}, received larger ones; save as float32")
        result[name] = tensor.astype(dtype) if floating else tensor
    return result


def _check_sizes(path: Path, config: dict[str, Any]) -> None:
    model_type = config.get("model_type")
    if not isinstance(model_type, str) or not model_type:
        raise mismatch(path, "a model_type", short_repr(model_type), 'add one, such as "model_type": "bert"')
    if model_type not in ARCHITECTURES:
        expected = f"a model_type that is supported ({', '.join(sorted(ARCHITECTURES))})"
        raise mismatch(path, expected, short_repr(model_type), "load a checkpoint of one of these architectures")
    required = _SIZES_BY_MODEL_TYPE.get(model_type, _SIZES)
    for name in (*required, *(name for name in _OPTIONAL_SIZES if config.get(name) is not None)):
        value = config.get(name)
        if type(value) is not int or not 0 < value < 2**31:
            raise mismatch(path, f"{name} as a positive whole number", short_repr(value), "correct the config")
        if name in _REPETITIONS and value > _MAX_REPETITIONS:
            raise mismatch(path, f"{name} of at most {_MAX_REPETITIONS}", str(value), "correct the config")
    _check_memory(path, config, [config[name] for name in required])


def _check_memory(path: Path, config: dict[str, Any], sizes: list[int]) -> None:
    """Estimate the weights' size to an order of magnitude: embeddings, and attention and feed-forward of each block."""
    vocabulary, hidden, *others = sizes
    layers = others.pop(0) if others else 0  # static vectors have none
    intermediate = others[-1] if others else hidden  # an LSTM has no feed-forward network
    embeddings = vocabulary + (config.get("max_position_embeddings") or 0)
    if config["model_type"] == "albert":
        layers = (config.get("num_hidden_groups") or 1) * (config.get("inner_group_num") or 1)
    width = config.get("intra_bottleneck_size") or hidden
    block = 4 * width * hidden + 2 * width * intermediate * (config.get("num_feedforward_networks") or 1)
    weights = 4 * (embeddings * (config.get("embedding_size") or hidden) + layers * block)
    if weights > _MAX_WEIGHT_BYTES:
        received = f"sizes that need about {weights // 2**30} GiB ({', '.join(map(str, sizes))})"
        raise mismatch(path, f"weights of at most {_MAX_WEIGHT_BYTES // 2**30} GiB", received, "are the sizes right?")
