"""Packages of Debian's backports in a folder of their own: nothing of the system is changed, and no rights are needed."""

import json
import shutil
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.export.backends.environments import Environment

_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
_ROOT = "root"  # what the packages hold


class DebianEnvironment(Environment):
    """Packages and what they need beside what the system has, unpacked; of backports, where the release has them."""

    @property
    def root(self) -> Path:
        """Where the packages' files lie, as under `/`."""
        return self.folder / _ROOT

    def _install(self) -> None:
        apt = shutil.which("apt-get")
        if apt is None or not Path(_KEYS).is_file():
            raise KerasBertError(f"expected Debian's apt-get for {self.name}, received a system without it")
        options = self._options()
        self._sources(apt)
        self._run([apt, *options, "update"])
        wanted = ["install", "--yes", "--download-only", "--no-install-recommends"]
        self._run([apt, *options, *wanted, "-t", self._backports, *self.packages])
        for package in sorted((self.folder / "cache" / "archives").glob("*.deb")):
            self._run(["dpkg-deb", "-x", package, self.root])
        for left in ("parts", "lists", "cache"):
            shutil.rmtree(self.folder / left)

    @property
    def _backports(self) -> str:
        return f"{_release()}-backports"

    def _options(self) -> list[str]:
        """A state of its own for apt, which then asks for no rights."""
        places = {"Dir::Etc::SourceParts": "parts", "Dir::State::Lists": "lists", "Dir::Cache": "cache"}
        for name in ("parts", "lists/partial", "cache/archives/partial"):
            (self.folder / name).mkdir(parents=True)
        settings = {name: self.folder / folder for name, folder in places.items()}
        settings |= {"Dir::Etc::SourceList": "/dev/null", "Debug::NoLocking": "true", "APT::Sandbox::User": ""}
        return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]

    def _sources(self, apt: str) -> None:
        """The place where the system gets its release from has the backports too."""
        told = self._run(
            [apt, "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)", "Created-By: Packages"]
        )
        places = [line.split()[2] for line in told.splitlines() if line.startswith(f"{_release()} main ")]
        if not places:
            raise KerasBertError(f"expected a source of {_release()} in apt's settings, received none")
        lines = [f"deb [signed-by={_KEYS}] {places[0]} {suite} main\n" for suite in (self._backports, _release())]
        (self.folder / "parts" / "backports.list").write_text("".join(lines), "utf-8")


class VulkanEnvironment(DebianEnvironment):
    """Mesa's lavapipe among the packages: a Vulkan driver that runs on the CPU."""

    manifest = "lvp_icd.json"

    def _install(self) -> None:
        super()._install()
        content = json.loads((self.root / "usr/share/vulkan/icd.d" / self.manifest).read_text("utf-8"))
        content["ICD"]["library_path"] = str(self._library)
        (self.folder / self.manifest).write_text(json.dumps(content), "utf-8")

    @property
    def _library(self) -> Path:
        return next(self.root.glob("usr/lib/*/libvulkan_lvp.so"))

    @property
    def variables(self) -> dict[str, str]:
        """With which a process finds the driver, and no other."""
        return {"VK_ICD_FILENAMES": str(self.folder / self.manifest), "LD_LIBRARY_PATH": str(self._library.parent)}


def _release() -> str:
    """The release's code name. Raises KerasBertError where the system does not tell."""
    try:
        lines = Path("/etc/os-release").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("VERSION_CODENAME="):
            return line.partition("=")[2].strip('"')
    raise KerasBertError("expected a release with a code name in /etc/os-release, received none")
