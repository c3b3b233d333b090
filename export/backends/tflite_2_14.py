"""The last tflite-runtime, 2.14, in an environment of its own: the runtime of older devices."""

from pathlib import Path

from kerasbert.export.backends.context import BackendResult, ValidationContext, WorkerOutputs
from kerasbert.export.backends.environments.known import TFLITE_2_14
from kerasbert.export.backends.subprocesses.process import run_command
from kerasbert.export.runtime.interpreters import cpu_model
from kerasbert.export.validation.checks import FAILED, Check
from kerasbert.files.cleanup import temporary_folder

NAME = "tflite-2.14"
WORKER = Path(__file__).parent / "subprocesses" / "runtime_worker.py"
SECONDS = 900.0


def run_checks(context: ValidationContext) -> BackendResult:
    """Run a sample of the rows on the old runtime, with its own kernels and XNNPACK."""
    device = f"{TFLITE_2_14.packages[0].replace('==', ' ')}, {cpu_model()}"
    rows = context.sample_rows
    with temporary_folder(NAME) as folder:
        inputs, outputs_file = folder / "rows.npz", folder / "outputs.npz"
        context.write_inputs(inputs, rows)
        result = run_command([TFLITE_2_14.python, WORKER, context.model_path, inputs, outputs_file], SECONDS)
        if not result.ok:
            return BackendResult([Check(NAME, FAILED, result.failure_reason, device=device)])
        worker = WorkerOutputs.read(outputs_file)
    outputs = context.extract(worker.outputs, rows)
    remark = context.sample_remark(rows)
    check = context.make_check(NAME, rows, outputs, worker.seconds, remark=remark, device=device, threads=1)
    return BackendResult([check], outputs if len(outputs) == len(context.examples) else [])
