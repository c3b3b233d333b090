"""The log of LiteRT's GPU accelerator, natively and in a browser: its device, and the operators that it took."""

import re
from dataclasses import dataclass

_MAX_LISTED = 4


@dataclass(frozen=True)
class GpuLog:
    """The parsed log of the accelerator.

    Attributes:
        adapter: The device; empty where none was found.
        architecture: The device's architecture.
        unsupported: The operators that it does not have, with reasons.
        fault: The reason why it did not start; empty where it did, or logged nothing.
        on_gpu: Operators on the GPU; None where it took all, or logged nothing.
        on_cpu: Operators on the CPU; None in the same cases.
        missing: Whether it logged that there is no device.
    """

    adapter: str
    architecture: str
    unsupported: tuple[str, ...]
    fault: str
    on_gpu: int | None
    on_cpu: int | None
    missing: bool

    @classmethod
    def of(cls, log: str) -> "GpuLog":
        """Parse the log of a process."""
        device = re.search(r"Selected adapter: (.+), arch=(\w*), vendor=(\w*), backend=(\w+), adapterType=(.+)", log)
        split = re.search(
            r"^(\d+|No) operations will run on the GPU, and (?:the remaining|all) (\d+) operations", log, re.M
        )
        _, _, listed = log.partition("Following operations are not supported by GPU delegate:\n")
        unsupported = re.findall(r"^([A-Z0-9_]+): (.*)$", listed.partition(" operations will run")[0], re.M)
        fault = re.search(r"Failed to create \S+: (.+)", log)
        return cls(
            adapter=f"{device[1]}, {device[4]}, {device[5].strip()}" if device else "",
            architecture=device[2] if device else "",
            unsupported=tuple(f"{name}: {reason}" for name, reason in unsupported),
            fault=fault[1].strip() if fault else "",
            on_gpu=(0 if split[1] == "No" else int(split[1])) if split else None,
            on_cpu=int(split[2]) if split else None,
            missing="No adapters found" in log,
        )

    def operators_by_backend(self, whole: bool, operators: int | None) -> dict[str, dict[str, int]]:
        """Counts operators as `Check.ops` does.

        Args:
            whole: Whether all ran on the GPU.
            operators: The number of the file's operators, if known.
        """
        if self.on_gpu is not None and self.on_cpu:
            return {"gpu": {"all": self.on_gpu}, "cpu": {"all": self.on_cpu}}
        return {"gpu": {"all": operators}} if whole and operators else {}

    @property
    def unsupported_summary(self) -> str:
        """The first unsupported operators with reasons, and how many more there are."""
        kinds = tuple(dict.fromkeys(self.unsupported))
        more = f"; and {len(kinds) - _MAX_LISTED} more" if len(kinds) > _MAX_LISTED else ""
        return "; ".join(kinds[:_MAX_LISTED]) + more

    @property
    def remark(self) -> str:
        """A remark on where the operators ran; empty where the GPU took all of them, or logged nothing."""
        if not self.on_cpu:
            return ""
        return f"{self.on_gpu} operators on the GPU, {self.on_cpu} on the CPU: {self.unsupported_summary}"

    def unproven_reason(self, whole: bool) -> str:
        """Return why a run proves nothing about the GPU; empty where some operators ran there.

        Args:
            whole: Whether all ran on the GPU.
        """
        if whole or self.on_gpu:
            return ""
        if self.on_gpu is None:
            return "the accelerator did not say that it took an operator"
        return f"no operator ran on the GPU: {self.unsupported_summary}"
