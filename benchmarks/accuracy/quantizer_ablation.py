"""Logit error of each kind of quantizer in a classifier, against float and without training.

    python -m benchmarks.accuracy.quantizer_ablation runs/sst2 --calibration train.tsv.gz --dev dev.tsv.gz

Measured: the relative error of the logits and the agreement of the classes, for variants of the static policy that change one thing each.

Errors vary by about a tenth between runs, because a rounding in one layer can move values across quantization thresholds of the next.
Compare orders of magnitude only.
"""

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.common import record

if TYPE_CHECKING:
    from kerasbert.layers.quantization.policy import QuantizationPolicy

PACKAGES = ("tensorflow", "tf-keras", "tensorflow-model-optimization", "numpy")
QUANTIZERS = (
    "*.attention.input",
    "*.attention.query.output",
    "*.attention.key.output",
    "*.attention.value.output",
    "*.attention.context",
    "*.attention.output_dense.output",
    "*.feed_forward.input",
    "*.feed_forward.intermediate.output",
    "*.feed_forward.hidden",
    "pooler*",
)
BOTH_FEED_FORWARD_DYNAMIC = (("*.feed_forward.input", "dynamic"), ("*.feed_forward.intermediate.output", "float"))


def policies(static: "QuantizationPolicy") -> dict[str, "QuantizationPolicy"]:
    """Derive the variants of the static policy, by name; the names are keys of the result."""
    empty = replace(static, kernels=False, tables=False, activations=(), equalized=())
    variants = {
        "all": static,
        "all, not equalized": replace(static, equalized=()),
        "all, both feed-forward denses dynamic": replace(
            static, equalized=(), activations=BOTH_FEED_FORWARD_DYNAMIC + static.activations
        ),
        "only kernels": replace(empty, kernels=True),
        "only the word table": replace(empty, tables=True),
        "only feed-forward inputs": replace(empty, activations=(("*.feed_forward.input", "static"),)),
        "only feed-forward inputs, equalized": replace(
            empty, activations=(("*.feed_forward.input", "static"),), equalized=static.equalized
        ),
    }
    for pattern in QUANTIZERS:
        variants[f"all but {pattern}"] = replace(static, activations=((pattern, "float"), *static.activations))
    return variants


def main() -> None:
    """Quantize by each policy, measure and write the result."""
    arguments = _arguments()
    import kerasbert as kb
    from kerasbert.data import read_table

    load = record.load()
    task = kb.load_task(arguments.folder)
    dev = read_table(arguments.dev, max_rows=arguments.rows)
    calibration = read_table(arguments.calibration, max_rows=arguments.calibration_rows).texts
    packed = task.pack(dev.texts, dev.pairs)
    truth = _logits(task, packed)
    results = {}
    for name, policy in policies(kb.compression.POLICIES["static_wi8_ai8"]).items():
        logits = _logits(_quantized(task, policy, calibration), packed)
        error = float(np.sqrt(np.mean((logits - truth) ** 2) / np.mean(truth**2)))
        results[name] = {"relative_error": error, "same_class": float((logits.argmax(1) == truth.argmax(1)).mean())}
        print(f"{name:45s} {results[name]}", flush=True)
    result = {"rows": len(truth), "calibration_rows": len(calibration), "results": results}
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _quantized(task, policy: "QuantizationPolicy", calibration: list[str]):
    """Quantize without the checks of `quantize`: some variants have a static range on one side of a Dense layer only."""
    from kerasbert.compression import calibrate
    from kerasbert.layers.quantization.activation_quantizers import activation_quantizers

    quantized = task.with_policy(policy, dropout=0.0)
    if any(quantizer.kind == "static" for quantizer in activation_quantizers(quantized)):
        calibrate(quantized, calibration, rows=None)
    return quantized


def _logits(task, packed: dict, batch: int = 64) -> np.ndarray:
    import tensorflow as tf

    call = tf.function(lambda inputs: task(inputs, training=False))
    rows = len(packed["input_ids"])
    parts = [{name: values[i : i + batch] for name, values in packed.items()} for i in range(0, rows, batch)]
    return np.concatenate([call(part).numpy() for part in parts])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="a trained float classifier")
    parser.add_argument("--calibration", required=True, metavar="FILE")
    parser.add_argument("--dev", required=True, metavar="FILE")
    parser.add_argument("--rows", type=int, default=256, metavar="N")
    parser.add_argument("--calibration-rows", type=int, default=256, metavar="N")
    record.add_output(parser, "quantizer_ablation")
    return parser.parse_args()


if __name__ == "__main__":
    main()
