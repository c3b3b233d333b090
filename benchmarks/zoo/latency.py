"""Latency of int8 files of encoders and of the zoo's task files, all models in one run; and sizes of the encoders' files.

    python -m benchmarks.zoo.latency mini-en small-en intents --beside all-MiniLM-L6-v2 --calibration texts.txt

Measured: bytes of each encoder's static int8 file of sentence vectors, and the median time for one full row of 32 and of 128 tokens on one
thread.
The models alternate in every round. The last model named is the reference of the ratios. Absolute times need an idle machine.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.common import record
from benchmarks.zoo.rows import add_models, int8_file, make_result, model_names
from kerasbert.model_names import shipped_model

LENGTHS = (32, 128)
PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "numpy")


def main() -> None:
    """Measure, print the ratios, and add the lines to `zoo/results.csv` unless `--dry-run` is given."""
    arguments = _arguments()
    import kerasbert as kb
    from kerasbert.data.plain_text import read_text
    from kerasbert.export.runtime.interpreters import open_model
    from kerasbert.ids import INPUT_NAMES
    from kerasbert.zoo.results import add_results

    load, texts = record.load(), read_text(arguments.calibration, max_rows=arguments.rows).x
    names, sizes, seconds, lines = [Path(model).name for model in model_names(arguments)], {}, {}, []
    with tempfile.TemporaryDirectory() as folder:
        for length in LENGTHS:
            opened = {}
            for model, name in zip(model_names(arguments), names, strict=True):
                path = _task_file(model)
                if path is None:
                    path = Path(folder) / f"{name}-{length}.tflite"
                    task = kb.SentenceEncoder.from_pretrained(model, sequence_length=length)
                    int8_file(task, texts).save(path)
                    sizes[name] = path.stat().st_size
                opened[name] = open_model(path, length=length)
            inputs = {name: np.ones((1, length), np.int32) for name in INPUT_NAMES}
            times: dict[str, list[float]] = {name: [] for name in names}
            for _ in range(arguments.rounds):
                for name, file in opened.items():
                    start = time.perf_counter()
                    file.run(inputs)
                    times[name].append(time.perf_counter() - start)
            seconds[length] = {name: times[name][arguments.rounds // 10 :] for name in names}
            for name in names:
                median = float(np.median(seconds[length][name])) * 1e3
                lines.append(make_result(name, "int8", f"{length} tokens, 1 thread", "latency ms", [median], "xnnpack"))
                ratio = record.ratio(seconds[length][names[-1]], seconds[length][name])["of_medians"]
                if name != names[-1]:
                    data = f"{length} tokens, 1 thread"
                    lines.append(make_result(name, "int8", data, f"speed, {names[-1]} = 1", [ratio], "xnnpack"))
                print(f"{name}, {length} tokens: {median:.3f} ms, {ratio:.2f} x {names[-1]}", flush=True)
    lines += [
        make_result(name, "int8", f"{LENGTHS[-1]} tokens", "size MB", [size / 1e6], "") for name, size in sizes.items()
    ]
    if not arguments.dry_run:
        add_results(lines)
    summary = {
        str(length): {
            name: {
                "milliseconds": record.spread([1e3 * value for value in seconds[length][name]]),
                "speed": record.ratio(seconds[length][names[-1]], seconds[length][name]),
            }
            for name in names
        }
        for length in LENGTHS
    }
    result = {"reference": names[-1], "bytes": sizes, "rounds": arguments.rounds, "lengths": summary}
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _task_file(model: str) -> Path | None:
    """The file of a model of the zoo for one task; None for an encoder."""
    path = shipped_model(model)
    return path if path is not None and path.is_file() else None


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_models(parser)
    parser.add_argument("--calibration", required=True, metavar="FILE", help="texts for the int8 ranges, one a line")
    parser.add_argument("--rows", type=int, default=200, metavar="N", help="number of calibration texts (200)")
    parser.add_argument("--rounds", type=int, default=300, metavar="N", help="runs of each model (300)")
    parser.add_argument("--dry-run", action="store_true", help="leave zoo/results.csv as it is")
    record.add_output(parser, "zoo_latency")
    return parser.parse_args()


if __name__ == "__main__":
    main()
