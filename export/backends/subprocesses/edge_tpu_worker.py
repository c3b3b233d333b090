"""The worker of `backends.edge_tpu`: runs rows on an Edge TPU, and writes the outputs to a file.

    python -m kerasbert.export.backends.subprocesses.edge_tpu_worker libedgetpu.so.1 model.host.tflite model_edgetpu.tflite rows.npz
    outputs.npz

Arrays as in `gpu_worker`.
"""

import importlib
import sys
import time
from typing import Any

import numpy as np

from kerasbert.children import die_with_parent
from kerasbert.export.runtime.interpreter_model import InterpreterModel
from kerasbert.export.runtime.interpreters import find_runtime, open_model
from kerasbert.export.runtime.model_file import ModelFile
from kerasbert.export.runtime.partitioned_model import PartitionedModel


def main() -> None:
    """Run the worker."""
    die_with_parent()
    library, host, body, inputs_file, outputs_file = sys.argv[1:]
    runtime = find_runtime().interpreter
    load_delegate = importlib.import_module(runtime.__module__).load_delegate
    interpreter = runtime(model_path=body, experimental_delegates=[load_delegate(library)])
    host_model = open_model(ModelFile.read(host))
    model = PartitionedModel(host_model, InterpreterModel(interpreter, body, "edge-tpu", 1, None))
    data = dict(np.load(inputs_file))
    outputs: dict[str, list[np.ndarray]] = {}
    seconds = []
    for row in range(len(next(iter(data.values())))):
        start = time.perf_counter()
        result = model.run({name: data[name][row : row + 1] for name in model.inputs})
        seconds.append(time.perf_counter() - start)
        for name, values in result.items():
            outputs.setdefault(name, []).append(values[0])
    arrays: dict[str, Any] = {f"output {name}": np.stack(values) for name, values in outputs.items()}
    np.savez(outputs_file, seconds=seconds, **arrays)


if __name__ == "__main__":
    main()
