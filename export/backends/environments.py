"""Environments of their own that some backends need: packages that do not live beside ours, with exact versions."""

import os
import shutil
import sys
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.export.backends.child import run_child

HOME_VARIABLE = "KERASBERT_HOME"
SECONDS = 1800.0
_DONE = ".complete"


def home() -> Path:
    """Where environments lie: `$KERASBERT_HOME`, or `kerasbert` in the user's cache."""
    if given := os.environ.get(HOME_VARIABLE):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kerasbert"


@dataclass(frozen=True)
class PythonEnvironment:
    """A virtual environment. packages: requirements, with their versions. purpose: in a few words."""

    name: str
    purpose: str
    packages: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return home() / self.name

    @property
    def python(self) -> Path | None:
        """Its interpreter; None while it is not there whole, or was made for other versions."""
        done = self.folder / _DONE
        if not done.is_file() or done.read_text("utf-8").split() != list(self.packages):
            return None
        return self._python

    @property
    def _python(self) -> Path:
        return self.folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")

    @property
    def missing(self) -> str:
        """What to say where it is not there."""
        return f"no environment with {self.packages[0]}: make it with `kerasbert setup {self.name}`"

    def make(self, report: Callable[[str], None] = print) -> Path:
        """Makes it anew, from the package index that pip is set up for. Returns its interpreter.

        Raises KerasBertError with pip's last words where a package cannot be had; nothing half made is left then.
        """
        report(f"{self.name}: {', '.join(self.packages)} in {self.folder}")
        shutil.rmtree(self.folder, ignore_errors=True)
        try:
            venv.create(self.folder, with_pip=True)
            pip = [self._python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", *self.packages]
            ended = run_child(pip, SECONDS)
            if not ended.well:
                raise KerasBertError(f"expected the packages of {self.name} from pip, received {ended.last_words}")
            (self.folder / _DONE).write_text("\n".join(self.packages) + "\n", "utf-8")
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        return self._python


LEGACY = PythonEnvironment(
    "legacy", "the last tflite-runtime, for `--on legacy`", ("tflite-runtime==2.14.0", "numpy==1.26.4")
)
ENVIRONMENTS = {environment.name: environment for environment in (LEGACY,)}
