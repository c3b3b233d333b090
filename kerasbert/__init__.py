"""kerasbert: from a BERT checkpoint to a validated int8 model on a phone, in Keras.

Names resolve on first use (PEP 562), so `import kerasbert` is cheap and the validators run without TensorFlow.
"""

from kerasbert.facades import lazy_names

__version__ = "0.1.0"
__getattr__, _, _names = lazy_names(__name__, __file__)
# `open` is left out: `from kerasbert import *` must not shadow the builtin.
__all__ = ["__version__", *(name for name in _names if name != "open")]  # pyright: ignore[reportUnsupportedDunderAll]


def _register_zoo() -> None:
    """Make the names of the zoo's models known to every function that loads a model; the zoo is imported when one is looked up."""
    from pathlib import Path

    from kerasbert import model_names

    def lookup(name: str) -> Path | None:
        from kerasbert.zoo.catalog import shipped_path

        return shipped_path(name)

    def names() -> list[str]:
        from kerasbert.zoo.catalog import names

        return names()

    model_names.register(lookup, names)


_register_zoo()


def __dir__() -> list[str]:
    return sorted([*__all__, "open"])
