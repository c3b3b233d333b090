"""What each kind of quantization point costs a classifier, without training: the error of its logits against float.

    python benchmarks/quantization_points.py runs/sst2 --calibration train.tsv.gz --dev dev.tsv.gz

Each line changes one thing of the static policy. Errors of one run wander by a tenth, because rounding in one layer moves values across
the next layer's thresholds; read them as small, middling, large.
"""

import argparse
from dataclasses import replace

import numpy as np
import record

PACKAGES = ("tensorflow", "tf-keras", "tensorflow-model-optimization", "numpy")
POINTS = (
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


def policies(static) -> dict:
    """Name -> policy."""
    nothing = replace(static, kernels=False, tables=False, activations=(), equalized=())
    found = {
        "all": static,
        "all, not equalized": replace(static, equalized=()),
        "all, both feed-forward denses dynamic": replace(
            static, equalized=(), activations=BOTH_FEED_FORWARD_DYNAMIC + static.activations
        ),
        "only kernels": replace(nothing, kernels=True),
        "only the word table": replace(nothing, tables=True),
        "only feed-forward inputs": replace(nothing, activations=(("*.feed_forward.input", "static"),)),
        "only feed-forward inputs, equalized": replace(
            nothing, activations=(("*.feed_forward.input", "static"),), equalized=static.equalized
        ),
    }
    for point in POINTS:
        found[f"all but {point}"] = replace(static, activations=((point, "float"), *static.activations))
    return found


def main() -> None:
    import kerasbert as kb
    from kerasbert.data import read_table

    arguments = _arguments()
    load = record.load()
    task = kb.load_task(arguments.folder)
    dev = read_table(arguments.dev, max_rows=arguments.rows)
    calibration = read_table(arguments.calibration, max_rows=arguments.calibration_rows).texts
    packed = task.pack(dev.texts, dev.pairs)
    truth = _logits(task, packed)
    results = {}
    for name, policy in policies(kb.compression.POLICIES["static_wi8_ai8"]).items():
        logits = _logits(kb.compression.quantize(task, policy, calibration=calibration), packed)
        error = float(np.sqrt(np.mean((logits - truth) ** 2) / np.mean(truth**2)))
        results[name] = {"relative_error": error, "same_class": float((logits.argmax(1) == truth.argmax(1)).mean())}
        print(f"{name:45s} {results[name]}", flush=True)
    result = {"rows": len(truth), "calibration_rows": len(calibration), "results": results}
    record.write(arguments.json, result, record.versions(PACKAGES), load)


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
    record.add_output(parser, "quantization_points")
    return parser.parse_args()


if __name__ == "__main__":
    main()
