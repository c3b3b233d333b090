"""LSB errors of a static int8 model between a GPU and a CPU, tensor by tensor.

    python -m benchmarks.backends.int8_backend_divergence --model models/tiny-bert-classifier dev.tsv train.tsv

Measured: for each int8 tensor the largest difference to XNNPACK in LSBs and the rate of different values, in two settings. `alone` runs
every int8 Dense layer by itself on the same random integers, which shows the difference of one operator. `in_the_model` runs real text with
every int8 tensor as an output, which shows how rounding differences propagate.

A trained model becomes a static int8 file of target gpu, in which dynamically quantized Dense layers have float activations, as on a GPU.
It runs on the CPU with XNNPACK and on LiteRT's GPU accelerator in 32 bits. The CPU's reference kernels against XNNPACK show the effect of
another order of additions. LiteRT.js in WebAssembly runs the Dense layers alone.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.backends.float_activation_reference import with_float_activations
from benchmarks.common import record
from kerasbert.export.backends.operators_alone import extract_integer_dense
from kerasbert.export.tflite.graph_editor import GraphEditor
from kerasbert.export.tflite.model import decode, encode, schema, signature_end

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "ai-edge-quantizer", "numpy")
RECIPE = "static_wi8_ai8"


def main() -> None:
    """Measure all models and write the result."""
    arguments = _arguments()
    load = record.load()
    models = []
    for folder, data, train in arguments.model:
        models.append(_measure(arguments, folder, Path(data), Path(train)))
        for setting in ("alone", "in_the_model"):
            for side, facts in models[-1][setting].items():
                if side != "device":
                    summary = {key: value for key, value in facts.items() if key != "beyond_one_step"}
                    print(models[-1]["model"], setting, side, summary, flush=True)
    results = {"rows": arguments.rows, "draws": arguments.draws, "length": arguments.length, "models": models}
    record.write(arguments.json, results, record.versions(PACKAGES), load)


def _measure(arguments: argparse.Namespace, folder: str, data: Path, train: Path) -> dict:
    from kerasbert.export import convert
    from kerasbert.export.validation.data import Data
    from kerasbert.export.validation.examples import text_examples
    from kerasbert.tasks.auto import load_task

    model = load_task(folder)
    calibration = model.processor.read(train, max_rows=512).x
    texts = Data(model.processor.read(data).x)
    examples = text_examples(texts, model.processor, model.tokenizer, arguments.length, arguments.rows)
    rows = {name: values[: arguments.rows] for name, values in examples.inputs.items()}
    converted = convert(model, recipe=RECIPE, target="gpu", calibration=calibration, length=arguments.length)
    model_file = with_float_activations(converted.content)
    alone, grids, shapes = _isolate_layers(model_file)
    draw = np.random.default_rng(1)
    random_inputs = {
        name: _dequantize(draw.integers(-128, 128, (arguments.draws, *shape)), grids[name])
        for name, shape in shapes.items()
    }
    return {
        "model": Path(folder).name,
        "alone": _compare_backends(alone, grids, random_inputs, in_browser=arguments.draws_in_browser),
        "in_the_model": _compare_backends(*_expose_tensors(model_file), rows),
    }


def _expose_tensors(model: bytes) -> tuple[bytes, dict[str, tuple[float, int]]]:
    """Add every computed int8 tensor as a dequantized output; also returns scale and zero point of each."""
    content, grids = decode(model), {}
    signature = content.signatureDefs[0]
    with GraphEditor(content) as graph:
        for operator in graph.operators():
            for tensor in operator.outputs:
                if graph.has_type(tensor, "INT8"):
                    name = f"{len(grids):02d} {graph.name(tensor).split(';')[0]}"
                    grids[name] = _grid(graph.tensor(tensor))
                    signature.outputs.append(signature_end(name, _append_dequantize(graph, tensor)))
        graph.graph.outputs = [end.tensorIndex for end in signature.outputs]
    content.metadata = None
    return encode(content), grids


def _isolate_layers(model: bytes) -> tuple[bytes, dict[str, tuple[float, int]], dict[str, tuple[int, ...]]]:
    """Build a file of all int8 Dense layers, each between a QUANTIZE and a DEQUANTIZE.

    Returns:
        The file, scale and zero point of its inputs and outputs by name, and the shapes of its inputs without the first axis.
    """
    layers = extract_integer_dense(model)
    content, grids = decode(layers.content), {}
    signature = content.signatureDefs[0]
    with GraphEditor(content) as graph:
        first = graph.operators()[0]
        for end in signature.inputs:
            quantized = graph.tensor(end.tensorIndex)
            float_input = _add_float_tensor(graph, quantized, f"given_{end.tensorIndex}")
            graph.insert_before(first, graph.operator("QUANTIZE", [float_input], [end.tensorIndex]))
            grids[end.name.decode()], end.tensorIndex = _grid(quantized), float_input
        for number, end in enumerate(signature.outputs):
            output = graph.tensor(end.tensorIndex)
            name = f"{number:02d} {output.name.decode().split(';')[0]}"
            grids[name] = _grid(output)
            end.name, end.tensorIndex = name.encode(), _append_dequantize(graph, end.tensorIndex)
        ends = signature.inputs, signature.outputs
        graph.graph.inputs, graph.graph.outputs = ([end.tensorIndex for end in side] for side in ends)
    return encode(content), grids, {name: shape[1:] for name, shape in layers.inputs.items()}


def _append_dequantize(graph: GraphEditor, tensor: int) -> int:
    """Append a DEQUANTIZE of a tensor to the graph; returns the number of its output."""
    output = _add_float_tensor(graph, graph.tensor(tensor), f"widened_{tensor}")
    graph.append(graph.operator("DEQUANTIZE", [tensor], [output]))
    return output


def _add_float_tensor(graph: GraphEditor, like: Any, name: str) -> int:
    tensor = schema().TensorT()
    tensor.shape, tensor.type = like.shape, schema().TensorType.FLOAT32
    return graph.add_tensor(tensor, name)


def _grid(tensor: Any) -> tuple[float, int]:
    """Scale and zero point of a tensor."""
    return float(tensor.quantization.scale[0]), int(tensor.quantization.zeroPoint[0])


def _dequantize(integers: np.ndarray, grid: tuple[float, int]) -> np.ndarray:
    scale, zero_point = grid
    return ((integers - zero_point) * np.float32(scale)).astype(np.float32)


def _compare_backends(
    model: bytes, grids: dict[str, tuple[float, int]], rows: dict[str, np.ndarray], in_browser: int = 0
) -> dict:
    """Compare the reference kernels, the GPU and, for the first rows, WebAssembly with XNNPACK."""
    expected = _run_on_cpu(model, rows)
    comparisons: dict = {"reference_kernels": _compare(_run_on_cpu(model, rows, reference=True), expected, grids)}
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder)
        (workspace / "model.tflite").write_bytes(model)
        np.savez(workspace / "rows.npz", **rows)
        on_gpu, device = _run_on_gpu(workspace)
        comparisons |= {"device": device, "gpu": _compare(on_gpu, expected, grids)}
        if in_browser:
            first = {name: values[:in_browser] for name, values in rows.items()}
            on_wasm = _run_on_wasm(workspace, first)
            expected_first = {name: values[:in_browser] for name, values in expected.items()}
            comparisons["wasm"] = _compare(on_wasm, expected_first, grids)
    return comparisons


def _compare(
    outputs: dict[str, np.ndarray], expected: dict[str, np.ndarray], grids: dict[str, tuple[float, int]]
) -> dict:
    """Compute the errors of each int8 tensor in LSBs, and the largest errors of other outputs.

    Returns:
        `within` counts the tensors with errors of at most 1 and 2 LSBs; `apart` is the largest rate of different values of a tensor.
    """
    tensors = []
    for name, (scale, zero_point) in grids.items():
        if name in expected:
            pair = [np.rint(side[name] / np.float32(scale)) + zero_point for side in (outputs, expected)]
            steps = np.abs(pair[0] - pair[1])
            facts = {
                "max": int(steps.max()),
                "apart": float(np.mean(steps > 0)),
                "beyond_two": float(np.mean(steps > 2)),
            }
            tensors.append({"tensor": name, **facts})
    within = {str(limit): sum(facts["max"] <= limit for facts in tensors) for limit in (1, 2)}
    errors = {name: float(np.abs(outputs[name] - expected[name]).max()) for name in expected if name not in grids}
    return {
        "tensors": len(tensors), "within": within, "apart": max(facts["apart"] for facts in tensors),
        "beyond_two": max(facts["beyond_two"] for facts in tensors), "outputs": errors,
        "beyond_one_step": [facts for facts in tensors if facts["max"] > 1],
    }  # fmt: skip


def _run_on_cpu(model: bytes, rows: dict[str, np.ndarray], *, reference: bool = False) -> dict[str, np.ndarray]:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    resolver = OpResolverType.BUILTIN_REF if reference else OpResolverType.AUTO
    interpreter = Interpreter(model_content=model, num_threads=1, experimental_op_resolver_type=resolver)
    run = interpreter.get_signature_runner()
    results = [run(**{name: values[row : row + 1] for name, values in rows.items()}) for row in range(_count(rows))]
    return {name: np.concatenate([outputs[name] for outputs in results]) for name in results[0]}


def _run_on_gpu(workspace: Path) -> tuple[dict[str, np.ndarray], str]:
    from kerasbert.export.backends.gpu import DRIVER_VARIABLE, SECONDS, SOFTWARE_DRIVERS, WORKER
    from kerasbert.export.backends.subprocesses.gpu_log import GpuLog
    from kerasbert.export.runtime.process import run_module
    from kerasbert.export.validation.context import read_outputs

    software = [{DRIVER_VARIABLE: driver} for driver in SOFTWARE_DRIVERS]
    drivers = [{}] if DRIVER_VARIABLE in os.environ else [{}, *software]
    for environment in drivers:
        arguments = (workspace / "model.tflite", workspace / "rows.npz", workspace / "outputs.npz", "gpu", "fp32")
        result = run_module(WORKER, arguments, SECONDS, environment)
        log = GpuLog.of(result.log)
        if log.adapter:
            break
    if not (log.adapter and result.ok):
        sys.exit(
            f"expected a GPU that runs the file, received {log.unsupported_summary or log.fault or result.failure_reason}"
        )
    outputs, _, more = read_outputs(workspace / "outputs.npz")
    if not more["fully_accelerated"]:
        sys.exit("expected all operators on the GPU, received a partial delegation")
    return outputs, log.adapter


def _run_on_wasm(workspace: Path, rows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    from kerasbert.export.backends.web import outputs_of, page_answer, run_page

    inputs = {name: values.reshape(len(values), -1).tolist() for name, values in rows.items()}
    (workspace / "rows.json").write_text(json.dumps({"inputs": inputs, "length": None}), "utf-8")
    result = run_page(workspace / "model.tflite", workspace / "rows.json", "wasm")
    answer = page_answer(result)
    if answer is None or "outputs" not in answer:
        sys.exit(f"expected outputs of the browser, received {answer or result.failure_reason}")
    return outputs_of(answer)


def _count(rows: dict[str, np.ndarray]) -> int:
    return len(next(iter(rows.values())))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--model",
        nargs=3,
        action="append",
        required=True,
        metavar=("FOLDER", "DATA", "TRAIN"),
        help="a task, labelled rows, and calibration rows",
    )
    parser.add_argument("--rows", type=int, default=64, help="rows of text in the model")
    parser.add_argument("--draws", type=int, default=16, help="random inputs of the layers alone")
    parser.add_argument("--draws-in-browser", type=int, default=2, help="random inputs in the browser")
    parser.add_argument("--length", type=int, default=64, metavar="TOKENS")
    record.add_output(parser, "int8_backend_divergence")
    return parser.parse_args()


if __name__ == "__main__":
    main()
