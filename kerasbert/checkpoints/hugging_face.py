"""Checkpoint folders in Hugging Face's layout: found, read and written."""

import difflib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kerasbert.checkpoints import tf1
from kerasbert.checkpoints.keras_nlp_folder import is_preset, read_preset
from kerasbert.checkpoints.messages import mismatch, one_line, shown
from kerasbert.checkpoints.safetensors_file import WEIGHTS_FILE, write_tensors
from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file, recover
from kerasbert.files.json_text import read_json_object

CONFIG_FILE = "config.json"

# "org/name", or of the hub's oldest models the name alone, which it redirects: bert-base-uncased.
_HUB_NAME = re.compile(r"(?:[A-Za-z0-9][\w.\-]*/)?[A-Za-z0-9][\w.\-]{0,95}", re.ASCII)
_FILE_NAME = re.compile(
    r".*\.(tflite|npz|json|jsonl|txt|csv|tsv|gz|h5|bin|safetensors|ckpt|pt|onnx|keras|toml)", re.ASCII
)
_LABEL_NUMBER = re.compile("[0-9]{1,9}")
_MAX_CONFIG_BYTES = 10_000_000
_SIZES = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
# In the same order.
_SIZES_BY_MODEL_TYPE = {"distilbert": ("vocab_size", "dim", "n_layers", "n_heads", "hidden_dim")}
_REPETITIONS = ("num_hidden_layers", "n_layers", "num_hidden_groups", "inner_group_num", "num_feedforward_networks")
_OPTIONAL_SIZES = (  # absent or null, an encoder takes its own default
    *("max_position_embeddings", "type_vocab_size", "embedding_size"),
    *("num_hidden_groups", "inner_group_num"),  # ALBERT
    *("intra_bottleneck_size", "num_feedforward_networks"),  # MobileBERT
)
_MAX_REPETITIONS = 1000
_MAX_WEIGHT_BYTES = 64 * 2**30  # XLM-RoBERTa XXL, the largest of its kind, takes 40


def resolve(name_or_path: str | os.PathLike, revision: str | None = None) -> Path:
    """The folder of a checkpoint: `name_or_path` itself if it is one, else "org/name" or "name" downloaded from the hub.

    revision: branch, tag or commit on the hub; a local folder has none.
    Raises KerasBertError when it is neither, or the hub does not give it.
    """
    text = os.fspath(name_or_path)
    local = os.path.expanduser(text)
    if not os.path.isdir(local) and "\0" not in local:
        recover(local)
    if os.path.isdir(local):
        return Path(local)
    if os.path.exists(local):
        raise mismatch(text, "a checkpoint folder", "a file", "pass the folder that it is in")
    if isinstance(name_or_path, str) and _HUB_NAME.fullmatch(text) and not _FILE_NAME.fullmatch(text):
        return _from_hub(text, revision)
    advice = f"did you mean {near!r}?" if (near := _near(local)) else ""
    raise mismatch(
        shown(text), "a checkpoint folder or a hub name such as 'org/name'", "neither: there is no such folder", advice
    )


def _from_hub(name: str, revision: str | None) -> Path:
    """The folder of a model on the hub. What looks like a folder's path is said not to be there before the hub is asked."""
    from kerasbert.checkpoints.hub import download

    near = _near(name)
    if near or os.path.isdir(os.path.dirname(name)):
        note(f"there is no folder {name!r} here; asking the hub")
    try:
        return download(name, revision)
    except KerasBertError as error:
        if near is None:
            raise
        raise KerasBertError(f"{error}; did you mean the folder {near!r}?") from error


def _near(path: str) -> str | None:
    """A folder whose name resembles that of one that is not there."""
    parent, name = os.path.split(os.path.normpath(path))
    try:
        folders = [entry.name for entry in os.scandir(parent or ".") if entry.is_dir()]
    except (OSError, ValueError):
        return None
    found = difflib.get_close_matches(name, folders, 1, 0.75)
    return os.path.join(parent, found[0]) if found else None


