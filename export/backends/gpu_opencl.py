"""The OpenCL and OpenGL delegate of TFLite, which no package for computers has: its rules, held against the file."""

from kerasbert.export.backends.context import ValidationContext
from kerasbert.export.backends.rules.gpu_opencl import GPU_OPENCL
from kerasbert.export.backends.rules.operator_rules import Call, calls, operators_by_backend, told, verdicts
from kerasbert.export.tflite.tflite_file import TFLiteFile
from kerasbert.export.validation.checks import FAILED, PASSED, Check
from kerasbert.export.validation.examples import Kept

NAME = "gpu-opencl rules"
_SHAPES = ("RESHAPE", "EXPAND_DIMS", "SQUEEZE")


def checks(job: ValidationContext) -> tuple[list[Check], list[Kept]]:
    """Whether the delegate would take every operator but those that bring the ids in shape. Nothing is run: there are no outputs."""
    file = TFLiteFile.read(job.model_path)
    found = verdicts(file, GPU_OPENCL)
    shaping = {number for number, call in enumerate(calls(file)) if _shapes_ids(call)}
    left = tuple(verdict for verdict in found if verdict.refused is not None and verdict.number not in shaping)
    remark = (
        f"{len(left)} of {len(found)} operators stay on the CPU: {told(left)}"
        if left
        else "rules only, nothing was run"
    )
    ops = operators_by_backend(found, GPU_OPENCL.backend, "cpu")
    return [Check(NAME, FAILED if left else PASSED, remark, device="none: a table of rules", ops=ops)], []


def _shapes_ids(call: Call) -> bool:
    """Whether a call only gives whole numbers another shape: a handful of bytes, before anything else runs."""
    return call.operator.name in _SHAPES and all(tensor.dtype == "int32" for tensor in (*call.computed, *call.outputs))
