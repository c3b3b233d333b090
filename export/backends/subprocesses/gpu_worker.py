"""The worker of `backends.gpu`: runs rows on LiteRT's GPU accelerator, and writes the outputs to a file.

    python -m kerasbert.export.backends.subprocesses.gpu_worker model.tflite rows.npz outputs.npz gpu|gpu+cpu fp16|fp32

rows.npz holds int32 or float arrays (rows, ...) by input name. outputs.npz holds arrays (rows, ...) by output name, `seconds` of each row,
and `fully_accelerated`. The accelerator logs to standard error, for the parent to read.
"""

import sys
import time
from typing import Any

import numpy as np

from kerasbert.children import die_with_parent

SIGNATURE = "serve"


def main() -> None:
    """Run the worker."""
    die_with_parent()
    from ai_edge_litert.compiled_model import CompiledModel, CpuOptions, GpuOptions, HardwareAccelerator, Options

    model, inputs_file, outputs_file, hardware, precision = sys.argv[1:]
    gpu = HardwareAccelerator.GPU
    options = Options(
        hardware_accelerators=gpu | HardwareAccelerator.CPU if hardware == "gpu+cpu" else gpu,
        cpu_options=CpuOptions(num_threads=1),
        gpu_options=GpuOptions(enforce_f32=precision == "fp32"),
    )
    compiled = CompiledModel.from_file(model, options=options)
    signatures = compiled.get_signature_list()
    data = dict(np.load(inputs_file))
    length = next(iter(data.values())).shape[-1]  # a file of several lengths has a signature of each
    key = next((name for name in (SIGNATURE, f"{SIGNATURE}_{length}") if name in signatures), None) or next(
        iter(signatures)
    )
    inputs = {name: compiled.create_input_buffer_by_name(key, name) for name in signatures[key]["inputs"]}
    results = {name: compiled.create_output_buffer_by_name(key, name) for name in signatures[key]["outputs"]}
    details = compiled.get_output_tensor_details(key)
    outputs: dict[str, list[np.ndarray]] = {name: [] for name in results}
    seconds = []
    for row in range(len(next(iter(data.values())))):
        for name, buffer in inputs.items():
            buffer.write(np.ascontiguousarray(data[name][row : row + 1]))
        start = time.perf_counter()
        compiled.run_by_name(key, inputs, results)
        for name, buffer in results.items():  # reading waits for the device
            shape, dtype = tuple(details[name]["shape"]), np.dtype(details[name]["dtype"])
            outputs[name].append(np.array(buffer.read(int(np.prod(shape)), dtype.type)).reshape(shape)[0])
        seconds.append(time.perf_counter() - start)
    arrays: dict[str, Any] = {f"output {name}": np.stack(values) for name, values in outputs.items()}
    np.savez(outputs_file, seconds=seconds, fully_accelerated=compiled.is_fully_accelerated(), **arrays)


if __name__ == "__main__":
    main()
