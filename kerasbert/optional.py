"""Packages that only some of the work needs: imported where they are there, else an error that says how to install them."""

import importlib
import importlib.util
from types import ModuleType

from kerasbert.errors import KerasBertError

# Package as it is imported -> the extra of kerasbert that installs it.
EXTRAS = {
    "fugashi": "japanese",
    "keras_nlp": "presets",
    "onnxruntime": "onnx",
    "tensorboard": "tensorboard",
    "tensorflow_text": "graph-text",
    "unidic_lite": "japanese",
}


def optional(name: str, purpose: str) -> ModuleType:
    """The module of that name.

    Args:
      name: as it is imported.
      purpose: what needs it, such as "texts in a graph".

    Raises:
      KerasBertError: it is not installed, or what is installed cannot be imported.
    """
    package = name.partition(".")[0]
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name in (None, package) or isinstance(error, ModuleNotFoundError):
            raise _missing(package, purpose) from error
        raise KerasBertError(
            f"expected the package {_shown(package)} for {purpose}, received one that cannot be imported ({error}); {_install(package)}"
        ) from error


def require(package: str, purpose: str) -> None:
    """Raises KerasBertError where a package is not installed; it is not imported. For checks before work starts."""
    if importlib.util.find_spec(package) is None:
        raise _missing(package, purpose)


def _missing(package: str, purpose: str) -> KerasBertError:
    return KerasBertError(f"expected the package {_shown(package)} for {purpose}, received none; {_install(package)}")


def _install(package: str) -> str:
    wanted = f"'kerasbert[{EXTRAS[package]}]'" if package in EXTRAS else _shown(package)
    return f"install it: pip install {wanted}"


def _shown(package: str) -> str:
    return package.replace("_", "-")
