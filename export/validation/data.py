"""The data of a validation: as a user gives them, or a few hundred sentences that ship with kerasbert."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerasbert.data import assistant
from kerasbert.data.dataset import Dataset
from kerasbert.processors import Processor
from kerasbert.processors.tagging import Tagging

_CONTEXT, _CHOICES = 6, 4  # sentences of a context, and of a choice


@dataclass(frozen=True)
class Data:
    """The data of a user.

    Attributes:
        x: Texts of any kind, or packed arrays by input name.
        y: Labels or None.
    """

    x: Any
    y: Any = None

    @property
    def is_packed(self) -> bool:
        """Whether `x` are packed arrays."""
        return isinstance(self.x, Mapping)

    @property
    def length(self) -> int | None:
        """Tokens in a row of packed arrays; None for texts."""
        return int(np.shape(self.x["input_ids"])[-1]) if self.is_packed and "input_ids" in self.x else None


def read_data(data: Any, processor: Processor | None) -> Data:
    """Take apart what `validate` takes as data.

    Args:
        data: See `kerasbert.export.validate`.
        processor: Reads a path; by default a path is read as a table of texts.
    """
    if isinstance(data, str | os.PathLike):
        from kerasbert.processors.classification import SingleLabel

        data = (processor or SingleLabel).read(data)
    if isinstance(data, Dataset):
        return Data(data.x, data.y)
    if isinstance(data, tuple) and len(data) == 2 and not isinstance(data[0], str):
        return Data(*data)
    return Data(data)


def bundled_data(processor: Processor) -> Data:
    """Return bundled sentences as the processor takes them, without labels: the model was trained for other texts."""
    split = assistant.load("test")
    texts = list(split.texts)
    if isinstance(processor, Tagging):
        return Data([list(tokens) for tokens in split.tokens])
    if processor.second_input == "context":
        return Data([(text, ". ".join(_others(texts, i, _CONTEXT))) for i, text in enumerate(texts)])
    if processor.second_input == "choices":
        return Data([(text, _others(texts, i, _CHOICES)) for i, text in enumerate(texts)])
    return Data(texts)


def _others(texts: list[str], number: int, count: int) -> list[str]:
    """Return the `count` next texts, from the start again after the last one."""
    return [texts[(number + k) % len(texts)] for k in range(1, count + 1)]
