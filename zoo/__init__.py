"""The zoo: the small BERT that ships with the package, the script that built it, and the quickstart."""

from importlib import resources
from pathlib import Path

SMALL_MODEL = "small-en"


def small_model() -> Path:
    """Return the folder of the English BERT that ships with the package, in Hugging Face's layout, for any `from_pretrained`.

    Its model card is `README.md` in that folder.
    """
    return Path(str(resources.files(__name__) / SMALL_MODEL))
