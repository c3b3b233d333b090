"""`modules.json` of a sentence-transformers folder: the modules of a model, each with the folder of its files."""

import re
from dataclasses import dataclass
from pathlib import Path

from kerasbert.checkpoints import sentence_keys
from kerasbert.checkpoints.messages import mismatch, short_repr
from kerasbert.files.json_text import read_json

MODULES_FILE = "modules.json"
_PACKAGE = "sentence_transformers."
_FOLDER_NAME = re.compile(r"\w[\w.\-]{0,99}(/\w[\w.\-]{0,99}){0,3}", re.ASCII)
_MAX_MODULES = 100


@dataclass(frozen=True)
class Module:
    """A module of a model.

    Attributes:
        kind: The class of sentence-transformers, such as `Pooling`; the whole type for a class of another package.
        folder: The folder of its files.
    """

    kind: str
    folder: Path


def read_modules(root: Path) -> list[Module] | None:
    """Return the modules of a folder in their order; None without a `modules.json`.

    Raises:
        KerasBertError: When the file is damaged.
    """
    path = root / MODULES_FILE
    if not path.is_file():
        return None
    entries = read_json(path)
    valid = isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries)
    if not valid or not 0 < len(entries) <= _MAX_MODULES:
        raise mismatch(path, "a list of modules", short_repr(entries), "correct the file")
    return [_module(entry, path) for entry in entries]


def encoder_folder(root: Path) -> Path:
    """Return the folder of a model's encoder.

    Versions of sentence-transformers before 2.0 write it to `0_Transformer`, later ones to the folder of the model itself.

    Raises:
        KerasBertError: When `modules.json` is damaged.
    """
    modules = read_modules(root)
    return modules[0].folder if modules and modules[0].kind == "Transformer" else root


def root_folder(folder: Path) -> Path:
    """Return the folder with the `modules.json` of an encoder's folder: itself, or the one that it is in.

    Raises:
        KerasBertError: When `modules.json` is damaged.
    """
    if (folder / MODULES_FILE).is_file() or not (folder.parent / MODULES_FILE).is_file():
        return folder
    return folder.parent if encoder_folder(folder.parent) == folder else folder


def _module(entry: dict, path: Path) -> Module:
    module = sentence_keys.ModuleEntry.from_dict(entry, path)
    kind, place = module.type, module.path
    if place and not _FOLDER_NAME.fullmatch(place):
        raise mismatch(path, "the path of a module as a folder's name", short_repr(place), "correct the file")
    # The path of a class: `sentence_transformers.models.Pooling` before 5.4, longer ones since.
    return Module(kind.rpartition(".")[2] if kind.startswith(_PACKAGE) else kind, path.parent / place)
