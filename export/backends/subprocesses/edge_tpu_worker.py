"""The worker of `backends.edge_tpu`: runs rows on an Edge TPU, and writes the outputs to a file.

    python -m kerasbert.export.backends.subprocesses.edge_tpu_worker libedgetpu.so.1 model.host.tflite model_edgetpu.tflite rows.npz
    outputs.npz

Arrays as in `gpu_worker`.
"""

import importlib
import sys
from typing import Any

import numpy as np

from kerasbert.children import die_with_parent
from kerasbert.export.runtime.interpreter_session import behind, bind
from kerasbert.export.runtime.interpreters import find_runtime, open_model
from kerasbert.export.tflite.model_file import ModelFile


def main() -> None:
    """Run the worker."""
    die_with_parent()
    library, host, body, inputs_file, outputs_file = sys.argv[1:]
    runtime = find_runtime().interpreter
    load_delegate = importlib.import_module(runtime.__module__).load_delegate
    interpreter = runtime(model_path=body, experimental_delegates=[load_delegate(library)])
    host_model = open_model(ModelFile.read(host))
    model = behind(bind(interpreter, body, "edge-tpu", 1, None), host_model)
    outputs, seconds = model.run_arrays(dict(np.load(inputs_file)))
    arrays: dict[str, Any] = {f"output {name}": values for name, values in outputs.items()}
    np.savez(outputs_file, seconds=seconds, **arrays)


if __name__ == "__main__":
    main()
