"""Examples without labels beside those of a labelled dataset."""

from dataclasses import replace
from typing import Any

from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError


def with_unlabelled(data: Dataset, more: Any) -> Dataset:
    """Return a dataset with further examples, whose labels are None.

    A `Distiller` learns from the teacher's outputs on all of them, and from labels where there are any.

    Args:
        data: The dataset.
        more: The further examples: a dataset, whose labels are not used, or a list in the form of the dataset's.

    Returns:
        The examples of both, in this order. A dataset without labels stays one.

    Raises:
        KerasBertError: When one has pairs of texts and the other has not.

    Example:
        ```python
        data = kb.data.with_unlabelled(kb.data.read_table("train.tsv"), ["a text without a label"])
        data.labels[-1]  # None
        ```
    """
    further = more if isinstance(more, Dataset) else Dataset(data.path, list(more))
    if isinstance(data.x, tuple) and not isinstance(further.x, tuple) and further.pairs is not None:
        further = replace(further, x=(further.texts, further.pairs))
    kinds = ["pairs of texts" if each.pairs is not None else "examples of one part" for each in (data, further)]
    if len(set(kinds)) > 1:
        raise KerasBertError(f"{further.path}: expected {kinds[0]}, as in {data.path}, received {kinds[1]}")
    if isinstance(data.x, tuple):
        x: Any = tuple([*first, *second] for first, second in zip(data.x, further.x, strict=True))
    else:
        x = [*data.x, *further.x]
    y = None if data.y is None else [*data.y, *[None] * len(further)]
    files = dict.fromkeys([*data.files, *further.files])
    return Dataset(data.path, x, y, columns=data.columns, label_columns=data.label_columns, added=tuple(files)[1:])
