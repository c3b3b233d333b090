"""Rounding error of a GPU that accumulates in fp16, with and without split-K.

    python -m benchmarks.backends.split_k --model models/sst-2-1 dev.tsv

Measured: the RMS error of the logit difference of the first two classes against the Keras model, and seconds. Logits show errors on every
row; probabilities only on undecided ones. Needs `kerasbert setup lavapipe`.

A classifier's float32 file of target gpu is made with a split-K factor of up to 1, 2, 4 and 8, and runs in 16 bits on lavapipe. The files
take turns. Times of a software device do not predict a phone's.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.common import record

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "numpy")
PARTS = (1, 2, 4, 8)


def main() -> None:
    """Measure all models and write the result."""
    arguments = _arguments()
    load = record.load()
    models = [_measure(arguments, folder, Path(data)) for folder, data in arguments.model]
    print(json.dumps(models, indent=2))
    results = {"rows": arguments.rows, "length": arguments.length, "rounds": arguments.rounds, "models": models}
    record.write(arguments.json, results, record.versions(PACKAGES), load)


def _measure(arguments: argparse.Namespace, folder: str, data: Path) -> dict:
    from kerasbert.tasks.auto import load_task

    model = load_task(folder)
    rows = model.pack(model.processor.read(data, max_rows=arguments.rows).x, length=arguments.length)
    expected = next(iter(model.serve_numpy(rows).values()))
    seconds: dict[int, list[float]] = {parts: [] for parts in PARTS}
    outputs: dict[int, np.ndarray] = {}
    with tempfile.TemporaryDirectory() as work:
        workspace = Path(work)
        np.savez(workspace / "rows.npz", **rows)
        files = {parts: _convert(model, parts, arguments.length, workspace) for parts in PARTS}
        for _ in range(arguments.rounds):
            for parts, file in files.items():
                outputs[parts], times = _run(file, workspace)
                seconds[parts].append(float(np.median(times)))
        sizes = {parts: file.stat().st_size for parts, file in files.items()}
    error_without_split = _logit_rms(outputs[1], expected)
    runs = [
        {
            "parts": parts,
            "bytes": sizes[parts],
            "logit_rms": _logit_rms(outputs[parts], expected),
            "nearer": error_without_split / _logit_rms(outputs[parts], expected),
            "probability_max": float(np.abs(outputs[parts] - expected).max()),
            "seconds": record.spread(seconds[parts]),
            "slower": record.ratio(seconds[parts], seconds[1]),
        }
        for parts in PARTS
    ]
    return {"model": Path(folder).name, "runs": runs}


def _convert(model: Any, parts: int, length: int, workspace: Path) -> Path:
    from kerasbert.export import convert
    from kerasbert.export.passes import split_k

    with mock.patch.object(split_k, "PARTS", tuple(factor for factor in split_k.PARTS if factor <= parts)):
        return convert(model, recipe="float32", target="gpu", length=length, split_k=parts > 1).save(
            workspace / f"{parts}.tflite"
        )


def _run(file: Path, workspace: Path) -> tuple[np.ndarray, np.ndarray]:
    """Run a file on lavapipe; returns probabilities, (rows, classes), and seconds of each row but the first."""
    from kerasbert.export.backends.environments.known import LAVAPIPE
    from kerasbert.export.backends.gpu import SECONDS, WORKER
    from kerasbert.export.runtime.process import run_module
    from kerasbert.export.validation.context import read_outputs

    output_file = workspace / "outputs.npz"
    result = run_module(
        WORKER, (file, workspace / "rows.npz", output_file, "gpu", "device"), SECONDS, LAVAPIPE.variables
    )
    if not result.ok:
        raise SystemExit(f"expected outputs of lavapipe, received {result.failure_reason}")
    outputs, seconds, _ = read_outputs(output_file)
    return next(iter(outputs.values())), seconds


def _logit_rms(outputs: np.ndarray, expected: np.ndarray) -> float:
    """Compute the RMS error of the logit difference of the first two classes."""
    reference, measured = (np.log(side[:, 1]) - np.log(side[:, 0]) for side in (expected, outputs.astype(np.float64)))
    return float(np.sqrt(np.mean((measured - reference) ** 2)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--model",
        nargs=2,
        action="append",
        required=True,
        metavar=("FOLDER", "DATA"),
        help="a classifier and labelled rows",
    )
    parser.add_argument("--rows", type=int, default=48)
    parser.add_argument("--length", type=int, default=32, metavar="TOKENS")
    parser.add_argument("--rounds", type=int, default=3)
    record.add_output(parser, "split_k")
    return parser.parse_args()


if __name__ == "__main__":
    main()
