"""Packages of Debian in a folder of their own: nothing of the system is changed, and no rights are needed."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.export.backends.environments.environment import Environment
from kerasbert.files.json_text import read_json_object

_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
_ROOT = "root"  # what the packages hold


@dataclass(frozen=True)
class PrivateApt:
    """apt with a state of its own in a folder, and the system's own mirror.

    run: runs a command, gives what it says, raises KerasBertError. suites: of which packages come; the first is preferred. settings: more
    options, by name.
    """

    folder: Path
    run: Callable[[list], str]
    suites: tuple[str, ...]
    settings: tuple[tuple[str, str], ...] = ()

    def unpack(self, packages: Sequence[str], root: Path, unneeded: Sequence[str] = ()) -> None:
        """Gets packages and what they need, and unpacks them below `root`, but for the `unneeded`."""
        self._apt("install", "--yes", "--download-only", "--no-install-recommends", "-t", self.suites[0], *packages)
        for package in sorted((self.folder / "cache" / "archives").glob("*.deb")):
            if package.name.partition("_")[0] not in unneeded:
                self.run(["dpkg-deb", "-x", package, root])

    def update(self) -> None:
        """Reads what the suites have. Raises KerasBertError where there is no apt, or no source for this release."""
        apt = shutil.which("apt-get")
        if apt is None or not Path(_KEYS).is_file():
            raise KerasBertError("expected Debian's apt-get, received a system without it")
        for name in ("parts", "lists/partial", "cache/archives/partial"):
            (self.folder / name).mkdir(parents=True)
        told = self.run(
            [apt, "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)", "Created-By: Packages"]
        )
        places = [line.split()[2] for line in told.splitlines() if line.startswith(f"{release()} main ")]
        if not places:
            raise KerasBertError(f"expected a source of {release()} in apt's settings, received none")
        lines = [f"deb [signed-by={_KEYS}] {places[0]} {suite} main\n" for suite in self.suites]
        (self.folder / "parts" / "private.list").write_text("".join(lines), "utf-8")
        self._apt("update")

    def clear(self) -> None:
        """Removes lists and packages."""
        shutil.rmtree(self.folder)

    def _apt(self, *words: str) -> None:
        settings = {
            "Dir::Etc::SourceList": "/dev/null", "Dir::Etc::SourceParts": self.folder / "parts", "Dir::State::Lists": self.folder / "lists",
            "Dir::Cache": self.folder / "cache", "Debug::NoLocking": "true", "APT::Sandbox::User": "", **dict(self.settings),
        }  # fmt: skip
        options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
        self.run([shutil.which("apt-get"), *options, *words])


class VulkanEnvironment(Environment):
    """Mesa's lavapipe, of Debian's backports: a Vulkan driver that runs on the CPU. What it needs and the system has stays the system's."""

    manifest = "lvp_icd.json"

    @property
    def root(self) -> Path:
        """Where the packages' files lie, as under `/`."""
        return self.folder / _ROOT

    def _install(self) -> None:
        apt = PrivateApt(self.folder / "apt", self._run, (f"{release()}-backports", release()))
        apt.update()
        apt.unpack(self.packages, self.root)
        apt.clear()
        content = read_json_object(self.root / "usr/share/vulkan/icd.d" / self.manifest)
        content["ICD"]["library_path"] = str(self._library)
        (self.folder / self.manifest).write_text(json.dumps(content), "utf-8")

    @property
    def _library(self) -> Path:
        return next(self.root.glob("usr/lib/*/libvulkan_lvp.so"))

    @property
    def variables(self) -> dict[str, str]:
        """With which a process finds the driver, and no other."""
        return {"VK_ICD_FILENAMES": str(self.folder / self.manifest), "LD_LIBRARY_PATH": str(self._library.parent)}


def release() -> str:
    """The release's code name. Raises KerasBertError where the system does not tell."""
    try:
        lines = Path("/etc/os-release").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("VERSION_CODENAME="):
            return line.partition("=")[2].strip('"')
    raise KerasBertError("expected a release with a code name in /etc/os-release, received none")
