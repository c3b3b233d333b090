"""The last tflite-runtime, 2.14, in an environment of its own: the runtime of older devices."""

from pathlib import Path

from kerasbert.export.backends.environments.known import TFLITE_2_14
from kerasbert.export.runtime.interpreters import cpu_model
from kerasbert.export.runtime.process import ProcessResult, run_command
from kerasbert.export.validation.context import BackendResult, ValidationContext

NAME = "tflite-2.14"
WORKER = Path(__file__).parent / "subprocesses" / "runtime_worker.py"
SECONDS = 900.0


def run_checks(context: ValidationContext) -> BackendResult:
    """Run a sample of the rows on the old runtime, with its own kernels and XNNPACK."""
    device = f"{TFLITE_2_14.packages[0].replace('==', ' ')}, {cpu_model()}"

    def run(inputs: Path, outputs: Path) -> ProcessResult:
        return run_command([TFLITE_2_14.python, WORKER, context.model_path, inputs, outputs], SECONDS)

    check, outputs = context.check_worker(NAME, context.sample_rows, run, device=device, threads=1)
    return BackendResult([check], outputs)
