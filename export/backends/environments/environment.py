"""Environments that some backends need: packages in exact versions that cannot be installed beside ours."""

import os
import shutil
import sys
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.process import run_command

HOME_VARIABLE = "KERASBERT_HOME"
SECONDS = 1800.0
_DONE = ".complete"
_STARTED = ".kerasbert-environment"  # in every environment, also in an unfinished one


def home() -> Path:
    """Return the folder of all environments: `$KERASBERT_HOME`, or `kerasbert` in the user's cache."""
    if folder := os.environ.get(HOME_VARIABLE):
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kerasbert"


@dataclass(frozen=True)
class Environment:
    """Packages in a folder of their own.

    Attributes:
        name: The folder's name, which `kerasbert setup` takes.
        purpose: A few words for `kerasbert setup`.
        packages: Requirements with their versions, the main one first.
    """

    name: str
    purpose: str
    packages: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """Its folder, which may not be there."""
        return home() / self.name

    @property
    def ready(self) -> bool:
        """Whether it is complete, and has these versions."""
        done = self.folder / _DONE
        return done.is_file() and done.read_text("utf-8").split() == list(self.packages)

    @property
    def missing(self) -> str:
        """The message where it is not there."""
        return f"no environment with {self.packages[0]}: make it with `kerasbert setup {self.name}`"

    def make(self, report: Callable[[str], None] = print) -> None:
        """Install it from scratch, from the package index that pip or npm is set up for. A failure leaves no folder behind.

        Args:
            report: Called with a line about what is installed.

        Raises:
            KerasBertError: When another folder has its name, or a package cannot be installed.
        """
        if self.folder.exists() and not self._is_ours():
            raise KerasBertError(
                f"expected {str(self.folder)!r} to be new or kerasbert's, received another folder; move it away, or set {HOME_VARIABLE}"
            )
        report(f"{self.name}: {', '.join(self.packages)} in {self.folder}")
        shutil.rmtree(self.folder, ignore_errors=True)
        try:
            self.folder.mkdir(parents=True)
            (self.folder / _STARTED).touch()
            self._install()
            (self.folder / _DONE).write_text("\n".join(self.packages) + "\n", "utf-8")
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def _is_ours(self) -> bool:
        if not self.folder.is_dir():
            return False
        return any((self.folder / name).is_file() for name in (_DONE, _STARTED)) or not any(self.folder.iterdir())

    def _install(self) -> None:
        raise NotImplementedError

    def _run(self, command: list) -> str:
        """Run a command and return its output."""
        result = run_command(command, SECONDS)
        if not result.ok:
            raise KerasBertError(
                f"expected the packages of {self.name} from {command[0]}, received {result.failure_reason}; check the network and the "
                "package index"
            )
        return result.log


class PythonEnvironment(Environment):
    """A virtual environment."""

    @property
    def python(self) -> Path:
        """The path of its interpreter."""
        return self.folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")

    def _install(self) -> None:
        venv.create(self.folder, with_pip=True)
        self._run([self.python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", *self.packages])


class NodeEnvironment(Environment):
    """A folder of Node's modules."""

    def _install(self) -> None:
        npm = shutil.which("npm")
        if npm is None:
            raise KerasBertError(f"expected npm on the PATH for {self.name}, received none; install Node 20 or newer")
        options = ("--no-audit", "--no-fund", "--save-exact", "--silent")
        self._run([npm, "install", "--prefix", self.folder, *options, *self.packages])
