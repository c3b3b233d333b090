"""A fine-tuned classifier and its int8 files on labelled rows: accuracy, share of float, agreement, size, partitions, latency.

    python benchmarks/classification.py runs/sst2 runs/sst2-int8 --dev dev.tsv.gz

Both folders come from `kerasbert train` and `kerasbert quantize`; their training records are copied into the result.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import record

PACKAGES = ("tensorflow", "tf-keras", "tensorflow-model-optimization", "ai-edge-litert", "ai-edge-quantizer", "numpy")
ROUNDS = 60


def main() -> None:
    import kerasbert as kb
    from kerasbert.data import read_table
    from kerasbert.export.runtime.interpreters import open_model
    from kerasbert.export.tflite.model_size import model_size

    arguments = _arguments()
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
            few = {name: values[: arguments.reference_rows] for name, values in packed.items()}
            predictions[f"{recipe}_reference_kernels"] = _run(reference, few)
        facts["latency"] = _latency(models, packed)
    results = {name: _compared(output, predictions, truth) for name, output in predictions.items()}
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


def _compared(output: np.ndarray, predictions: dict, truth: np.ndarray) -> dict:
    """Accuracy, its share of the float model's on the same rows, and how often both Keras models choose the same class."""
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
    """Milliseconds a row, one thread, the files in turn within each round."""
    times = {name: [] for name in models}
    for i in range(ROUNDS + 5):
        row = {name: values[i % len(values)][None] for name, values in packed.items()}
        for name, model in models.items():
            start = time.perf_counter()
            model.run(row)
            times[name].append(1e3 * (time.perf_counter() - start))
    kept = {name: values[5:] for name, values in times.items()}
    ratio = record.ratio(kept["static_wi8_ai8"], kept["dynamic_wi8_afp32"])
    return {**{f"{name}_ms": record.spread(v) for name, v in kept.items()}, "static_over_dynamic": ratio}


def _training(folder: str) -> dict | None:
    path = Path(folder) / "training.json"
    if not path.is_file():
        return None
    training = json.loads(path.read_text("utf-8"))
    # Names alone: results say nothing of where a machine keeps its files.
    training["command"] = " ".join(map(record.shortened, training["command"].split()))
    if "model" in training:
        training["model"] = record.shortened(str(training["model"]))
    return training


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("float_folder", help="what `kerasbert train` wrote")
    parser.add_argument("int8_folder", help="what `kerasbert quantize --recipe static_wi8_ai8` made of it")
    parser.add_argument("--dev", required=True, metavar="FILE", help="labelled rows")
    parser.add_argument("--length", type=int, default=128, metavar="N")
    parser.add_argument("--reference-rows", type=int, default=128, metavar="N", help="rows for the slow kernels")
    record.add_output(parser, "classification")
    return parser.parse_args()


if __name__ == "__main__":
    main()
