"""Where a command will write: looked at before the work starts, so that an hour of training is not lost to a typo."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from kerasbert.cli.common.claims import claim, make_parent
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

_LONGEST_INSIDE = 64  # letters of the longest path in a model's folder, the temporary ones included


def check_out_folder(
    out: str | os.PathLike, *sources: str | os.PathLike | None, resume: bool = False, overwrite: bool = False
) -> None:
    """Raises KerasBertError unless a model can be saved at `out`, which is then this command's until it ends.

    sources: the folders that models are read from; `out` must be none of them. resume, overwrite: whether an interrupted training that is
    there may go on, and whether it, or a model, may be replaced.
    """
    out = Path(out)
    if resume and overwrite:
        raise KerasBertError("expected --resume or --overwrite, received both")
    check_name(out, _LONGEST_INSIDE)
    for source in sources:
        if source is not None and os.path.isdir(source) and out.exists() and out.samefile(source):
            raise KerasBertError(
                f"expected another --out than the folder the model is read from, received {str(out)!r}"
            )
    if out.is_symlink() and not out.exists():
        raise KerasBertError(f"expected a folder as --out, received {str(out)!r}, a link to nothing; remove the link")
    if out.exists() and not out.is_dir():
        raise KerasBertError(f"expected a folder as --out, received the file {str(out)!r}; name another")
    _check_writable(out, levels=2)
    make_parent(out)
    claim(out)
    left = recover(out, is_model_file)
    if left:
        raise KerasBertError(
            f"expected nothing of an interrupted command beside {str(out)!r}, received {str(left[0])!r} with files of others; move them "
            "away"
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
            f"expected a new or empty folder as --out, received {str(out)!r}, which holds an interrupted training; go on with --resume, or "
            "begin anew with --overwrite"
        )
    if is_model_folder(out):
        raise KerasBertError(
            f"expected a new or empty folder as --out, received {str(out)!r}, which holds a model; name another, or replace it with "
            "--overwrite"
        )


def check_results_folder(out: Path) -> None:
    """Raises KerasBertError unless files can be written into a folder `out`, which is then this command's until it ends."""
    check_name(out, _LONGEST_INSIDE)
    if out.exists() and not out.is_dir():
        raise KerasBertError(f"expected a folder as --out, received the file {str(out)!r}; name another")
    _check_writable(out, levels=2)
    make_parent(out)
    claim(out)


def check_out_file(out: Path, option: str, kind: str | None = None, ending: str | tuple[str, ...] = "") -> None:
    """Raises KerasBertError unless a file can be written at `out`, which is then this command's until it ends.

    kind: what of `kerasbert.files.own_files` a file that is there must be; others are never replaced. None: the caller asks whether it
    may be.
    """
    if not out.name.endswith(ending):
        endings = ending if isinstance(ending, str) else " or ".join(ending)
        raise KerasBertError(f"expected a file name ending in {endings} as {option}, received {str(out)!r}")
    check_name(out)
    if kind is not None:
        check_own(out, kind, option)
    elif out.is_dir():
        raise KerasBertError(f"expected a file as {option}, received the folder {str(out)!r}")
    _check_writable(out, levels=1)
    claim(out)


def check_companions(companions: Iterable[tuple[Path, str]]) -> None:
    """Raises KerasBertError unless all files that go beside an output, each with its kind, can be written."""
    for path, kind in companions:
        check_name(path)
        check_own(path, kind, f"{kind} beside --out")


def check_cache_folder(folder: Path) -> None:
    """Raises KerasBertError unless folders can be made in `folder`."""
    if folder.exists() and not folder.is_dir():
        raise KerasBertError(f"expected a folder as --cache, received the file {str(folder)!r}; name another")
    _check_writable(folder / "cache", levels=2)


def check_name(out: Path, inside: int = 0) -> None:
    """Raises KerasBertError for a name or a path that is too long for its file system. inside: letters of the longest path in it."""
    parent = _nearest(out)
    for limit, size, what in (
        ("PC_NAME_MAX", max(len(os.fsencode(part)) for part in out.absolute().parts), "a name"),
        ("PC_PATH_MAX", len(os.fsencode(out.absolute())) + inside, "a path"),
    ):
        try:
            most = os.pathconf(parent, limit)
        except (OSError, ValueError, AttributeError):
            continue
        if 0 < most < size:
            raise KerasBertError(
                f"expected {what} of at most {most} bytes, received one of {size}: {out.name[:60]!r}..."
            )


def _nearest(out: Path) -> Path:
    """The nearest folder above `out` that is there."""
    return next(folder for folder in out.absolute().parents if os.path.lexists(folder))


def _check_writable(out: Path, levels: int) -> None:
    """levels: how many folders, `out` included, may be missing."""
    parent = _nearest(out)
    if not parent.is_dir():
        raise KerasBertError(
            f"expected a place in a folder for {str(out)!r}, received {str(parent)!r}, which is a file"
        )
    missing = len(out.absolute().parts) - len(parent.parts)
    if missing > levels:
        first = Path(*out.absolute().parts[: len(parent.parts) + 1])
        raise KerasBertError(
            f"expected a place in a folder that is there for {str(out)!r}, received none: there is no {str(first)!r}; make it first"
        )
    try:
        tempfile.TemporaryFile(dir=parent).close()
    except OSError as error:
        raise KerasBertError(
            f"expected a writable folder for {str(out)!r}, received {str(parent)!r} ({error.strerror})"
        ) from error
