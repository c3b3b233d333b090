"""Mean latency over real texts at their own lengths: a `.tflite` file of several lengths against ONNX Runtime in dynamic int8.

    kerasbert convert TASK_FOLDER --recipe dynamic_wi8_afp32 --length 8,16,24,32,40,48,64 -o task.tflite
    python -m benchmarks.latency.real_lengths TASK_FOLDER --tflite task.tflite --data dev.tsv

Measured: the ratio of mean latencies, and on how many of 64 texts both files agree. Needs the environment of requirements-peers.txt.
TASK_FOLDER is a text classifier with a BERT, saved by `kerasbert train`.

PyTorch's exporters convert it to ONNX with a dynamic length; onnxruntime.quantization.quantize_dynamic makes int8 weights, per tensor and
per channel. Each file takes turns with the `.tflite` file, text by text, in its own process; the fastest counts.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.common import record
from kerasbert.export.measurement.benchmarking import benchmark
from kerasbert.export.runtime.opening import open_pipeline
from kerasbert.export.tflite import metadata

PACKAGES = ("onnxruntime", "onnx", "onnxscript", "torch", "transformers", "ai-edge-litert", "numpy")
EXPORTERS = {"dynamo": (True, 18), "torchscript": (False, 17)}
INPUT_NAMES = ("input_ids", "attention_mask", "token_type_ids")


def main() -> None:
    """Export, measure and write the result."""
    arguments = _arguments()
    from kerasbert.data import read_table

    load, results = record.load(), {}
    table = read_table(arguments.data, text=arguments.text_column, label=arguments.label_column)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        onnx_files = _onnx_files(arguments.task_folder, folder)
        agreement = {
            kind: _count_same_classes(arguments.tflite, path, table.texts[:64]) for kind, path in onnx_files.items()
        }
        for kind, path in onnx_files.items():
            measured = benchmark(
                arguments.tflite, data=table.texts, against=path, runs=arguments.rounds * len(table.texts)
            )
            (comparison,) = measured.comparisons
            results[kind] = {
                **record.file_facts(path), "same_classes_of_64": agreement[kind],
                "ratio_of_means": comparison.against_latency.mean / comparison.latency.mean, "kerasbert": vars(comparison.latency),
                "onnxruntime": vars(comparison.against_latency),
            }  # fmt: skip
            print(f"{kind}: {results[kind]['ratio_of_means']:.3f}", results[kind], flush=True)
    fastest = min(results, key=lambda kind: results[kind]["onnxruntime"]["mean"])
    description = metadata.require(arguments.tflite, "to tell its lengths")
    tokens = [len(ids) for ids in _tokens(arguments.task_folder, table.texts)]
    result = {
        "task_folder": Path(arguments.task_folder).name, "recipe": description.recipe, "lengths": description.lengths, "threads": 1,
        "texts": len(table.texts), "mean_tokens": float(np.mean(tokens)),
        "file": record.file_facts(arguments.tflite), "fastest_onnxruntime_int8": fastest,
        "speedup_over_it": results[fastest]["ratio_of_means"], "against": results,
    }  # fmt: skip
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _tokens(folder: Path, texts: list[str]) -> list:
    from kerasbert.text import tokenizer_from_folder

    return tokenizer_from_folder(folder).encode(texts, max_length=512).input_ids


def _onnx_files(task_folder: Path, folder: Path) -> dict[str, Path]:
    import onnx
    import torch
    import transformers
    from onnxruntime.quantization import QuantType, quantize_dynamic

    class Classifier(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = transformers.AutoModelForSequenceClassification.from_pretrained(
                task_folder, attn_implementation="eager", dtype=torch.float32
            ).eval()

        def forward(self, input_ids, attention_mask, token_type_ids):
            inputs = {"input_ids": input_ids, "attention_mask": attention_mask, "token_type_ids": token_type_ids}
            return self.model(**inputs).logits.softmax(-1)

    example = torch.ones((1, 16), dtype=torch.int64)
    mask = example.clone()
    mask[:, 8:] = 0  # with half of it masked, tracing cannot specialize on inputs without padding
    files = {}
    for exporter, (dynamo, opset) in EXPORTERS.items():
        path = folder / f"{exporter}.onnx"
        options = {
            "input_names": list(INPUT_NAMES),
            "output_names": ["probabilities"],
            "opset_version": opset,
            "dynamo": dynamo,
        }
        if dynamo:
            length = torch.export.Dim("length", min=2, max=512)
            options |= {"external_data": False, "dynamic_shapes": [{1: length}] * 3}
        else:
            options["dynamic_axes"] = {name: {1: "length"} for name in INPUT_NAMES}
        with torch.no_grad():
            torch.onnx.export(Classifier().eval(), (example, mask, torch.zeros_like(example)), str(path), **options)
        model = onnx.load(path)
        # One of the dynamo exporter's shapes contradicts the quantizer's shape inference.
        model.graph.ClearField("value_info")
        onnx.save(model, path)
        for kind, per_channel in (("int8", False), ("int8-per-channel", True)):
            files[f"{kind}-{exporter}"] = folder / f"{kind}-{exporter}.onnx"
            quantize_dynamic(path, files[f"{kind}-{exporter}"], weight_type=QuantType.QInt8, per_channel=per_channel)
    return files


def _count_same_classes(tflite: Path, onnx: Path, texts: list[str]) -> int:
    """Count the texts on which both files choose the same class."""
    import onnxruntime

    predictor = open_pipeline(tflite)
    session = onnxruntime.InferenceSession(str(onnx), providers=["CPUExecutionProvider"])
    labels, same = list(predictor.processor.labels), 0
    encoded = predictor.tokenizer.encode(texts, max_length=predictor.length)
    for answer, ids in zip(predictor.predictions(texts), encoded.input_ids, strict=True):
        row = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": [0] * len(ids)}
        (probabilities,) = session.run(None, {name: np.array([values], np.int64) for name, values in row.items()})
        same += labels[int(np.argmax(probabilities[0]))] == max(
            answer["probabilities"], key=answer["probabilities"].get
        )
    return same


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task_folder", type=Path, help="output of `kerasbert train`")
    parser.add_argument("--data", required=True, metavar="FILE", help="labelled texts")
    parser.add_argument("--text-column", metavar="NAME")
    parser.add_argument("--label-column", metavar="NAME")
    parser.add_argument(
        "--tflite", type=Path, required=True, metavar="FILE", help="the folder's model, converted with several lengths"
    )
    parser.add_argument("--rounds", type=int, default=3, help="passes over the texts")
    record.add_output(parser, "real_lengths")
    return parser.parse_args()


if __name__ == "__main__":
    main()
