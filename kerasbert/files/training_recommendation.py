"""The entry `training` of kerasbert.json: the learning rate and the number of epochs that suit a model."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.files.model_folder import OWN_FILE


@dataclass(frozen=True)
class Recommendation:
    """The learning rate and the epochs that suit a model.

    Attributes:
        learning_rate: Peak learning rate of fine-tuning.
        epochs: The number of epochs.
        source: What they are recommended for, such as `small-en` or `hidden size 192`.
    """

    learning_rate: float
    epochs: int
    source: str

    def entry(self) -> dict[str, Any]:
        """Return the entry for kerasbert.json."""
        return {"learning_rate": self.learning_rate, "epochs": self.epochs, "source": self.source}


def read_recommendation(own: Mapping[str, Any], folder: Path) -> Recommendation | None:
    """Return the recommendation in kerasbert.json, or None where there is none.

    Args:
        own: The content of kerasbert.json.
        folder: The folder, for messages. Its name is the default of `source`.

    Raises:
        KerasBertError: When the entry is damaged.
    """
    entry = own.get("training")
    if entry is None:
        return None
    values: Mapping[str, Any] = entry if isinstance(entry, Mapping) else {}
    rate: Any = values.get("learning_rate")
    epochs, source = values.get("epochs"), values.get("source", folder.name)
    is_rate = type(rate) in (int, float) and 0 < rate < math.inf
    if not is_rate or type(epochs) is not int or epochs < 1 or not isinstance(source, str):
        raise KerasBertError(
            f"{folder / OWN_FILE}: expected training as a learning_rate above 0 and epochs of at least 1, received "
            f"{str(entry)[:100]}; correct it, or remove it"
        )
    return Recommendation(float(rate), epochs, source)
