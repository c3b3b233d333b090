"""How many quanta of 8 bits a GPU and a CPU are apart, tensor by tensor.

    python benchmarks/steps_apart.py --model models/tiny-bert-classifier dev.tsv train.tsv

Of a trained model a static int8 file of the target gpu is made, with denses whose input a CPU quantizes at run time in floats (as a GPU has
them). It runs on the CPU with XNNPACK and on LiteRT's GPU accelerator, everything on it in 32 bits, in two ways. *Alone*: every 8-bit dense
by itself, both sides fed the same random integers; that is what an operator does differently. *In the model*: the same rows of real text,
with every 8-bit tensor an output; that is what becomes of it, one difference causing the next, on its way through the model. The CPU's own
reference kernels run the same against XNNPACK, for a measure of what any other order of additions does; and LiteRT.js in WebAssembly runs
the denses alone.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import record
from float_denses import float_denses

from kerasbert.export.backends.operators_alone import extract_integer_dense
from kerasbert.export.tflite.model import code_of, decode, encode, new_operator, signature_end

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "ai-edge-quantizer", "numpy")
RECIPE = "static_wi8_ai8"


def main() -> None:
    arguments = _arguments()
    load = record.load()
    found = []
    for folder, data, train in arguments.model:
        found.append(_measured(arguments, folder, Path(data), Path(train)))
        for way in ("alone", "in_the_model"):
            for side, facts in found[-1][way].items():
                if side != "device":
                    told = {key: value for key, value in facts.items() if key != "beyond_one_step"}
                    print(found[-1]["model"], way, side, told, flush=True)
    results = {"rows": arguments.rows, "draws": arguments.draws, "length": arguments.length, "models": found}
    record.write(arguments.json, results, record.versions(PACKAGES), load)


def _measured(arguments, folder: str, data: Path, train: Path) -> dict:
    from kerasbert.export import convert
    from kerasbert.export.validation.examples import Data, text_examples
    from kerasbert.tasks.auto import load_task

    model = load_task(folder)
    calibration = model.processor.read(train, max_rows=512).x
    texts = Data(model.processor.read(data).x)
    examples = text_examples(texts, model.processor, model.tokenizer, arguments.length, arguments.rows)
    rows = {name: values[: arguments.rows] for name, values in examples.inputs.items()}
    made = convert(model, recipe=RECIPE, target="gpu", calibration=calibration, length=arguments.length)
    floats = float_denses(made.content)
    alone, grids, shapes = _alone(floats)
    draw = np.random.default_rng(1)
    drawn = {
        name: _widened(draw.integers(-128, 128, (arguments.draws, *shape)), grids[name])
        for name, shape in shapes.items()
    }
    return {
        "model": Path(folder).name,
        "alone": _apart(alone, grids, drawn, in_browser=arguments.draws_in_browser),
        "in_the_model": _apart(*_tapped(floats), rows),
    }


def _tapped(model: bytes) -> tuple[bytes, dict[str, tuple[float, int]]]:
    """The file with every tensor of 8 bits that it computes as a further output, in floats, and the step and zero point of each."""
    from ai_edge_litert import schema_py_generated as schema

    content = decode(model)
    graph, signature, steps = content.subgraphs[0], content.signatureDefs[0], {}
    for operator in list(graph.operators):
        for tensor in map(int, operator.outputs):
            if graph.tensors[tensor].type == schema.TensorType.INT8:
                name = f"{len(steps):02d} {graph.tensors[tensor].name.decode().split(';')[0]}"
                steps[name] = _grid(graph.tensors[tensor])
                signature.outputs.append(signature_end(name, _widen(content, tensor)))
    graph.outputs = [each.tensorIndex for each in signature.outputs]
    content.metadata = None
    return encode(content), steps


def _alone(model: bytes) -> tuple[bytes, dict[str, tuple[float, int]], dict[str, tuple[int, ...]]]:
    """A file with the 8-bit denses side by side, each between a QUANTIZE and a DEQUANTIZE; the grids of its inputs and outputs by name; and
    the shapes of its inputs without the first axis."""
    from ai_edge_litert import schema_py_generated as schema

    cut = extract_integer_dense(model)
    content = decode(cut.content)
    graph, signature, grids = content.subgraphs[0], content.signatureDefs[0], {}
    code = code_of(content, schema.BuiltinOperator.QUANTIZE, 1)
    kind, options = schema.BuiltinOptions.QuantizeOptions, schema.QuantizeOptionsT()
    for end in signature.inputs:
        fed = graph.tensors[end.tensorIndex]
        given = _float_of(content, fed, f"given_{end.tensorIndex}")
        graph.operators.insert(0, new_operator(code, [given], [end.tensorIndex], kind, options))
        grids[end.name.decode()], end.tensorIndex = _grid(fed), given
    for number, end in enumerate(signature.outputs):
        written = graph.tensors[end.tensorIndex]
        name = f"{number:02d} {written.name.decode().split(';')[0]}"
        grids[name] = _grid(written)
        end.name, end.tensorIndex = name.encode(), _widen(content, end.tensorIndex)
    graph.inputs, graph.outputs = (
        [each.tensorIndex for each in side] for side in (signature.inputs, signature.outputs)
    )
    return encode(content), grids, {name: shape[1:] for name, shape in cut.inputs.items()}


def _widen(content, tensor: int) -> int:
    """A DEQUANTIZE of the tensor is added to the graph; the number of what it writes."""
    from ai_edge_litert import schema_py_generated as schema

    graph = content.subgraphs[0]
    outcome = _float_of(content, graph.tensors[tensor], f"widened_{tensor}")
    code = code_of(content, schema.BuiltinOperator.DEQUANTIZE, 1)
    kind, options = schema.BuiltinOptions.DequantizeOptions, schema.DequantizeOptionsT()
    graph.operators.append(new_operator(code, [tensor], [outcome], kind, options))
    return outcome


def _float_of(content, like, name: str) -> int:
    from ai_edge_litert import schema_py_generated as schema

    made = schema.TensorT()
    made.name, made.shape, made.type, made.buffer = name.encode(), like.shape, schema.TensorType.FLOAT32, 0
    content.subgraphs[0].tensors.append(made)
    return len(content.subgraphs[0].tensors) - 1


def _grid(tensor) -> tuple[float, int]:
    return float(tensor.quantization.scale[0]), int(tensor.quantization.zeroPoint[0])


def _widened(integers: np.ndarray, grid: tuple[float, int]) -> np.ndarray:
    step, zero = grid
    return ((integers - zero) * np.float32(step)).astype(np.float32)


def _apart(model: bytes, grids: dict[str, tuple[float, int]], rows: dict[str, np.ndarray], in_browser: int = 0) -> dict:
    """Runs the file with XNNPACK, and on the GPU and with the reference kernels against that; the first rows in a browser too."""
    expected = _on_cpu(model, rows)
    found = {"reference_kernels": _compared(_on_cpu(model, rows, reference=True), expected, grids)}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "model.tflite").write_bytes(model)
        np.savez(place / "rows.npz", **rows)
        on_gpu, device = _on_gpu(place)
        found |= {"device": device, "gpu": _compared(on_gpu, expected, grids)}
        if in_browser:
            first = {name: values[:in_browser] for name, values in rows.items()}
            on_wasm = _on_wasm(place, first)
            found["wasm"] = _compared(on_wasm, {name: values[:in_browser] for name, values in expected.items()}, grids)
    return found


def _compared(
    found: dict[str, np.ndarray], expected: dict[str, np.ndarray], grids: dict[str, tuple[float, int]]
) -> dict:
    """Of each tensor the largest distance in steps, and the share of its values that are apart; of all, how many are one step apart at
    most, and two; of other outputs the largest error."""
    tensors = []
    for name, (step, zero) in grids.items():
        if name in expected:
            ours, theirs = (np.rint(side[name] / np.float32(step)) + zero for side in (found, expected))
            steps = np.abs(ours - theirs)
            facts = {
                "max": int(steps.max()),
                "apart": float(np.mean(steps > 0)),
                "beyond_two": float(np.mean(steps > 2)),
            }
            tensors.append({"tensor": name, **facts})
    within = {str(steps): sum(each["max"] <= steps for each in tensors) for steps in (1, 2)}
    outputs = {name: float(np.abs(found[name] - expected[name]).max()) for name in expected if name not in grids}
    return {
        "tensors": len(tensors), "within": within, "apart": max(each["apart"] for each in tensors),
        "beyond_two": max(each["beyond_two"] for each in tensors), "outputs": outputs,
        "beyond_one_step": [each for each in tensors if each["max"] > 1],
    }  # fmt: skip


def _on_cpu(model: bytes, rows: dict[str, np.ndarray], *, reference: bool = False) -> dict[str, np.ndarray]:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    resolver = OpResolverType.BUILTIN_REF if reference else OpResolverType.AUTO
    interpreter = Interpreter(model_content=model, num_threads=1, experimental_op_resolver_type=resolver)
    run = interpreter.get_signature_runner()
    each = [run(**{name: values[row : row + 1] for name, values in rows.items()}) for row in range(_count(rows))]
    return {name: np.concatenate([outputs[name] for outputs in each]) for name in each[0]}


def _on_gpu(place: Path) -> tuple[dict[str, np.ndarray], str]:
    from kerasbert.export.backends.context import WorkerOutputs
    from kerasbert.export.backends.gpu import DRIVER_VARIABLE, SECONDS, SOFTWARE_DRIVERS, WORKER
    from kerasbert.export.backends.subprocesses.gpu_log import GpuLog
    from kerasbert.export.backends.subprocesses.process import run_module

    drivers = [{}] if DRIVER_VARIABLE in os.environ else [{}, *({DRIVER_VARIABLE: each} for each in SOFTWARE_DRIVERS)]
    for environment in drivers:
        arguments = (place / "model.tflite", place / "rows.npz", place / "outputs.npz", "gpu", "fp32")
        ended = run_module(WORKER, arguments, SECONDS, environment)
        said = GpuLog.of(ended.log)
        if said.adapter:
            break
    if not (said.adapter and ended.ok):
        sys.exit(
            f"no GPU, or it did not take the file: {said.unsupported_summary or said.fault or ended.failure_reason}"
        )
    read = WorkerOutputs.read(place / "outputs.npz")
    if not read.more["fully_accelerated"]:
        sys.exit("not all operators ran on the GPU")
    return read.outputs, said.adapter


def _on_wasm(place: Path, rows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    from kerasbert.export.backends.web import outputs_of, page_answer, run_page

    inputs = {name: values.reshape(len(values), -1).tolist() for name, values in rows.items()}
    (place / "rows.json").write_text(json.dumps({"inputs": inputs, "length": None}), "utf-8")
    ended = run_page(place / "model.tflite", place / "rows.json", "wasm")
    said = page_answer(ended)
    if said is None or "outputs" not in said:
        sys.exit(f"not run in the browser: {said or ended.failure_reason}")
    return outputs_of(said)


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
        help="a task, labelled rows of it, and rows to calibrate with",
    )
    parser.add_argument("--rows", type=int, default=64, help="of text, in the model")
    parser.add_argument("--draws", type=int, default=16, help="of random integers, alone")
    parser.add_argument("--draws-in-browser", type=int, default=2, help="the first of them")
    parser.add_argument("--length", type=int, default=64, metavar="TOKENS")
    record.add_output(parser, "steps_apart")
    return parser.parse_args()


if __name__ == "__main__":
    main()
