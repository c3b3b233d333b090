"""The worker of `backends.tflite_2_14` and `backends.arm64`: runs rows on the runtime of another environment.

It needs NumPy and that runtime alone.

    python runtime_worker.py model.tflite rows.npz outputs.npz

Arrays as in `gpu_worker`.
"""

import sys
import time
from typing import Any

import numpy as np

try:
    from tflite_runtime.interpreter import Interpreter  # pyright: ignore[reportMissingImports] (another environment)
except ImportError:
    from ai_edge_litert.interpreter import Interpreter

SIGNATURE = "serve"


def main() -> None:
    """Run the worker."""
    model, inputs_file, outputs_file = sys.argv[1:]
    data = dict(np.load(inputs_file))
    interpreter = Interpreter(model, num_threads=1)
    signatures = interpreter.get_signature_list()
    length = next(iter(data.values())).shape[-1]  # a file of several lengths has a signature of each
    key = next((name for name in (SIGNATURE, f"{SIGNATURE}_{length}") if name in signatures), None) or next(
        iter(signatures)
    )
    runner = interpreter.get_signature_runner(key)
    ports = runner.get_input_details()  # a call sets the length of a resizable file
    outputs, seconds = {}, []
    for row in range(len(next(iter(data.values())))):
        inputs = {name: data[name][row : row + 1] for name in ports}
        start = time.perf_counter()
        result = runner(**inputs)
        seconds.append(time.perf_counter() - start)
        for name, values in result.items():
            outputs.setdefault(name, []).append(np.array(values)[0])
    arrays: dict[str, Any] = {"output " + name: np.stack(values) for name, values in outputs.items()}
    np.savez(outputs_file, seconds=seconds, **arrays)


if __name__ == "__main__":
    main()
