"""Class names of tasks: of a call, of Hugging Face's config.json, and of a trained head, whose rows move with their labels."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kerasbert.checkpoints.heads import label_rows
from kerasbert.checkpoints.hugging_face import label_names
from kerasbert.console.strictness import note_once
from kerasbert.errors import KerasBertError

_NUMBERED = re.compile(r"LABEL_([0-9]{1,9})")  # transformers' name of a class without one


def parse_labels(labels: object) -> tuple[str, ...]:
    """Return a user's label names as a tuple of strings.

    Raises:
        KerasBertError: When they are not a list of names, or a name is there twice.
    """
    if labels is not None and (isinstance(labels, str) or not isinstance(labels, Iterable)):
        raise KerasBertError(f"expected labels as a list of names, received {labels!r}; put them into a list")
    names = tuple(str(label) for label in labels or ())
    if repeated := [name for place, name in enumerate(names) if name in names[:place]]:
        raise KerasBertError(
            f"expected two or more different labels, received {repeated[0]!r} twice; name each label once"
        )
    return names


def labels_to_config(labels: Sequence[str]) -> dict[str, Any]:
    """Return the label entries of a config.json."""
    return {
        "id2label": {str(i): name for i, name in enumerate(labels)},
        "label2id": {name: i for i, name in enumerate(labels)},
    }


def labels_from_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return `labels` as a config.json names them, or nothing if it names none."""
    return {"labels": names} if (names := label_names(config)) else {}


def label_order(requested: Sequence[str], trained: Sequence[str], where: object) -> list[int]:
    """Return the row of the trained head for each requested label.

    The same names in another order move the rows. Upper and lower case are not compared. Other names rename the rows in their order, with a
    note.

    Args:
        requested: The labels of the call.
        trained: The labels of the checkpoint, in the order of the head's rows; as many.
        where: The checkpoint, for messages.

    Raises:
        KerasBertError: When some names are those of other rows and the others are new, so that no order is certain.
    """
    if sorted(requested) == sorted(trained):
        return [list(trained).index(name) for name in requested]
    wanted, known = _keys(requested), _keys(trained)
    if sorted(wanted) == sorted(known) and len(set(known)) == len(known):
        return [known.index(name) for name in wanted]
    rows = {name: row for row, name in enumerate(known)}
    moved = [name for row, name in enumerate(wanted) if rows.get(name, row) != row]
    numbered = all(_NUMBERED.fullmatch(name) for name in trained)
    if moved and not numbered:
        place = wanted.index(moved[0])
        raise KerasBertError(
            f"{where}: expected labels of which each is in the place that the trained head has for it ({_few(trained)}), received "
            f"{requested[place]!r} in place {place} and new names beside it; keep the names, or train a new head with new_head=True "
            "(--new-head)"
        )
    renamed = [f"{old} to {new}" for old, new in zip(trained, requested, strict=True) if old != new]
    note_once(f"note: {where}: labels renamed in the order of the trained head: {_few(renamed)}")
    return list(range(len(trained)))


def move_rows(
    tensors: Mapping[str, np.ndarray], model_type: str, head: str, order: Sequence[int]
) -> dict[str, np.ndarray]:
    """Return a checkpoint's tensors with the rows of a head in another order.

    Args:
        tensors: Arrays by name.
        model_type: The model type.
        head: The head, one Dense layer with a row for each label.
        order: The old row of each new one.
    """
    moved = dict(tensors)
    for name in label_rows(model_type, head):
        if name in moved and len(moved[name]) == len(order):  # another number is reported with the shapes
            moved[name] = moved[name][list(order)]
    return moved


def check_as_many_labels(requested: Sequence[str], trained: Sequence[str], where: object) -> None:
    """Check that a trained head has as many outputs as there are labels.

    Raises:
        KerasBertError: When it has more or fewer.
    """
    if len(requested) != len(trained):
        raise KerasBertError(
            f"expected a model of {len(requested)} labels ({_few(requested)}), received {where} with a head of {len(trained)} "
            f"({_few(trained)}); new_head=True (--new-head) makes a new head to train"
        )


def _keys(names: Sequence[str]) -> list[str]:
    """Return names as they are compared. LABEL_1 is the number 1."""
    return [_NUMBERED.sub(lambda match: str(int(match[1])), name.strip()).casefold() for name in names]


def _few(names: Sequence[str]) -> str:
    return ", ".join(map(str, names[:3])) + (", ..." if len(names) > 3 else "")
