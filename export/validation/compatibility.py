"""Checks that a file, its reference and the rows belong together."""

from collections.abc import Mapping, Sequence

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.session import Session
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.validation.reference import Reference
from kerasbert.text.client_wordpiece import SETTING


def check_inputs(arrays: Mapping[str, np.ndarray], model: Session) -> None:
    """Check packed arrays.

    Args:
        arrays: By input name.
        model: The file on an interpreter.

    Raises:
        KerasBertError: When they are not what the file takes.
    """
    missing = sorted(set(model.inputs) - set(arrays))
    if missing:
        raise KerasBertError(
            f"expected the inputs {', '.join(sorted(model.inputs))} of {model.name}, received "
            f"{', '.join(sorted(arrays))}; "
            "the file takes other inputs than the data has: convert it with `kerasbert convert`"
        )
    for name, port in model.inputs.items():
        if arrays[name].shape[1:] != port.shape[1:]:
            raise KerasBertError(
                f"expected {name!r} of length {port.shape[1:]} for {model.name}, received {arrays[name].shape[1:]}; "
                "pack the data to the model's length"
            )
        if arrays[name].dtype != port.dtype:
            raise KerasBertError(
                f"expected {name!r} of dtype {port.dtype}, received {arrays[name].dtype}; convert the data to that dtype"
            )


def check_same_kind(file: ModelFile, reference: Reference) -> None:
    """Check that file and reference have the same task, labels, vocabulary and tokenization, as far as both are known.

    Raises:
        KerasBertError: When one of these differs.
    """
    metadata = file.metadata
    if metadata is None:
        return
    processor, tokenizer = reference.processor, reference.tokenizer
    pairs = {
        "problem": (metadata.processor.name, processor and processor.name),
        "labels": (metadata.labels, processor and processor.labels),
        "vocabulary": (metadata.vocabulary, reference.vocabulary),
        "tokenization": (
            _rules(metadata.tokenizer.get(SETTING)) if metadata.vocabulary else None,
            _rules(getattr(tokenizer, SETTING, None)) if tokenizer else None,
        ),
    }
    for name, (in_file, in_reference) in pairs.items():
        if in_file is not None and in_reference is not None and in_file != in_reference:
            raise KerasBertError(
                f"expected {file.name} and {reference.name} to have the same {name}, received {_difference(in_file, in_reference)}; "
                "compare a file with the model it was converted from"
            )


def _rules(client: object) -> str:
    """Names the rules of a tokenizer: a client's, see `kerasbert.text.ClientWordPiece`, or its checkpoint's."""
    return f"as {client}" if client else "as the checkpoint"


def _difference(first: str | Sequence[str], second: str | Sequence[str]) -> str:
    if isinstance(first, str) or max(len(first), len(second)) <= 10:
        return f"{_join(first)} and {_join(second)}"
    if len(first) != len(second):
        return f"{len(first):,} and {len(second):,} entries"
    row = next(i for i, pair in enumerate(zip(first, second, strict=True)) if pair[0] != pair[1])
    return f"{first[row]!r} and {second[row]!r} as entry {row}"


def _join(value: str | Sequence[str]) -> str:
    return value if isinstance(value, str) else f"({', '.join(value)})"
