"""The entry `training` of kerasbert.json: the learning rates and the number of epochs that suit a model."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from kerasbert.files.known_keys import KnownKeys
from kerasbert.files.model_folder import OWN_FILE
from kerasbert.files.record import Record, setting


@dataclass(frozen=True)
class Recommendation(Record):
    """The learning rates and the epochs that suit a model.

    Attributes:
        learning_rate: Peak learning rate of fine-tuning.
        epochs: The number of epochs.
        source: What they are recommended for, such as `small-en` or `hidden size 192`.
        head_factor: The rate of a new head, and of the pooler that it reads, as a multiple of `learning_rate`.
    """

    others: ClassVar[KnownKeys | None] = KnownKeys()
    advice: ClassVar[str] = "correct it, or remove the recommendation"

    learning_rate: float = setting(above=0)
    epochs: int = setting(at_least=1)
    source: str = ""
    head_factor: float = setting(1.0, above=0)

    def entry(self) -> dict[str, Any]:
        """Return the entry for kerasbert.json."""
        return {name: value for name, value in self.to_dict().items() if name != "head_factor" or value != 1}


def read_recommendation(own: Mapping[str, Any], folder: Path) -> Recommendation | None:
    """Return the recommendation in kerasbert.json, or None where there is none.

    Args:
        own: The content of kerasbert.json.
        folder: The folder, for messages. Its name is the default of `source`.

    Raises:
        KerasBertError: When the entry is damaged. Unknown keys are noted, and errors under `strict`.
    """
    if (entry := own.get("training")) is None:
        return None
    named = {"source": folder.name, **entry} if isinstance(entry, Mapping) else entry
    return Recommendation.from_dict(named, f"{folder / OWN_FILE}, training")
