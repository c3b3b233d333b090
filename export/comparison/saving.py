"""Comparisons to files, by the suffix of their names."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kerasbert.arguments import argument, check_path
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.files.own_files import REPORT, check_own, marked_json


def save_by_suffix(
    path: str | os.PathLike,
    overwrite: bool,
    pages: Mapping[str, Callable[[Path], Any]],
    as_dict: Callable[[], dict[str, Any]],
    as_csv: Callable[[], str],
) -> Path:
    """Write a comparison as `.json` or `.csv`, or by the function of another suffix.

    Args:
        path: The file.
        overwrite: Whether an existing `.csv` file is replaced. Other files are replaced if kerasbert wrote them.
        pages: What writes the file, by suffix.
        as_dict: Makes the object of a `.json` file.
        as_csv: Makes the content of a `.csv` file.

    Returns:
        The path.

    Raises:
        KerasBertError: When the path has another suffix, or a file is there that may not be replaced.
    """
    path = Path(check_path(path, "the path of a file to write"))
    if path.suffix in pages:
        pages[path.suffix](path)
        return path
    if path.suffix == ".json":
        check_own(path, REPORT, "a report")
        content = marked_json(REPORT, as_dict())
    elif path.suffix == ".csv":
        check_csv(path, overwrite)
        content = as_csv()
    else:
        *first, last = [
            suffix for suffix in (".html", ".json", ".csv", ".png", ".svg") if suffix in {".json", ".csv", *pages}
        ]
        raise KerasBertError(
            f"expected a name ending in {', '.join(first)} or {last}, received {os.fspath(path)!r}; give such a name"
        )
    with atomic_file(path) as partial:
        partial.write_text(content, encoding="utf-8")
    return path


def check_csv(path: Path, overwrite: bool) -> None:
    """Check that a table may be written: a `.csv` file shows not who wrote it, so an existing one is replaced only on request.

    Args:
        path: The file.
        overwrite: Whether an existing file may be replaced.

    Raises:
        KerasBertError: When it may not.
    """
    if path.is_dir():
        raise KerasBertError(f"expected a file for the table, received the folder {str(path)!r}; name a file in it")
    if path.exists() and not overwrite:
        raise KerasBertError(
            f"expected a new file for the table, received {str(path)!r}, which exists; name another, or add {argument('overwrite')}"
        )
