"""The entry `training` of kerasbert.json: the learning rates and the number of epochs that suit a model."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.files.known_keys import KnownKeys
from kerasbert.files.model_folder import OWN_FILE

_KEYS = KnownKeys(used=frozenset({"learning_rate", "epochs", "source", "head_factor"}))


@dataclass(frozen=True)
class Recommendation:
    """The learning rates and the epochs that suit a model.

    Attributes:
        learning_rate: Peak learning rate of fine-tuning.
        epochs: The number of epochs.
        source: What they are recommended for, such as `small-en` or `hidden size 192`.
        head_factor: The rate of a new head, and of the pooler that it reads, as a multiple of `learning_rate`.
    """

    learning_rate: float
    epochs: int
    source: str
    head_factor: float = 1.0

    def entry(self) -> dict[str, Any]:
        """Return the entry for kerasbert.json."""
        factor = {} if self.head_factor == 1 else {"head_factor": self.head_factor}
        return {"learning_rate": self.learning_rate, "epochs": self.epochs, "source": self.source, **factor}


def read_recommendation(own: Mapping[str, Any], folder: Path) -> Recommendation | None:
    """Return the recommendation in kerasbert.json, or None where there is none.

    Args:
        own: The content of kerasbert.json.
        folder: The folder, for messages. Its name is the default of `source`.

    Raises:
        KerasBertError: When the entry is damaged. Unknown keys are noted, and errors under `strict`.
    """
    entry = own.get("training")
    if entry is None:
        return None
    values: Mapping[str, Any] = entry if isinstance(entry, Mapping) else {}
    rate: Any = values.get("learning_rate")
    epochs, source = values.get("epochs"), values.get("source", folder.name)
    factor: Any = values.get("head_factor", 1.0)
    are_rates = all(type(each) in (int, float) and 0 < each < math.inf for each in (rate, factor))
    if not are_rates or type(epochs) is not int or epochs < 1 or not isinstance(source, str):
        raise KerasBertError(
            f"{folder / OWN_FILE}: expected training as a learning_rate above 0, epochs of at least 1 and a head_factor above 0, "
            f"received {str(entry)[:100]}; correct it, or remove it"
        )
    _KEYS.check(values, f"{folder / OWN_FILE}, training")
    return Recommendation(float(rate), epochs, source, float(factor))
