"""The OpenCL and OpenGL delegate of TFLite, which no package for computers contains: its rules, applied to every operator."""

from kerasbert.export.backends.rules.gpu_opencl import GPU_OPENCL, forecast
from kerasbert.export.backends.rules.operator_rules import (
    Call,
    calls,
    operators_by_backend,
    summarize,
)
from kerasbert.export.validation.checks import FAILED, PASSED, Check
from kerasbert.export.validation.context import BackendResult, ValidationContext

NAME = "gpu-opencl rules"
_SHAPE_OPERATORS = ("RESHAPE", "EXPAND_DIMS", "SQUEEZE")


def run_checks(context: ValidationContext) -> BackendResult:
    """Check that the delegate would take every operator but those that reshape the ids. Nothing is run: there are no outputs."""
    verdicts = forecast(context.file)
    reshaping = {number for number, call in enumerate(calls(context.file)) if _reshapes_ids(call)}
    unsupported = tuple(
        verdict for verdict in verdicts if verdict.unsupported_reason is not None and verdict.number not in reshaping
    )
    remark = (
        f"{len(unsupported)} of {len(verdicts)} operators stay on the CPU: {summarize(unsupported)}"
        if unsupported
        else "rules only, nothing was run"
    )
    ops = operators_by_backend(verdicts, GPU_OPENCL.backend, "cpu")
    status = FAILED if unsupported else PASSED
    return BackendResult([Check(NAME, status, remark, device="none: a table of rules", ops=ops)])


def _reshapes_ids(call: Call) -> bool:
    """Tell whether a call only reshapes whole numbers: a few bytes, before anything else runs."""
    return call.operator.name in _SHAPE_OPERATORS and all(
        tensor.dtype == "int32" for tensor in (*call.computed, *call.outputs)
    )
