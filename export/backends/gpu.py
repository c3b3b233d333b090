"""LiteRT's GPU accelerator, run for real in a child process: on a graphics processor, or on a software Vulkan device where there is none.

The adapter that the accelerator names is the proof that it ran there; without one the check was not run.
"""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from kerasbert.cleanup import temporary_folder
from kerasbert.export.backends.context import ChildOutputs, ValidationContext
from kerasbert.export.backends.environments.known import LAVAPIPE
from kerasbert.export.backends.subprocesses.gpu_log import GpuLog
from kerasbert.export.backends.subprocesses.process import Ended, run_module
from kerasbert.export.validation.checks import FAILED, NOT_RUN, Check, Tolerance
from kerasbert.export.validation.examples import Kept

CHILD = "kerasbert.export.backends.subprocesses.gpu_worker"
# Which Vulkan driver: the system's own choice first, then software ones by their manifest.
DRIVER_VARIABLE = "VK_ICD_FILENAMES"
SOFTWARE_DRIVERS = (
    "/usr/lib/chromium/vk_swiftshader_icd.json",  # Debian's chromium-common
    "/usr/share/vulkan/icd.d/lvp_icd.json",  # Mesa's lavapipe; the accelerator wants Mesa 25
    "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json",
)
SECONDS = 900.0
# A device that computes in 16 bits; SwiftShader cannot.
HALF_ERROR = 5e-3
_SINGLE_PRECISION = "swiftshader"
_WAYS = {"gpu-strict": "gpu", "gpu-mixed": "gpu+cpu", "gpu-half": "gpu"}
_NOBODY = "no Vulkan device: install a driver, or Debian's chromium-common for a software one"


def checks(job: ValidationContext) -> tuple[list[Check], list[Kept]]:
    """Runs some rows with every operator on the accelerator, with those that it does not take on the CPU, and in 16 bits."""
    rows = job.some_rows
    with temporary_folder("gpu") as place:
        job.write(place / "rows.npz", rows)
        environment, first, reason = _device(job, place)
        if first is None:
            return [Check(name, NOT_RUN, reason) for name in _WAYS], []
        strict, kept = _check(job, "gpu-strict", rows, place, first)
        job.progress("gpu-strict", 1, 3)
        mixed, _ = _check(job, "gpu-mixed", rows, place, _run(job, place, "gpu-mixed", environment))
        job.progress("gpu-mixed", 2, 3)
        half = _half(job, rows, place, first)
        job.progress("gpu-half", 3, 3)
    return [strict, mixed, half], kept if len(kept) == len(job.examples) else []


def _half(job: ValidationContext, rows: np.ndarray, place: Path, first: Ended) -> Check:
    """What phones do by default, and SwiftShader cannot: 16 bits, in which a large mask constant is infinite."""
    name = "gpu-half"
    if _SINGLE_PRECISION not in GpuLog.of(first.log).architecture:
        return Check(name, NOT_RUN, "the device of gpu-strict may compute in 16 bits already, and was judged so")
    if not LAVAPIPE.ready:
        return Check(name, NOT_RUN, LAVAPIPE.missing)
    ended = _run(job, place, name, LAVAPIPE.variables)
    if not GpuLog.of(ended.log).adapter:
        return Check(name, NOT_RUN, f"lavapipe was not named as a device; {ended.failure_reason}")
    return _check(job, name, rows, place, ended)[0]


def _device(job: ValidationContext, place: Path) -> tuple[dict[str, str], Ended | None, str]:
    """The environment in which there is a device, and the strict run there; or why there is none."""
    try:
        from ai_edge_litert import compiled_model  # noqa: F401 (only whether it is there)
    except ImportError:
        return {}, None, "no GPU accelerator in this runtime: install ai-edge-litert 2.1.6 or newer"
    drivers = [{}]
    if DRIVER_VARIABLE not in os.environ:
        drivers += [{DRIVER_VARIABLE: path} for path in SOFTWARE_DRIVERS if Path(path).is_file()]
    for environment in drivers:
        ended = _run(job, place, "gpu-strict", environment)
        said = GpuLog.of(ended.log)
        if said.adapter:
            return environment, ended, ""
    if said.missing or ended.well:
        return {}, None, _NOBODY
    return {}, None, f"no Vulkan device was named; {ended.failure_reason}"


def _run(job: ValidationContext, place: Path, name: str, environment: dict[str, str]) -> Ended:
    (place / f"{name}.npz").unlink(missing_ok=True)
    arguments = (job.model_path, place / "rows.npz", place / f"{name}.npz", _WAYS[name], "device")
    return run_module(CHILD, arguments, SECONDS, environment)


def _check(job: ValidationContext, name: str, rows: np.ndarray, place: Path, ended: Ended) -> tuple[Check, list[Kept]]:
    said = GpuLog.of(ended.log)
    if not ended.well:
        reason = said.told or said.fault or ended.failure_reason
        return Check(name, FAILED, reason, device=said.adapter), []
    found = ChildOutputs.read(place / f"{name}.npz")
    whole = bool(found.more["fully_accelerated"])
    if name == "gpu-mixed" and (reason := said.unproven(whole)):
        return Check(name, NOT_RUN, reason, device=said.adapter), []
    kept = job.keep(found.outputs, rows)
    faults = [] if whole or name == "gpu-mixed" else ["not all operators ran on the GPU"]
    check = job.judged(
        name, rows, kept, found.seconds, limits=half_limits(job.tolerance, said.architecture), faults=faults, device=said.adapter,
        remark="; ".join(filter(None, (job.where(rows), said.remark))), ops=said.ops(whole, job.operators),
    )  # fmt: skip
    return check, kept


def half_limits(tolerance: Tolerance, device: str) -> Tolerance:
    """The tolerance on a device, by its name, that may compute in 16 bits."""
    if tolerance.max_error is None or _SINGLE_PRECISION in device:
        return tolerance
    return replace(tolerance, max_error=max(tolerance.max_error, HALF_ERROR))
