"""Imports of optional dependencies, with errors that explain how to install them."""

import importlib
import importlib.util
from types import ModuleType

from kerasbert.errors import KerasBertError

# Import name of a package -> the extra of kerasbert that installs it.
EXTRAS = {
    "faiss": "faiss",
    "fugashi": "japanese",
    "keras_nlp": "presets",
    "onnxruntime": "onnx",
    "ray": "ray",
    "rjieba": "chinese",
    "tensorboard": "tensorboard",
    "tensorflow_text": "graph-text",
    "unidic_lite": "japanese",
}


def import_optional(name: str, purpose: str) -> ModuleType:
    """Import a module of an optional dependency.

    Args:
        name: the module's import name.
        purpose: the feature that needs it, such as "texts in a graph"; for the error.

    Raises:
        KerasBertError: when the package is not installed, or the installed one cannot be imported.
    """
    package = name.partition(".")[0]
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name in (None, package) or isinstance(error, ModuleNotFoundError):
            raise _missing(package, purpose) from error
        raise KerasBertError(
            f"expected the package {_pip_name(package)} for {purpose}, received one that cannot be imported ({error}); "
            f"{_install_hint(package)}"
        ) from error


def require_package(package: str, purpose: str) -> None:
    """Check that a package is installed, without importing it. For checks before long work starts.

    Args:
        package: its import name.
        purpose: the feature that needs it, for the error.

    Raises:
        KerasBertError: when it is not installed.
    """
    if importlib.util.find_spec(package) is None:
        raise _missing(package, purpose)


def _missing(package: str, purpose: str) -> KerasBertError:
    return KerasBertError(
        f"expected the package {_pip_name(package)} for {purpose}, received none; {_install_hint(package)}"
    )


def _install_hint(package: str) -> str:
    requirement = f"'kerasbert[{EXTRAS[package]}]'" if package in EXTRAS else _pip_name(package)
    return f"install it: pip install {requirement}"


def _pip_name(package: str) -> str:
    return package.replace("_", "-")
