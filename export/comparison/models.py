"""The models of a comparison: their names, their files, and whether they belong together."""

import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from kerasbert.arguments import check_path, shown
from kerasbert.checkpoints import peft
from kerasbert.checkpoints.hugging_face import resolve
from kerasbert.checkpoints.readers import find_weight_files
from kerasbert.console.progress import Progress
from kerasbert.errors import KerasBertError
from kerasbert.export.comparison.results import FILE, FOLDER, ONNX_FILE
from kerasbert.export.lowering.targets import is_partitioned
from kerasbert.export.runtime.onnx_session import ONNX
from kerasbert.export.tflite.file_kind import is_tflite
from kerasbert.export.tflite.metadata import Metadata
from kerasbert.export.tflite.model_parts import host_path
from kerasbert.files.model_folder import is_model_file
from kerasbert.model_names import shipped_model
from kerasbert.processors import Processor

_BLOCK = 1 << 20  # bytes that are compressed at a time
_LISTED = 4  # labels in a message
_GZIP_FRAME = 18  # bytes of gzip's header and checksum, beside the deflated content


@dataclass(frozen=True)
class NamedModel:
    """A model that was given.

    Attributes:
        name: Its name in the table.
        path: A file, a folder, or the name of a folder in the zoo or on the hub.
        kind: `file`, `folder` or `onnx`.
    """

    name: str
    path: str
    kind: str


def named_models(models: Sequence[Any] | Mapping[str, Any], against: Any = None) -> list[NamedModel]:
    """Return the models with a name for each, the reference first.

    Args:
        models: Paths, or paths by name.
        against: The name or the path of the reference, which may be a further model; None for the first one.

    Raises:
        KerasBertError: When there are fewer than two models, one is given twice, or one cannot be found.
    """
    if isinstance(models, str | os.PathLike) or not isinstance(models, Sequence | Mapping):
        raise KerasBertError(
            f"expected a list of two or more models, or a dict of them by name, received {shown(models)}; put them into a list"
        )
    given = [_path(each) for each in (models.values() if isinstance(models, Mapping) else models)]
    names = [str(name) for name in models] if isinstance(models, Mapping) else None
    if against is not None and str(against) not in (names or ()) and _path(against) not in given:
        if not _exists(_path(against)):
            raise KerasBertError(
                f"expected the name or the path of a model to compare with, received {str(against)!r}; the models are "
                f"{', '.join(names or _short_names(given))}"
            )
        given = [_path(against), *given]
        names = names and [*_short_names(given[:1]), *names]
    _check_different(given)
    names = names or _short_names(given)
    named = [NamedModel(name, path, _kind(path)) for name, path in zip(names, given, strict=True)]
    if against is not None:
        chosen = next(each for each in named if str(against) == each.name or _path(against) == each.path)
        named = [chosen, *(each for each in named if each is not chosen)]
    if named[0].kind == ONNX_FILE:
        raise KerasBertError(
            f"expected a folder or a .tflite file to compare with, received {named[0].path}; name the .onnx file behind it"
        )
    return named


def _path(model: Any) -> str:
    """Return the path of a model; of a file of the zoo for its name."""
    path = check_path(model, "the path of a model")
    if os.path.exists(path):
        return path
    shipped = shipped_model(path)
    return str(shipped) if shipped is not None and shipped.is_file() else path


def _exists(path: str) -> bool:
    return os.path.exists(path) or shipped_model(path) is not None


def _check_different(paths: Sequence[str]) -> None:
    if len(paths) < 2:
        raise KerasBertError(f"expected two or more models, received {len(paths)}; name those to compare")
    seen: dict[str, str] = {}
    for path in paths:
        real = os.path.realpath(path)
        if real in seen:
            raise KerasBertError(f"expected different models, received {path} twice; leave one out")
        seen[real] = path