def read_config(folder: str | os.PathLike) -> dict:
    """The parsed `config.json` of a checkpoint folder, with a model type and sizes that are positive whole numbers.

    Where there is none, a `*_config.json` of Google's, in Hugging Face's keys; of a preset of keras-nlp's likewise.
    Raises KerasBertError when there is neither, it is not a JSON object, lacks one of them, or describes weights that fit in no memory.
    """
    path = Path(folder) / CONFIG_FILE
    if is_preset(folder):
        config = read_preset(folder)[0]
    elif path.is_file():
        config = _parsed(path)
    elif theirs := tf1.config_file(folder):
        path = theirs
        config = tf1.convert_config(_parsed(path))
    else:
        raise mismatch(folder, f"{CONFIG_FILE} in it", "none", "is this a checkpoint folder?")
    _check_sizes(path, config)
    return config


def longest_row(config: Mapping) -> int:
    """The most tokens a row can have, by a `config.json`; 512 where it does not say.

    Raises KerasBertError for a padding id that is no number.
    """
    positions = config.get("max_position_embeddings") or 512
    if config.get("model_type") != "roberta":
        return positions
    padding = config.get("pad_token_id", 1)
    if type(padding) is not int or not 0 <= padding < 2**31:
        raise mismatch(CONFIG_FILE, "pad_token_id as a whole number from 0 on", shown(padding))
    return positions - padding - 1  # RoBERTa counts positions from behind the padding word's


def label_names(config: Mapping) -> list[str]:
    """The labels of a `config.json` in their order; none where it has no `id2label`.

    Raises KerasBertError for an `id2label` whose keys are no whole numbers, or whose labels are no texts.
    """
    found = config.get("id2label")
    if found is None:
        return []
    numbered = isinstance(found, dict) and all(map(_LABEL_NUMBER.fullmatch, found))
    if not numbered or not all(isinstance(label, str) for label in found.values()):
        raise mismatch(CONFIG_FILE, "id2label as an object of labels by number", shown(found))
    return [found[number] for number in sorted(found, key=int)]


def _parsed(path: Path) -> dict:
    return read_json_object(path, max_bytes=_MAX_CONFIG_BYTES)


def write_folder_files(folder: str | os.PathLike, config: Mapping, tensors: Mapping[str, np.ndarray]) -> None:
    """Writes `config.json` and `model.safetensors` into a folder, made if it is not there; each file atomically.

    Raises KerasBertError when one cannot be written.
    """
    folder = Path(folder)
    text = json.dumps(dict(config), indent=2, sort_keys=True, allow_nan=False) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_tensors(folder / WEIGHTS_FILE, tensors)
        with atomic_file(folder / CONFIG_FILE) as partial:
            partial.write_text(text, "ascii")
    except OSError as error:
        raise mismatch(folder / CONFIG_FILE, "to write it", one_line(error)) from error


def _check_sizes(path: Path, config: dict) -> None:
    model_type = config.get("model_type")
    if not isinstance(model_type, str) or not model_type:
        raise mismatch(path, "a model_type", shown(model_type), 'add one, such as "model_type": "bert"')
    required = _SIZES_BY_MODEL_TYPE.get(model_type, _SIZES)
    for name in (*required, *(name for name in _OPTIONAL_SIZES if config.get(name) is not None)):
        value = config.get(name)
        if type(value) is not int or not 0 < value < 2**31:
            raise mismatch(path, f"{name} as a positive whole number", shown(value))
        if name in _REPETITIONS and value > _MAX_REPETITIONS:
            raise mismatch(path, f"{name} of at most {_MAX_REPETITIONS}", str(value), "no published encoder comes near")
    _check_memory(path, config, [config[name] for name in required])


def _check_memory(path: Path, config: dict, sizes: list[int]) -> None:
    """A guess at the weights, to the order of magnitude: embeddings, and attention and feed-forward of every block."""
    vocabulary, hidden, layers, _, intermediate = sizes
    rows = vocabulary + (config.get("max_position_embeddings") or 0)
    if config["model_type"] == "albert":
        layers = (config.get("num_hidden_groups") or 1) * (config.get("inner_group_num") or 1)
    width = config.get("intra_bottleneck_size") or hidden
    block = 4 * width * hidden + 2 * width * intermediate * (config.get("num_feedforward_networks") or 1)
    weights = 4 * (rows * (config.get("embedding_size") or hidden) + layers * block)
    if weights > _MAX_WEIGHT_BYTES:
        received = f"sizes that need about {weights // 2**30} GiB ({', '.join(map(str, sizes))})"
        raise mismatch(path, f"weights of at most {_MAX_WEIGHT_BYTES // 2**30} GiB", received, "are the sizes right?")
