"""The OpenCL and OpenGL delegate of TFLite, which no package for computers has: its rules, held against the file."""

from kerasbert.export.backends.gpu_classic_rules import GPU_CLASSIC
from kerasbert.export.backends.job import Job
from kerasbert.export.backends.rules import operators_by_backend, told, verdicts
from kerasbert.export.checks import FAILED, PASSED, Check
from kerasbert.export.examples import Kept
from kerasbert.export.tflite_file import TFLiteFile

NAME = "gpu-classic rules"


def checks(job: Job) -> tuple[list[Check], list[Kept]]:
    """Whether the delegate would take every operator. Nothing is run, so there are no outputs."""
    found = verdicts(TFLiteFile.read(job.model_path), GPU_CLASSIC)
    refused = sum(verdict.refused is not None for verdict in found)
    remark = (
        f"{refused} of {len(found)} operators stay on the CPU: {told(found)}"
        if refused
        else "rules only, nothing was run"
    )
    ops = operators_by_backend(found, GPU_CLASSIC.backend, "cpu")
    return [Check(NAME, FAILED if refused else PASSED, remark, device="none: a table of rules", ops=ops)], []