def _short_names(paths: Sequence[str]) -> list[str]:
    """Return the last part of each path; as many parts as tell paths with the same end apart."""
    parts = [PurePath(os.path.normpath(path)).parts for path in paths]
    names = []
    for own in parts:
        most = max(map(len, parts))
        count = next((n for n in range(1, most) if sum(each[-n:] == own[-n:] for each in parts) == 1), most)
        names.append(os.path.join(*own[-count:]))
    return names


def _kind(path: str) -> str:
    if path.endswith(ONNX):
        if not os.path.isfile(path):
            raise KerasBertError(f"expected an .onnx file, received {path!r}, which is not there; check the path")
        return ONNX_FILE
    if is_tflite(path):
        return FILE
    resolve(path)
    return FOLDER


def check_same_task(first: tuple[str, Processor], other: tuple[str, Processor]) -> None:
    """Check that two models have the same task and the same labels, whatever their order.

    Args:
        first: The name and the processor of one.
        other: Those of the other.

    Raises:
        KerasBertError: When they differ; the message names both.
    """
    (name, processor), (other_name, other_processor) = first, other
    if processor.name != other_processor.name:
        raise KerasBertError(
            f"expected models of one task, received {processor.name!r} ({name}) and {other_processor.name!r} ({other_name}); compare "
            "them apart, each with its own data"
        )
    labels, other_labels = _labels_by_head(processor), _labels_by_head(other_processor)
    if labels and other_labels and labels != other_labels:
        difference = (
            f"{_listed(labels - other_labels)} only in {name}, {_listed(other_labels - labels)} only in {other_name}"
        )
        raise KerasBertError(
            f"expected models with the same labels, received {difference}; compare them apart, each with its own data"
        )


def _listed(labels: set[str]) -> str:
    """Return the first labels as text, and how many others there are."""
    first = sorted(labels)[:_LISTED]
    more = [f"{len(labels) - _LISTED} others"] if len(labels) > _LISTED else []
    return ", ".join([*first, *more]) or "none"


def _labels_by_head(processor: Processor) -> set[str]:
    """Return the labels; of several heads, each with the name of its head."""
    if parts := getattr(processor, "parts", None):
        return {f"{head}: {label}" for head, part in parts.items() for label in part.labels or ()}
    return set(processor.labels or ())


def files_of(model: NamedModel, metadata: Metadata | None) -> list[Path]:
    """Return all files that the model needs: weights, configs and tokenizer of a folder, both parts of a file in two.

    Args:
        model: The model.
        metadata: That of a file.
    """
    path = Path(os.path.expanduser(model.path))
    if model.kind != FOLDER:
        host = host_path(path)
        return [path, host] if metadata is not None and is_partitioned(metadata.target) and host.is_file() else [path]
    folders = dict.fromkeys([*([path] if path.is_dir() else ()), resolve(model.path)])
    folders |= {peft.base_folder(each, None): None for each in list(folders) if peft.is_adapter(each)}
    found: dict[Path, None] = {}
    for folder in folders:
        found |= dict.fromkeys(find_weight_files(folder))
        names = (each.relative_to(folder) for each in folder.rglob("*") if each.is_file() and _is_near(each, folder))
        found |= dict.fromkeys(folder / name for name in names if is_model_file(name.as_posix()))
    return list({each.resolve(): each for each in found}.values())


def _is_near(path: Path, folder: Path) -> bool:
    """Tell whether a file is in the folder or in one of its folders: files of a model are no deeper."""
    return len(path.relative_to(folder).parts) <= 2


def compressed_size(files: Sequence[Path], progress: Progress) -> int:
    """Return the bytes of a download: each file compressed with gzip, as web servers and app stores do.

    Args:
        files: The files.
        progress: Receives the megabytes that were read.
    """
    total, done, size = sum(each.stat().st_size for each in files), 0, 0
    for path in files:
        packer = zlib.compressobj()
        for block in _blocks(path):
            size += len(packer.compress(block))
            done += len(block)
            progress.advance(done >> 20, total >> 20)
        size += len(packer.flush()) + _GZIP_FRAME
    return size


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block
