"""Time of a training step with fake quantization, as a multiple of a float step on the same batches.

    python -m benchmarks.training.quantized_steps MODEL --train train.tsv

Measured: seconds per step of a float model and of its static, integer-only and dynamic quantization-aware variants. MODEL is a saved float
model.

Every variant trains on the same rows, batched by length as in `fit`. The variants take turns, a few batches each, so a change of the
machine's speed affects all of them.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks.common import record

PACKAGES = ("tensorflow", "tf-keras", "tensorflow-model-optimization", "numpy")


def main() -> None:
    """Time all variants and write the result."""
    arguments = _arguments()
    import kerasbert as kb

    kb.keep_memory()  # like the command line, before TensorFlow starts
    import tf_keras as keras

    load = record.load()
    task = kb.load_task(arguments.model)
    table = task.processor.read(arguments.train, max_rows=arguments.batches * arguments.batch_size)
    quantized = {
        "static": ("static_wi8_ai8", False),
        "integer_only": ("static_wi8_ai8", True),
        "dynamic": ("dynamic_wi8_afp32", False),
    }
    tasks = {"float": task}
    for name, (recipe, integer_only) in quantized.items():
        tasks[name] = kb.compression.quantize(
            task, recipe, calibration=table.x[:128], integer_only=integer_only, dropout=None
        )
    for variant in tasks.values():
        keras.utils.set_random_seed(1)
        variant.compile(kb.adamw(2e-5, steps=10_000))
    batches = list(task.dataset(table.x, table.y, arguments.batch_size))
    for variant in tasks.values():  # traces every length
        _seconds(variant, batches)
    seconds = {name: [] for name in tasks}
    for turn in range(arguments.rounds):
        order = list(tasks)[turn % len(tasks) :] + list(tasks)[: turn % len(tasks)]
        for name in order:
            seconds[name].append(_seconds(tasks[name], batches) / len(batches))
    result = {
        "model": task.config.model_type, "batch_size": arguments.batch_size, "batches_a_round": len(batches),
        "tokens_a_row": float(np.mean([batch[0]["input_ids"].shape[1] for batch in batches])),
        "seconds_a_step": {name: record.spread(values) for name, values in seconds.items()},
        "ratio_to_float": {name: record.ratio(values, seconds["float"]) for name, values in seconds.items() if name != "float"},
    }  # fmt: skip
    for name, ratio in result["ratio_to_float"].items():
        print(f"{name}: a step takes {ratio['of_medians']:.2f} times as long as a float step")
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _seconds(task, batches: list) -> float:
    start = time.perf_counter()
    for inputs, labels, *weights in batches:
        task.train_on_batch(inputs, labels, *weights)
    return time.perf_counter() - start


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a saved float model")
    parser.add_argument("--train", type=Path, required=True, metavar="FILE")
    parser.add_argument("--batch-size", type=int, default=32, metavar="N")
    parser.add_argument("--batches", type=int, default=16, metavar="N", help="batches of a round")
    parser.add_argument("--rounds", type=int, default=7, metavar="N")
    record.add_output(parser, "quantized_steps")
    return parser.parse_args()


if __name__ == "__main__":
    main()
