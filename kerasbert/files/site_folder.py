"""Sites that `kerasbert web` wrote: recognition by their list of files, and which paths in them may be replaced."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.files.exchange import Owns
from kerasbert.files.json_text import read_json_object
from kerasbert.files.own_files import SITE, is_own
from kerasbert.files.partials import hidden_prefix, is_temporary

SITE_FILE = "files.json"  # the list of all other files of the site


def read_listed(folder: Path) -> dict[str, Mapping[str, Any]] | None:
    """Return `bytes` and `sha256` of the files that kerasbert wrote into a site, by path; None for any other folder."""
    path = folder / SITE_FILE
    if not is_own(path, SITE):
        return None
    try:
        files = read_json_object(path).get("files")
    except KerasBertError:
        return None
    if not isinstance(files, dict):
        return None
    return {name: facts for name, facts in files.items() if isinstance(facts, dict)}


def site_owner(folder: Path, written: Iterable[str] = ()) -> Owns:
    """Return which paths belong to kerasbert: those that the site lists, or a copy of it that an interrupted command left beside it.

    Args:
        folder: The site's folder, which need not exist.
        written: Paths that a new site will hold.
    """
    folder = Path(os.path.realpath(folder))
    owned = set(written)
    for each in (folder, *_left_beside(folder)):
        if (listed := read_listed(each)) is not None:
            owned |= {SITE_FILE, *listed}
    return owned.__contains__


def edited_files(folder: Path) -> list[str]:
    """Return the paths of a site's own files whose content has changed since kerasbert wrote them. Missing files do not count."""
    listed = read_listed(folder) or {}
    return [name for name, facts in listed.items() if _is_edited(folder / name, facts)]


def foreign_files(folder: Path, paths: Iterable[str]) -> list[str]:
    """Return those of `paths` that exist in a site and that kerasbert did not write, or that lie below a file or a link there."""
    owns = site_owner(folder)
    return [path for path in paths if _is_blocked(folder, path) or not owns(path) and os.path.lexists(folder / path)]


def _is_blocked(folder: Path, path: str) -> bool:
    """Return True if the path lies below a file or a link. A site holds only real folders, so such a parent is a user's."""
    parents = list(Path(path).parents)[:-1]
    return any(os.path.lexists(folder / parent) and not _is_folder(folder / parent) for parent in parents)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_edited(path: Path, facts: Mapping[str, Any]) -> bool:
    if not os.path.lexists(path):
        return False
    if path.is_symlink() or not path.is_file() or path.stat().st_size != facts.get("bytes"):
        return True
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() != facts.get("sha256")


def _left_beside(folder: Path) -> list[Path]:
    prefix = hidden_prefix(folder.name)
    try:
        names = os.listdir(folder.parent)
    except OSError:
        return []
    return [folder.parent / name for name in names if name.startswith(prefix) and is_temporary(name)]
