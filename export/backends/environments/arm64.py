"""An aarch64 system that runs on x86-64: QEMU's user emulation, Debian's Python for arm64, and the aarch64 runtime."""

import platform
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.export.backends.environments.debian import PrivateApt
from kerasbert.export.backends.environments.environment import Environment

_SUITE, _PYTHON = "bookworm", "3.11"
_SYSTEM = (f"python{_PYTHON}-minimal", f"libpython{_PYTHON}-stdlib", "libstdc++6", "libgomp1")
_INSTALLERS = ("dpkg", "tar")  # only needed to install packages there
_TAGS = ("manylinux_2_27_aarch64", "manylinux_2_28_aarch64", "manylinux2014_aarch64", "any")
_FEATURES = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp ssbs"


@dataclass(frozen=True)
class CpuModel:
    """A processor that QEMU emulates.

    Attributes:
        name: For QEMU's `-cpu`.
        stands_for: The phones that have it.
        part: The CPU part in `/proc/cpuinfo`. The runtime chooses kernels by that file; QEMU would show the x86 one, which crashes it.
        features: The features in `/proc/cpuinfo`.
    """

    name: str
    stands_for: str
    part: str
    features: str

    @property
    def cpuinfo(self) -> str:
        """The content of `/proc/cpuinfo`, for two cores."""
        lines = (
            "processor\t: {core}", f"Features\t: {self.features}", "CPU implementer\t: 0x41", "CPU architecture: 8", "CPU variant\t: 0x3",
            f"CPU part\t: {self.part}", "CPU revision\t: 1", "",
        )  # fmt: skip
        return "".join("\n".join(lines).format(core=core) + "\n" for core in range(2))


PROCESSORS = (
    CpuModel("cortex-a53", "phones without dot products", "0xd03", "fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid"),
    CpuModel("cortex-a76", "phones of 2018 to 2021", "0xd0b", _FEATURES),
    # With SME QEMU 7.2 computes wrongly.
    CpuModel("max,sme=off", "phones with i8mm", "0xd4d", f"{_FEATURES} i8mm bf16 sve"),
)


class Arm64Environment(Environment):
    """QEMU, Debian's Python for arm64 and the runtime below one folder; nothing is installed in the system."""

    def _install(self) -> None:
        if platform.machine() != "x86_64":
            raise KerasBertError(
                f"expected an x86-64 machine for {self.name}, received {platform.machine()}; leave this backend out"
            )
        self._unpack_system()
        self._unpack_emulator()
        tags = [word for tag in _TAGS for word in ("--platform", tag)]
        abis = [word for abi in (f"cp{_PYTHON.replace('.', '')}", "abi3", "none") for word in ("--abi", abi)]
        kind = ["--only-binary=:all:", "--python-version", _PYTHON, "--implementation", "cp", *abis, *tags]
        self._run(
            [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "-d",
                self.folder / "wheels",
                *kind,
                *self.packages,
            ]
        )
        for wheel in (self.folder / "wheels").glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(self.folder / "site")
        for processor in PROCESSORS:
            place = self.root(processor)
            (place / "proc").mkdir(parents=True)
            (place / "proc" / "cpuinfo").write_text(processor.cpuinfo, "utf-8")
            for top in (self.folder / "root").iterdir():
                (place / top.name).symlink_to(top)

    def _unpack_system(self) -> None:
        """Unpack Debian's Python for arm64 with all dependencies: apt's list of installed packages is empty here."""
        folder = self.folder / "apt-arm64"
        folder.mkdir()
        (folder / "status").touch()
        settings = {
            "Dir::State::status": str(folder / "status"),
            "APT::Architecture": "arm64",
            "APT::Architectures::": "arm64",
        }
        apt = PrivateApt(folder, self._run, (_SUITE,), tuple(settings.items()))
        apt.update()
        apt.unpack(_SYSTEM, self.folder / "root", unneeded=_INSTALLERS)
        apt.clear()

    def _unpack_emulator(self) -> None:
        apt = PrivateApt(self.folder / "apt", self._run, (_SUITE,))
        apt.update()
        apt.unpack(["qemu-user-static"], self.folder / "qemu")
        apt.clear()

    def root(self, processor: CpuModel) -> Path:
        """Return the folder in which QEMU looks for a processor's files first."""
        return self.folder / "processors" / processor.part

    @property
    def variables(self) -> dict[str, str]:
        """The variables with which that Python finds the runtime."""
        return {"PYTHONPATH": str(self.folder / "site"), "PYTHONHOME": str(self.folder / "root" / "usr")}

    def command(self, processor: CpuModel, script: Path, *arguments: str | Path) -> list[str | Path]:
        """Return the command that runs a script on a processor."""
        qemu = self.folder / "qemu" / "usr" / "bin" / "qemu-aarch64-static"
        python = self.root(processor) / "usr" / "bin" / f"python{_PYTHON}"
        return [qemu, "-cpu", processor.name, "-L", self.root(processor), python, script, *arguments]
