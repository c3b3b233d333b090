"""What a model's folder consists of: which names in it are ours to replace, and what it holds now."""

import os
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import JSON_NAMES, read_json_object

OWN_FILE = "kerasbert.json"  # every folder that `save_pretrained` wrote has one
RANGES_FILE = "quantization.safetensors"
RECORD_FILE = "training.json"
RUN_FOLDER = "run"  # what a training wrote beside the model; it stays when the model is saved again
STATE_FILE, CONFIG_FILE, COMMAND_FILE = "state.safetensors", "config.toml", "command.json"  # in RUN_FOLDER

# What a model may consist of, here and at Hugging Face: one of an earlier model would be read as a part of the new one.
_MODEL_FILES = frozenset({
    OWN_FILE, RANGES_FILE, RECORD_FILE, "config.json", "model.safetensors",
    "vocab.txt", "spiece.model", "vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
    "added_tokens.json", "modules.json", "sentence_bert_config.json", "1_Pooling/config.json",
})  # fmt: skip


def is_of_the_model(path: str) -> bool:
    """Whether a path inside a model's folder, such as `1_Pooling/config.json`, is a part of the model, which goes with it."""
    return path in _MODEL_FILES


def is_model(folder: Path) -> bool:
    """Whether a model of ours is saved there."""
    return (folder / OWN_FILE).is_file()


def is_interrupted(folder: Path) -> bool:
    """Whether a training can go on there."""
    run = folder / RUN_FOLDER
    return (run / STATE_FILE).is_file() and any((run / name).is_file() for name in (CONFIG_FILE, COMMAND_FILE))


def is_replaceable(folder: Path) -> bool:
    """Whether a model may be saved in an existing folder: an empty one, one with a model of ours, or with the run of a training alone."""
    if not folder.is_dir():
        return False
    return is_model(folder) or set(os.listdir(folder)) <= {RUN_FOLDER}


def check_run_folder(folder: Path) -> None:
    """Raises KerasBertError where `run` in it is a link or a file: nothing is written through links inside of a model's folder."""
    run = folder / RUN_FOLDER
    if run.is_symlink():
        raise KerasBertError(
            f"expected a folder {str(run)!r}, received a link to {os.readlink(run)!r}; remove the link, or name another --out"
        )
    if run.exists() and not run.is_dir():
        raise KerasBertError(f"expected a folder {str(run)!r}, received a file; rename it, or name another --out")


def read_own(folder: str | os.PathLike) -> dict:
    """`kerasbert.json` of a folder, or an empty dict where there is none. Raises KerasBertError for a damaged one."""
    path = Path(folder) / OWN_FILE
    if not path.is_file():
        return {}
    own = read_json_object(path)
    for name, kind in (("task", str), ("settings", dict), ("encoder", dict), ("quantization", dict)):
        if name in own and not isinstance(own[name], kind):
            raise KerasBertError(f"{path}: expected {name!r} as {JSON_NAMES[kind]}, received {str(own[name])[:100]}")
    return own
