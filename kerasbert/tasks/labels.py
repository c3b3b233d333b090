"""Class names of tasks, and their entries in Hugging Face's config.json."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kerasbert.checkpoints.hugging_face import label_names
from kerasbert.errors import KerasBertError


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
