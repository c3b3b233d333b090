"""Whether a file, the model that it is compared with and the rows belong together."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreter_model import InterpreterModel
from kerasbert.export.tflite import metadata as packed
from kerasbert.export.validation.reference import Reference
from kerasbert.text.client_wordpiece import SETTING


def check_inputs(arrays: Mapping[str, np.ndarray], model: InterpreterModel) -> None:
    """Raises KerasBertError unless packed arrays are what the file takes."""
    missing = sorted(set(model.inputs) - set(arrays))
    if missing:
        raise KerasBertError(
            f"expected the inputs {', '.join(sorted(model.inputs))} of {model.name}, received "
            f"{', '.join(sorted(arrays))}. "
            "The file takes other inputs than the data has: convert it with `kerasbert convert`"
        )
    for name, port in model.inputs.items():
        if arrays[name].shape[1:] != port.shape[1:]:
            raise KerasBertError(
                f"expected {name!r} of length {port.shape[1:]} for {model.name}, received {arrays[name].shape[1:]}; "
                "pack the data to the model's length"
            )
        if arrays[name].dtype != port.dtype:
            raise KerasBertError(f"expected {name!r} of dtype {port.dtype}, received {arrays[name].dtype}")


def check_same_kind(card: packed.Metadata | None, side: Reference, model_path) -> None:
    """Raises KerasBertError unless the file and the other side have the same processor, labels, vocabulary and tokenization, as far as both
    say."""
    if card is None:
        return
    name = Path(model_path).name
    for what, ours, theirs in (
        ("problem", card.processor.name, side.processor and side.processor.name),
        ("labels", card.labels, side.processor and side.processor.labels),
        ("vocabulary", card.vocabulary, side.vocabulary),
        (
            "tokenization",
            _rules(card.tokenizer.get(SETTING)) if card.vocabulary else None,
            _rules(getattr(side.tokenizer, SETTING, None)) if side.tokenizer else None,
        ),
    ):
        if ours is not None and theirs is not None and ours != theirs:
            raise KerasBertError(
                f"expected {name} and {side.name} to have the same {what}, received {_difference(ours, theirs)}; "
                "compare a file with the model it was converted from"
            )


def _rules(client: str | None) -> str:
    """Whose rules a tokenizer follows: a client's, see `kerasbert.text.ClientWordPiece`, or its checkpoint's."""
    return f"as {client}" if client else "as the checkpoint"


def _difference(ours, theirs) -> str:
    if isinstance(ours, str) or max(len(ours), len(theirs)) <= 10:
        return f"{_show(ours)} and {_show(theirs)}"
    if len(ours) != len(theirs):
        return f"{len(ours):,} and {len(theirs):,} entries"
    row = next(i for i, pair in enumerate(zip(ours, theirs, strict=True)) if pair[0] != pair[1])
    return f"{ours[row]!r} and {theirs[row]!r} as entry {row}"


def _show(value) -> str:
    return value if isinstance(value, str) else f"({', '.join(value)})"
