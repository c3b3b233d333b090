"""Contents of a model folder: the names that may be replaced, and the state of an existing folder."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import read_json_object
from kerasbert.files.known_keys import KnownKeys
from kerasbert.files.record import Record

OWN_FILE = "kerasbert.json"  # in every folder that `save_pretrained` wrote
RANGES_FILE = "quantization.safetensors"
RECORD_FILE = "training.json"
RUN_FOLDER = "run"  # the training run beside the model; it stays when the model is saved again
STATE_FILE, CONFIG_FILE, COMMAND_FILE = "state.safetensors", "config.toml", "command.json"  # in RUN_FOLDER
STAGES_FOLDER = "stages"  # of a run in several stages, until it is complete

# All files of a model, kerasbert's and Hugging Face's. One left from an earlier model would be read as a part of the new one.
_MODEL_FILES = frozenset({
    OWN_FILE, RANGES_FILE, RECORD_FILE, "config.json", "model.safetensors",
    "vocab.txt", "spiece.model", "vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
    "added_tokens.json", "modules.json", "sentence_bert_config.json", "1_Pooling/config.json", "model.safetensors.index.json",
    "config_sentence_transformers.json", "2_Dense/config.json", "2_Dense/model.safetensors",
})  # fmt: skip
_SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors", re.ASCII)


@dataclass(frozen=True)
class _OwnConfig(Record):
    """The entries of kerasbert.json."""

    others: ClassVar[KnownKeys | None] = KnownKeys(only={"format": (1,)})
    advice: ClassVar[str] = "load it with the version of kerasbert that wrote it"

    task: str
    settings: dict
    encoder: dict
    quantization: dict
    training: object


def is_model_file(path: str) -> bool:
    """Return True if a path inside a model folder, such as `1_Pooling/config.json`, is a part of the model."""
    return path in _MODEL_FILES or _SHARD.fullmatch(path) is not None


def is_model_folder(folder: Path) -> bool:
    """Return True if kerasbert saved a model there."""
    return (folder / OWN_FILE).is_file()


def has_interrupted_run(folder: Path) -> bool:
    """Return True if the folder holds a training run that can be resumed."""
    run = folder / RUN_FOLDER
    has_state = (run / STATE_FILE).is_file() or (run / STAGES_FOLDER).is_dir()
    return has_state and any((run / name).is_file() for name in (CONFIG_FILE, COMMAND_FILE))


def is_replaceable(folder: Path) -> bool:
    """Return True if a model may be saved in an existing folder: it holds a model of kerasbert's, only a training run, or nothing."""
    if not folder.is_dir():
        return False
    return is_model_folder(folder) or set(os.listdir(folder)) <= {RUN_FOLDER}


def check_run_folder(folder: Path) -> None:
    """Check that the run folder of a model folder is a real folder or does not exist.

    Nothing is written through links inside a model folder.

    Raises:
        KerasBertError: when it is a link or a file.
    """
    run = folder / RUN_FOLDER
    if run.is_symlink():
        raise KerasBertError(
            f"expected a folder {str(run)!r}, received a link to {os.readlink(run)!r}; remove the link, or name another --out"
        )
    if run.exists() and not run.is_dir():
        raise KerasBertError(f"expected a folder {str(run)!r}, received a file; rename it, or name another --out")


def read_own_config(folder: str | os.PathLike) -> dict:
    """Return the content of a folder's `kerasbert.json`, or an empty dict where there is none.

    Raises:
        KerasBertError: when the file is damaged or of a newer format. Unknown keys are noted, and errors under `strict`.
    """
    path = Path(folder) / OWN_FILE
    if not path.is_file():
        return {}
    config = read_json_object(path)
    _OwnConfig.given(config, path)
    return config
