"""Writes a site: the page, the shared style, LiteRT.js and the models, with a list of all files."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kerasbert.data import assistant
from kerasbert.errors import KerasBertError
from kerasbert.export.backends.environments.known import WEB
from kerasbert.export.reporting.html_page import STYLE_FILE
from kerasbert.files.atomic import atomic_folder
from kerasbert.files.own_files import SITE, marked_json
from kerasbert.files.site_folder import SITE_FILE, site_owner
from kerasbert.web import models
from kerasbert.web.litert import litert_files
from kerasbert.web.models import SiteModel
from kerasbert.web.page_files import page_files

_STYLE = "style.css"
_MODELS = f"{models.FOLDER}/index.json"
_SAMPLES = "samples.json"


@dataclass(frozen=True)
class Site:
    """A site that was written.

    Attributes:
        folder: Its folder.
        version: The hash of all its files.
        sizes: The bytes of each file by path.
    """

    folder: Path
    version: str
    sizes: Mapping[str, int]


def check_litert() -> None:
    """Check that LiteRT.js is installed.

    Raises:
        KerasBertError: When it is not, or in another version.
    """
    if not WEB.ready:
        raise KerasBertError(f"expected LiteRT.js for the page, received {WEB.missing}")


def site_files(site_models: Sequence[SiteModel]) -> dict[str, Path | bytes]:
    """Return every file of a site but the list of files: the content, or the file to copy.

    Args:
        site_models: The models.

    Raises:
        KerasBertError: When a part is not installed.
    """
    version = WEB.packages[0].rpartition("@")[2]
    return {
        **page_files(),
        _STYLE: STYLE_FILE,
        **litert_files(WEB.folder / "node_modules", version),
        **{model.file: model.source for model in site_models},
        _MODELS: _json({"models": [model.entry() for model in site_models]}),
        _SAMPLES: _json({"phrases": _phrases()}),
    }


def write_site(folder: Path, files: Mapping[str, Path | bytes]) -> Site:
    """Write a site completely or not at all, in place of an earlier one. Files of others in the folder stay.

    Args:
        folder: The site's folder; see `kerasbert.files.site_folder` for what may be replaced there.
        files: Its files, as `site_files` returns them.

    Raises:
        KerasBertError: When the folder cannot be replaced.
    """
    listed = {}
    with atomic_folder(folder, owns=site_owner(folder, (*files, SITE_FILE))) as partial:
        for path in sorted(files):
            listed[path] = _write(partial / path, files[path])
        version = _version(listed)
        _write(partial / SITE_FILE, marked_json(SITE, {"version": version, "files": listed}).encode())
        sizes = {path: (partial / path).stat().st_size for path in (*listed, SITE_FILE)}
    return Site(folder, version, sizes)


def _phrases() -> list[str]:
    """The texts of the bundled data, each once: something to search before the user has pasted texts of her own."""
    return list(dict.fromkeys(text for split in assistant.SPLITS for text in assistant.load(split).texts))


def _json(content: Mapping[str, object]) -> bytes:
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _write(target: Path, source: Path | bytes) -> dict[str, int | str]:
    target.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(source, bytes):
        target.write_bytes(source)
    else:
        shutil.copyfile(source, target)
    with target.open("rb") as file:
        return {"bytes": target.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _version(listed: Mapping[str, Mapping[str, int | str]]) -> str:
    """Return a hash that changes with every change of a file, and only then. `listed`: sorted by path."""
    lines = "".join(f"{facts['sha256']} {path}\n" for path, facts in listed.items())
    return hashlib.sha256(lines.encode()).hexdigest()
