"""Checks of output paths before the work starts, so that a typo does not cost an hour of training."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from kerasbert.cli.process.claims import claim, make_parent
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import check_replaceable, recover
from kerasbert.files.model_folder import (
    RUN_FOLDER,
    check_run_folder,
    has_interrupted_run,
    is_model_file,
    is_model_folder,
    is_replaceable,
)
from kerasbert.files.own_files import check_own
from kerasbert.files.partials import clear_inside
from kerasbert.files.site_folder import edited_files, foreign_files, read_listed, site_owner

_LONGEST_INSIDE = 64  # bytes of the longest path inside a model's folder, including temporary files


def check_out_folder(
    out: str | os.PathLike, *sources: str | os.PathLike | None, resume: bool = False, overwrite: bool = False
) -> None:
    """Check that a model can be saved in a folder, and lock the folder for the command.

    Args:
        out: The folder.
        sources: The folders that models are read from; `out` must differ from them.
        resume: Whether an interrupted training in the folder may be resumed.
        overwrite: Whether a model or an interrupted training in the folder may be replaced.

    Raises:
        KerasBertError: When the folder cannot be written, or holds something that may not be replaced.
    """
    out = Path(out)
    if resume and overwrite:
        raise KerasBertError("expected --resume or --overwrite, received both; leave one out")
    check_name(out, _LONGEST_INSIDE)
    for source in sources:
        if source is not None and os.path.isdir(source) and out.exists() and out.samefile(source):
            raise KerasBertError(
                f"expected another --out than the folder the model is read from, received {str(out)!r}; name a new folder"
            )
    if out.is_symlink() and not out.exists():
        raise KerasBertError(f"expected a folder as --out, received {str(out)!r}, a link to nothing; remove the link")
    if out.exists() and not out.is_dir():
        raise KerasBertError(f"expected a folder as --out, received the file {str(out)!r}; name another")
    _check_writable(out, levels=2)
    make_parent(out)
    claim(out)
    unfinished = recover(out, is_model_file)
    if unfinished:
        raise KerasBertError(
            f"expected no folder of an interrupted command beside {str(out)!r}, received {str(unfinished[0])!r} with other files; move "
            "them away"
        )
    if out.exists():
        _check_content(out, resume, overwrite)
        clear_inside(out / RUN_FOLDER)


def _check_content(out: Path, resume: bool, overwrite: bool) -> None:
    check_run_folder(out)
    if not is_replaceable(out):
        raise KerasBertError(
            f"expected a new or empty folder as --out, or one of kerasbert's, received {str(out)!r}, which holds other files; name another"
        )
    check_replaceable(out, is_model_file)
    if resume or overwrite:
        return
    if has_interrupted_run(out):
        raise KerasBertError(
            f"expected a new or empty folder as --out, received {str(out)!r}, which holds an interrupted training; "
            "continue it with --resume, or replace it with --overwrite"
        )
    if is_model_folder(out):
        raise KerasBertError(
            f"expected a new or empty folder as --out, received {str(out)!r}, which holds a model; name another, or replace it with "
            "--overwrite"
        )


def check_site_folder(out: Path) -> None:
    """Check that a site can be written to a folder, and lock the folder for the command.

    Args:
        out: The folder.

    Raises:
        KerasBertError: When the folder cannot be written, or holds something that may not be replaced.
    """
    check_results_folder(out)
    if out.is_symlink() and not out.exists():
        raise KerasBertError(f"expected a folder as --out, received {str(out)!r}, a link to nothing; remove the link")
    if unfinished := recover(out, site_owner(out)):
        raise KerasBertError(
            f"expected no folder of an interrupted command beside {str(out)!r}, received {str(unfinished[0])!r} with other files; move "
            "them away"
        )
    if not out.exists():
        return
    if read_listed(out) is None and os.listdir(out):
        raise KerasBertError(
            f"expected a new or empty folder as --out, or a site of kerasbert's, received {str(out)!r}, which holds other files; name "
            "another"
        )
    check_replaceable(out, site_owner(out))
    if edited := edited_files(out):
        raise KerasBertError(
            f"expected the site in {str(out)!r} as kerasbert wrote it, received one with a changed {edited[0]}; move that file away, or "
            "name another folder"
        )


def check_new_files(out: Path, paths: Iterable[str]) -> None:
    """Check that the files of a new site do not take the place of files that kerasbert did not write.

    Args:
        out: The site's folder.
        paths: Paths of the new files in it.

    Raises:
        KerasBertError: When one does.
    """
    if taken := foreign_files(out, paths):
        raise KerasBertError(
            f"expected no file of others where the site needs {taken[0]}, received one in {str(out)!r}; rename it, or name another folder"
        )


def check_results_folder(out: Path) -> None:
    """Check that files can be written into a folder, and lock the folder for the command.

    Args:
        out: The folder.

    Raises:
        KerasBertError: When they cannot.
    """
    check_name(out, _LONGEST_INSIDE)
    if out.exists() and not out.is_dir():
        raise KerasBertError(f"expected a folder as --out, received the file {str(out)!r}; name another")
    _check_writable(out, levels=2)
    make_parent(out)
    claim(out)


def check_out_file(out: Path, option: str, kind: str | None = None, ending: str | tuple[str, ...] = "") -> None:
    """Check that a file can be written, and lock its path for the command.

    Args:
        out: The file.
        option: The option, for messages.
        kind: The kind of `kerasbert.files.own_files` that an existing file must have to be replaced. None leaves this check to the caller.
        ending: The required ending of the name, or several.

    Raises:
        KerasBertError: When the file cannot be written, or an existing one may not be replaced.
    """
    if not out.name.endswith(ending):
        endings = ending if isinstance(ending, str) else " or ".join(ending)
        raise KerasBertError(f"expected a file name ending in {endings} as {option}, received {str(out)!r}; rename it")
    check_name(out)
    if kind is not None:
        check_own(out, kind, option)
    elif out.is_dir():
        raise KerasBertError(f"expected a file as {option}, received the folder {str(out)!r}; name a file in it")
    _check_writable(out, levels=1)
    claim(out)


def check_new_file(out: Path, overwrite: bool, ending: str | tuple[str, ...], kind: str | None = None) -> None:
    """Check that a file of results can be written as --out, and lock its path for the command.

    Args:
        out: The file.
        overwrite: Whether an existing file may be replaced.
        ending: The required ending of the name, or several.
        kind: The kind of `kerasbert.files.own_files` that an existing file must have; None for any.

    Raises:
        KerasBertError: When it cannot be written, or exists and may not be replaced.
    """
    check_out_file(out, "--out", kind, ending)
    if out.exists() and not overwrite:
        raise KerasBertError(
            f"expected a new file as --out, received {str(out)!r}, which exists; name another, or add --overwrite"
        )


def check_companions(companions: Iterable[tuple[Path, str]]) -> None:
    """Check that the files beside an output can be written.

    Args:
        companions: Each file with its kind of `kerasbert.files.own_files`.

    Raises:
        KerasBertError: When one cannot be written, or an existing one may not be replaced.
    """
    for path, kind in companions:
        check_name(path)
        check_own(path, kind, f"{kind} beside --out")


def check_cache_folder(folder: Path) -> None:
    """Check that subfolders can be created in the folder of `--cache`.

    Args:
        folder: The folder.

    Raises:
        KerasBertError: When they cannot.
    """
    if folder.exists() and not folder.is_dir():
        raise KerasBertError(f"expected a folder as --cache, received the file {str(folder)!r}; name another")
    _check_writable(folder / "cache", levels=2)


def check_name(out: Path, inside: int = 0) -> None:
    """Check that a name and a path are not too long for their file system.

    Args:
        out: The path.
        inside: The length in bytes of the longest path inside the folder.

    Raises:
        KerasBertError: When one is too long.
    """
    parent = _nearest(out)
    for limit, size, what in (
        ("PC_NAME_MAX", max(len(os.fsencode(part)) for part in out.absolute().parts), "a name"),
        ("PC_PATH_MAX", len(os.fsencode(out.absolute())) + inside, "a path"),
    ):
        try:
            maximum = os.pathconf(parent, limit)
        except (OSError, ValueError, AttributeError):
            continue
        if 0 < maximum < size:
            raise KerasBertError(
                f"expected {what} of at most {maximum} bytes, received one of {size}: {out.name[:60]!r}...; choose a shorter one"
            )


def _nearest(out: Path) -> Path:
    """Return the nearest existing folder above a path."""
    return next(folder for folder in out.absolute().parents if os.path.lexists(folder))


def _check_writable(out: Path, levels: int) -> None:
    """Check that a path can be created, where at most `levels` of its last parts do not exist."""
    parent = _nearest(out)
    if not parent.is_dir():
        raise KerasBertError(
            f"expected a path in a folder, received {str(out)!r}, where {str(parent)!r} is a file; name another"
        )
    missing = len(out.absolute().parts) - len(parent.parts)
    if missing > levels:
        first = Path(*out.absolute().parts[: len(parent.parts) + 1])
        raise KerasBertError(
            f"expected a path in an existing folder, received {str(out)!r}, but there is no {str(first)!r}; make it first"
        )
    try:
        tempfile.TemporaryFile(dir=parent).close()
    except OSError as error:
        raise KerasBertError(
            f"expected a writable folder for {str(out)!r}, received {str(parent)!r} ({error.strerror}); choose another"
        ) from error
