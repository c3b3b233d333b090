"""LiteRT's GPU accelerator in a worker process: on a graphics processor, or on a software Vulkan device where there is none.

The adapter that the accelerator names is the proof that it ran there; without one the check was not run.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from kerasbert.export.backends.environments.known import LAVAPIPE
from kerasbert.export.backends.subprocesses.gpu_log import GpuLog
from kerasbert.export.runtime.process import ProcessResult, run_module
from kerasbert.export.tflite.arithmetic import FP16, FP32
from kerasbert.export.validation.checks import FAILED, NOT_RUN, Check, Tolerance
from kerasbert.export.validation.context import BackendResult, ValidationContext, read_outputs
from kerasbert.export.validation.examples import RowOutputs
from kerasbert.files.cleanup import temporary_folder

WORKER = "kerasbert.export.backends.subprocesses.gpu_worker"
# Which Vulkan driver: the system's own choice first, then software ones by their manifest.
DRIVER_VARIABLE = "VK_ICD_FILENAMES"
SOFTWARE_DRIVERS = (
    "/usr/lib/chromium/vk_swiftshader_icd.json",  # Debian's chromium-common
    "/usr/share/vulkan/icd.d/lvp_icd.json",  # Mesa's lavapipe; the accelerator wants Mesa 25
    "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json",
)
SECONDS = 900.0
# The largest error on a device that computes in 16 bits; SwiftShader cannot.
HALF_ERROR = 5e-3
_SINGLE_PRECISION, _HALF_PRECISION = "swiftshader", "llvmpipe"
_CHECKS = ("gpu-strict", "gpu-mixed", "gpu-half")
_STRICT, _MIXED = "gpu", "gpu+cpu"  # the worker's hardware
_NO_DEVICE = "no Vulkan device: install a driver, or Debian's chromium-common for a software one"


def run_checks(context: ValidationContext) -> BackendResult:
    """Run a sample of the rows with every operator on the accelerator, with the CPU beside it, and in 16 bits."""
    rows = context.sample_rows
    with temporary_folder("gpu") as folder:
        context.write_inputs(folder / "rows.npz", rows)
        context.progress.begin("running gpu", len(_CHECKS), "checks")
        environment, first, reason = _find_device(context, folder)
        if first is None:
            return BackendResult.not_run(_CHECKS, reason)
        strict, outputs = _check(context, "gpu-strict", rows, folder, first, _STRICT)
        context.progress.advance(1)
        second = _run(context, folder, "gpu-mixed", _MIXED, environment)
        mixed, _ = _check(context, "gpu-mixed", rows, folder, second, _MIXED)
        context.progress.advance(2)
        half = _check_half(context, rows, folder, first)
        context.progress.advance(3)
    return BackendResult([strict, mixed, half], outputs)


def _check_half(context: ValidationContext, rows: np.ndarray, folder: Path, first: ProcessResult) -> Check:
    """Run in 16 bits, the default of phones, where squares in a norm may become infinite. SwiftShader has no 16 bits.

    The CPU helps where the accelerator does not have every operator.
    """
    name = "gpu-half"
    if _SINGLE_PRECISION not in GpuLog.of(first.log).architecture:
        return Check(name, NOT_RUN, "the device of gpu-strict may compute in 16 bits already, and was judged so")
    if not LAVAPIPE.ready:
        return Check(name, NOT_RUN, LAVAPIPE.missing)
    hardware = _MIXED if GpuLog.of(first.log).unsupported else _STRICT
    result = _run(context, folder, name, hardware, LAVAPIPE.variables)
    if not GpuLog.of(result.log).adapter:
        return Check(name, NOT_RUN, f"lavapipe was not named as a device; {result.failure_reason}")
    return _check(context, name, rows, folder, result, hardware)[0]


def _find_device(context: ValidationContext, folder: Path) -> tuple[dict[str, str], ProcessResult | None, str]:
    """Return the variables with which there is a device, the strict run there, and the reason where there is none."""
    if not _has_accelerator():
        return {}, None, "no GPU accelerator in this runtime: install ai-edge-litert 2.1.6 or newer"
    drivers: list[dict[str, str]] = [{}]
    if DRIVER_VARIABLE not in os.environ:
        drivers += [{DRIVER_VARIABLE: path} for path in SOFTWARE_DRIVERS if Path(path).is_file()]
    for environment in drivers:
        result = _run(context, folder, "gpu-strict", _STRICT, environment)
        log = GpuLog.of(result.log)
        if log.adapter:
            return environment, result, ""
    if log.missing or result.ok:
        return {}, None, _NO_DEVICE
    return {}, None, f"no Vulkan device was named; {result.failure_reason}"


def _has_accelerator() -> bool:
    try:
        from ai_edge_litert import compiled_model  # noqa: F401 (imported to see that it is there)
    except ImportError:
        return False
    return True


def _run(
    context: ValidationContext, folder: Path, name: str, hardware: str, environment: Mapping[str, str]
) -> ProcessResult:
    (folder / f"{name}.npz").unlink(missing_ok=True)
    arguments = (context.model_path, folder / "rows.npz", folder / f"{name}.npz", hardware, "device")
    return run_module(WORKER, arguments, SECONDS, environment)


def _check(
    context: ValidationContext, name: str, rows: np.ndarray, folder: Path, result: ProcessResult, hardware: str
) -> tuple[Check, list[RowOutputs]]:
    log = GpuLog.of(result.log)
    if not result.ok:
        refusal = log.unsupported_summary or log.fault if result.status is not None else ""  # no cause of a time limit
        reason = refusal or result.failure_reason
        return Check(name, FAILED, reason, device=log.adapter), []
    arrays, seconds, more = read_outputs(folder / f"{name}.npz")
    whole = bool(more["fully_accelerated"])
    if hardware == _MIXED and (reason := log.unproven_reason(whole)):
        return Check(name, NOT_RUN, reason, device=log.adapter), []
    outputs = context.extract(arrays, rows)
    faults = [] if whole or hardware == _MIXED else ["not all operators ran on the GPU"]
    check = context.make_check(
        name, rows, outputs, seconds, limits=half_limits(context.tolerance, log.architecture), faults=faults,
        device=log.adapter, remark="; ".join(filter(None, (context.sample_remark(rows), log.remark))),
        arithmetic=context.arithmetic(float_format(log.architecture)),
        ops=log.operators_by_backend(whole, context.operator_count),
    )  # fmt: skip
    return check, outputs


def float_format(device: str) -> str:
    """Name the format in which a device computes floats, judged by its name: a graphics processor that has fp16 takes it by default."""
    if _SINGLE_PRECISION in device:
        return FP32
    return FP16 if _HALF_PRECISION in device else f"{FP16} if the device has it"


def half_limits(tolerance: Tolerance, device: str) -> Tolerance:
    """Return the tolerance on a device that may compute in 16 bits, judged by its name."""
    if tolerance.max_error is None or _SINGLE_PRECISION in device:
        return tolerance
    score_shift = None if tolerance.score_shift is None else max(tolerance.score_shift, HALF_ERROR)
    return replace(tolerance, max_error=max(tolerance.max_error, HALF_ERROR), score_shift=score_shift)
