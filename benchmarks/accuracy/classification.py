"""Accuracy, size and latency of a fine-tuned classifier's int8 files, against the float model on labelled rows.

    python -m benchmarks.accuracy.classification runs/sst2 runs/sst2-int8 --dev dev.tsv.gz

Measured: accuracy, its ratio to float, agreement with both Keras models, size, XNNPACK partitions and latency. The folders are the outputs
of `kerasbert train` and `kerasbert quantize`; their training records are copied into the result.

Each file runs row by row with XNNPACK, and a part of the rows with the reference kernels. For latency the files take turns on each row.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.common import record

PACKAGES = ("tensorflow", "tf-keras", "tensorflow-model-optimization", "ai-edge-litert", "ai-edge-quantizer", "numpy")
ROUNDS = 60


def main() -> None:
    """Convert, measure and write the result."""
    arguments = _arguments()
    import kerasbert as kb
    from kerasbert.data import read_table
    from kerasbert.export.measurement.model_size import model_size
    from kerasbert.export.runtime.interpreters import open_model

    load = record.load()
    table = read_table(arguments.dev)
    float_task, int8_task = kb.load_task(arguments.float_folder), kb.load_task(arguments.int8_folder)
    truth = float_task.encode_labels(table.labels)
    inputs = table.texts if table.pairs is None else (table.texts, table.pairs)
    predictions = {"keras_float": float_task.predict(inputs), "keras_fake_quant": int8_task.predict(inputs)}
    files = {"dynamic_wi8_afp32": float_task, "static_wi8_ai8": int8_task}
    packed = float_task.pack(table.texts, table.pairs, length=arguments.length)
    facts, models = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for recipe, task in files.items():
            converted = kb.export.convert(task, recipe, length=arguments.length)
            path = converted.save(Path(folder) / f"{recipe}.tflite")
            models[recipe] = open_model(path)
            reference = open_model(path, kernels="reference")
            facts[recipe] = {
                **record.file_facts(path),
                "bytes_per_parameter": model_size(path, converted.metadata).bytes_per_parameter,
                "partitions": models[recipe].partitions,
            }
            predictions[recipe] = _run(models[recipe], packed)
            subset = {name: values[: arguments.reference_rows] for name, values in packed.items()}
            predictions[f"{recipe}_reference_kernels"] = _run(reference, subset)
        facts["latency"] = _latency(models, packed)
    results = {name: _compare(output, predictions, truth) for name, output in predictions.items()}
    for name, values in {**results, **facts}.items():
        print(name, json.dumps(values), flush=True)
    result = {
        "data": Path(arguments.dev).name,
        "rows": len(truth),
        "length": arguments.length,
        "parameters": sum(int(v.shape.num_elements()) for v in float_task.variables_by_path().values()),
        "results": results,
        "files": facts,
        "training": {name: _training(folder) for name, folder in vars(arguments).items() if name.endswith("_folder")},
    }
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _run(model, packed: dict) -> np.ndarray:
    rows = len(packed["input_ids"])
    runs = (model.run({name: values[i : i + 1] for name, values in packed.items()}) for i in range(rows))
    return np.concatenate([outputs["probabilities"] for outputs in runs])


def _compare(output: np.ndarray, predictions: dict, truth: np.ndarray) -> dict:
    """Compute the accuracy, its ratio to the float model's on the same rows, and the agreement with both Keras models."""
    rows = len(output)
    chosen = {name: predictions[name][:rows].argmax(1) for name in ("keras_float", "keras_fake_quant")}
    accuracy = float((output.argmax(1) == truth[:rows]).mean())
    return {
        "rows": rows,
        "accuracy": accuracy,
        "share_of_float": accuracy / float((chosen["keras_float"] == truth[:rows]).mean()),
        "same_class_as_float": float((output.argmax(1) == chosen["keras_float"]).mean()),
        "same_class_as_fake_quant": float((output.argmax(1) == chosen["keras_fake_quant"]).mean()),
    }


def _latency(models: dict, packed: dict) -> dict:
    """Measure milliseconds per row on one thread; the files take turns on each row."""
    times = {name: [] for name in models}
    for i in range(ROUNDS + 5):
        row = {name: values[i % len(values)][None] for name, values in packed.items()}
        for name, model in models.items():
            start = time.perf_counter()
            model.run(row)
            times[name].append(1e3 * (time.perf_counter() - start))
    timed = {name: values[5:] for name, values in times.items()}  # the first rows are warmup
    ratio = record.ratio(timed["static_wi8_ai8"], timed["dynamic_wi8_afp32"])
    return {**{f"{name}_ms": record.spread(v) for name, v in timed.items()}, "static_over_dynamic": ratio}


def _training(folder: str) -> dict | None:
    path = Path(folder) / "training.json"
    if not path.is_file():
        return None
    training = json.loads(path.read_text("utf-8"))
    # Results hold file names without the folders of this machine.
    training["command"] = " ".join(map(record.shorten_path, training["command"].split()))
    if "model" in training:
        training["model"] = record.shorten_path(str(training["model"]))
    return training


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("float_folder", help="output of `kerasbert train`")
    parser.add_argument("int8_folder", help="output of `kerasbert quantize --recipe static_wi8_ai8` for it")
    parser.add_argument("--dev", required=True, metavar="FILE", help="labelled rows")
    parser.add_argument("--length", type=int, default=128, metavar="N")
    parser.add_argument(
        "--reference-rows", type=int, default=128, metavar="N", help="rows for the slow reference kernels"
    )
    record.add_output(parser, "classification")
    return parser.parse_args()


if __name__ == "__main__":
    main()
