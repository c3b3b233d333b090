"""The zoo: small English models that ship with the package, their cards and measurements, and the commands that build them."""

from pathlib import Path

from kerasbert.zoo.catalog import ZooModel, find as find, load, models

__all__ = ["ZooModel", "find", "load", "models", "small_model"]

SMALL_MODEL = "small-en"


def small_model() -> Path:
    """Return the folder of `small-en`, the encoder that the quickstart fine-tunes, for any `from_pretrained`.

    Returns:
        The folder.

    Example:
        ```python
        folder = kb.zoo.small_model()
        task = kb.TextClassifier.from_pretrained(folder, labels=["negative", "positive"])
        ```
    """
    return find(SMALL_MODEL).path
