"""What LiteRT's GPU accelerator says of itself, natively and in a browser: its device, and which operators it took."""

import re
from dataclasses import dataclass

_TOLD = 4


@dataclass(frozen=True)
class GpuLog:
    """adapter: the device, empty where none was found. refused: operators that it does not have, with reasons.
    fault: why it did not start, empty where it did or did not say.
    on_gpu, on_cpu: operators of each, None where it took all or said nothing. missing: whether it says that there is no device."""

    adapter: str
    architecture: str
    refused: tuple[str, ...]
    fault: str
    on_gpu: int | None
    on_cpu: int | None
    missing: bool

    @classmethod
    def of(cls, log: str) -> "GpuLog":
        device = re.search(r"Selected adapter: (.+), arch=(\w*), vendor=(\w*), backend=(\w+), adapterType=(.+)", log)
        split = re.search(
            r"^(\d+|No) operations will run on the GPU, and (?:the remaining|all) (\d+) operations", log, re.M
        )
        _, _, listed = log.partition("Following operations are not supported by GPU delegate:\n")
        refused = re.findall(r"^([A-Z0-9_]+): (.*)$", listed.partition(" operations will run")[0], re.M)
        fault = re.search(r"Failed to create \S+: (.+)", log)
        on_gpu = split and (0 if split[1] == "No" else int(split[1]))
        return cls(
            adapter=f"{device[1]}, {device[4]}, {device[5].strip()}" if device else "",
            architecture=device[2] if device else "",
            refused=tuple(f"{name}: {reason}" for name, reason in refused),
            fault=fault[1].strip() if fault else "",
            on_gpu=on_gpu,
            on_cpu=int(split[2]) if split else None,
            missing="No adapters found" in log,
        )

    def ops(self, whole: bool, operators: int | None) -> dict[str, dict[str, int]]:
        """Operators by backend, as `Check.ops` has them. whole: whether all ran on the GPU. operators: how many there are, if known."""
        if self.on_cpu:
            return {"gpu": {"all": self.on_gpu}, "cpu": {"all": self.on_cpu}}
        return {"gpu": {"all": operators}} if whole and operators else {}

    @property
    def told(self) -> str:
        """The first of what it refused, with reasons, and how much more there is."""
        kinds = tuple(dict.fromkeys(self.refused))
        more = f"; and {len(kinds) - _TOLD} more" if len(kinds) > _TOLD else ""
        return "; ".join(kinds[:_TOLD]) + more

    @property
    def remark(self) -> str:
        """Where the operators ran; empty where the GPU took all of them, or said nothing."""
        if not self.on_cpu:
            return ""
        return f"{self.on_gpu} operators on the GPU, {self.on_cpu} on the CPU: {self.told}"

    def unproven(self, whole: bool) -> str:
        """Why a run that may leave operators to the CPU is no proof of the GPU; empty where some ran there."""
        if whole or self.on_gpu:
            return ""
        if self.on_gpu is None:
            return "the accelerator did not say that it took an operator"
        return f"no operator ran on the GPU: {self.told}"
