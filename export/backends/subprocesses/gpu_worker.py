"""The child of `backends.gpu`: runs rows on LiteRT's GPU accelerator, and leaves the outputs in a file.

    python -m kerasbert.export.backends.subprocesses.gpu_worker model.tflite rows.npz outputs.npz gpu|gpu+cpu fp16|fp32

rows.npz: int32 or float arrays (rows, ...) by input name. outputs.npz: arrays (rows, ...) by output name, `seconds` of each row, and
`fully_accelerated`. What the accelerator says of itself goes to standard error, for the parent to read.
"""

import sys
import time

import numpy as np

from kerasbert.export.backends.subprocesses.process import die_with_parent

SIGNATURE = "serve"


def main() -> None:
    die_with_parent()
    from ai_edge_litert.compiled_model import CompiledModel, CpuOptions, GpuOptions, HardwareAccelerator, Options

    model, rows, outputs, where, precision = sys.argv[1:]
    gpu = HardwareAccelerator.GPU
    options = Options(
        hardware_accelerators=gpu | HardwareAccelerator.CPU if where == "gpu+cpu" else gpu,
        cpu_options=CpuOptions(num_threads=1),
        gpu_options=GpuOptions(enforce_f32=precision == "fp32"),
    )
    compiled = CompiledModel.from_file(model, options=options)
    signatures = compiled.get_signature_list()
    data = dict(np.load(rows))
    length = next(iter(data.values())).shape[-1]  # a file of several lengths has a signature of each
    key = next((name for name in (SIGNATURE, f"{SIGNATURE}_{length}") if name in signatures), None) or next(
        iter(signatures)
    )
    inputs = {name: compiled.create_input_buffer_by_name(key, name) for name in signatures[key]["inputs"]}
    results = {name: compiled.create_output_buffer_by_name(key, name) for name in signatures[key]["outputs"]}
    details = compiled.get_output_tensor_details(key)
    found = {name: [] for name in results}
    seconds = []
    for row in range(len(next(iter(data.values())))):
        for name, buffer in inputs.items():
            buffer.write(np.ascontiguousarray(data[name][row : row + 1]))
        start = time.perf_counter()
        compiled.run_by_name(key, inputs, results)
        for name, buffer in results.items():  # reading waits for the device
            shape, dtype = tuple(details[name]["shape"]), np.dtype(details[name]["dtype"])
            found[name].append(np.array(buffer.read(int(np.prod(shape)), dtype.type)).reshape(shape)[0])
        seconds.append(time.perf_counter() - start)
    np.savez(
        outputs,
        seconds=seconds,
        fully_accelerated=compiled.is_fully_accelerated(),
        **{f"output {k}": np.stack(v) for k, v in found.items()},
    )


if __name__ == "__main__":
    main()
