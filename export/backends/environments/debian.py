"""Debian packages in a folder of their own: the system is not changed, and no rights are needed."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.export.backends.environments.environment import Environment
from kerasbert.files.json_text import read_json_object

_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
_ROOT = "root"  # the files of the packages


@dataclass(frozen=True)
class PrivateApt:
    """apt with a state of its own in a folder, and the system's own mirror.

    Attributes:
        folder: For its state.
        run: Runs a command and returns its output, or raises KerasBertError.
        suites: Where packages come from; the first is preferred.
        settings: Further options by name.
    """

    folder: Path
    run: Callable[[list], str]
    suites: tuple[str, ...]
    settings: tuple[tuple[str, str], ...] = ()

    def unpack(self, packages: Sequence[str], root: Path, unneeded: Sequence[str] = ()) -> None:
        """Download packages with their dependencies, and unpacks them.

        Args:
            packages: Their names.
            root: The folder to unpack into.
            unneeded: Dependencies that are not unpacked.
        """
        self._apt("install", "--yes", "--download-only", "--no-install-recommends", "-t", self.suites[0], *packages)
        for package in sorted((self.folder / "cache" / "archives").glob("*.deb")):
            if package.name.partition("_")[0] not in unneeded:
                self.run(["dpkg-deb", "-x", package, root])

    def update(self) -> None:
        """Download the package lists of the suites.

        Raises:
            KerasBertError: When there is no apt, or no source for this release.
        """
        apt = shutil.which("apt-get")
        if apt is None or not Path(_KEYS).is_file():
            raise KerasBertError(
                "expected Debian's apt-get, received a system without it; use Debian, or leave this backend out"
            )
        for name in ("parts", "lists/partial", "cache/archives/partial"):
            (self.folder / name).mkdir(parents=True)
        targets = self.run(
            [apt, "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)", "Created-By: Packages"]
        )
        mirrors = [line.split()[2] for line in targets.splitlines() if line.startswith(f"{release()} main ")]
        if not mirrors:
            raise KerasBertError(
                f"expected a source of {release()} in apt's settings, received none; add the mirror to /etc/apt/sources.list"
            )
        lines = [f"deb [signed-by={_KEYS}] {mirrors[0]} {suite} main\n" for suite in self.suites]
        (self.folder / "parts" / "private.list").write_text("".join(lines), "utf-8")
        self._apt("update")

    def clear(self) -> None:
        """Remove lists and downloaded packages."""
        shutil.rmtree(self.folder)

    def _apt(self, *words: str) -> None:
        settings = {
            "Dir::Etc::SourceList": "/dev/null", "Dir::Etc::SourceParts": self.folder / "parts", "Dir::State::Lists": self.folder / "lists",
            "Dir::Cache": self.folder / "cache", "Debug::NoLocking": "true", "APT::Sandbox::User": "", **dict(self.settings),
        }  # fmt: skip
        options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
        self.run([shutil.which("apt-get"), *options, *words])


class VulkanEnvironment(Environment):
    """Mesa's lavapipe from Debian's backports: a Vulkan driver that runs on the CPU. Libraries that the system has are taken from there."""

    manifest = "lvp_icd.json"

    @property
    def root(self) -> Path:
        """The folder with the packages' files, as under `/`."""
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
        """The variables with which a process finds this driver, and no other."""
        return {"VK_ICD_FILENAMES": str(self.folder / self.manifest), "LD_LIBRARY_PATH": str(self._library.parent)}


def release() -> str:
    """Return the code name of the Debian release.

    Raises:
        KerasBertError: When /etc/os-release names none.
    """
    try:
        lines = Path("/etc/os-release").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("VERSION_CODENAME="):
            return line.partition("=")[2].strip('"')
    raise KerasBertError(
        "expected a release with a code name in /etc/os-release, received none; use Debian, or leave this backend out"
    )
