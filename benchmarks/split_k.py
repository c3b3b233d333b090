"""What a GPU rounds away that accumulates in fp16, with and without split-K.

    python benchmarks/split_k.py --model models/sst-2-1 dev.tsv

A classifier's float32 file of the target gpu is made with split-K of up to 1, 2, 4 and 8 parts and run in 16 bits on lavapipe (`kerasbert
setup lavapipe`), round after round. What counts is the difference of the logits of the first two classes to the Keras model: it is far
from 0 on every row, where probabilities differ on undecided rows only. Seconds are those of a software device, and say little of a phone's.
"""

import argparse
import json
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import record

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "numpy")
PARTS = (1, 2, 4, 8)


def main() -> None:
    arguments = _arguments()
    load = record.load()
    found = [_measured(arguments, folder, Path(data)) for folder, data in arguments.model]
    print(json.dumps(found, indent=2))
    results = {"rows": arguments.rows, "length": arguments.length, "rounds": arguments.rounds, "models": found}
    record.write(arguments.json, results, record.versions(PACKAGES), load)


def _measured(arguments, folder: str, data: Path) -> dict:
    from kerasbert.tasks.auto import load_task

    model = load_task(folder)
    rows = model.pack(model.processor.read(data, max_rows=arguments.rows).x, length=arguments.length)
    expected = next(iter(model.serve_numpy(rows).values()))
    seconds: dict[int, list[float]] = {parts: [] for parts in PARTS}
    found: dict[int, np.ndarray] = {}
    with tempfile.TemporaryDirectory() as work:
        place = Path(work)
        np.savez(place / "rows.npz", **rows)
        files = {parts: _file(model, parts, arguments.length, place) for parts in PARTS}
        for _ in range(arguments.rounds):
            for parts, file in files.items():
                found[parts], times = _run(file, place)
                seconds[parts].append(float(np.median(times)))
        sizes = {parts: file.stat().st_size for parts, file in files.items()}
    whole = _apart(found[1], expected)
    runs = [
        {
            "parts": parts,
            "bytes": sizes[parts],
            "logit_rms": _apart(found[parts], expected),
            "nearer": whole / _apart(found[parts], expected),
            "probability_max": float(np.abs(found[parts] - expected).max()),
            "seconds": record.spread(seconds[parts]),
            "slower": record.ratio(seconds[parts], seconds[1]),
        }
        for parts in PARTS
    ]
    return {"model": Path(folder).name, "runs": runs}


def _file(model, parts: int, length: int, place: Path) -> Path:
    from kerasbert.export import convert
    from kerasbert.export.passes import split_k

    with mock.patch.object(split_k, "PARTS", tuple(each for each in split_k.PARTS if each <= parts)):
        return convert(model, recipe="float32", target="gpu", length=length, split_k=parts > 1).save(
            place / f"{parts}.tflite"
        )


def _run(file: Path, place: Path) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities (rows, classes), and seconds of each row but the first."""
    from kerasbert.export.backends.context import WorkerOutputs
    from kerasbert.export.backends.environments.known import LAVAPIPE
    from kerasbert.export.backends.gpu import SECONDS, WORKER
    from kerasbert.export.backends.subprocesses.process import run_module

    outputs = place / "outputs.npz"
    ended = run_module(WORKER, (file, place / "rows.npz", outputs, "gpu", "device"), SECONDS, LAVAPIPE.variables)
    if not ended.ok:
        raise SystemExit(f"lavapipe: {ended.failure_reason}")
    read = WorkerOutputs.read(outputs)
    return next(iter(read.outputs.values())), read.seconds


def _apart(found: np.ndarray, expected: np.ndarray) -> float:
    """The root of the mean square of how far the logits' differences are apart."""
    theirs, ours = (np.log(each[:, 1]) - np.log(each[:, 0]) for each in (expected, found.astype(np.float64)))
    return float(np.sqrt(np.mean((ours - theirs) ** 2)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--model",
        nargs=2,
        action="append",
        required=True,
        metavar=("FOLDER", "DATA"),
        help="a classifier, and labelled rows of its task",
    )
    parser.add_argument("--rows", type=int, default=48)
    parser.add_argument("--length", type=int, default=32, metavar="TOKENS")
    parser.add_argument("--rounds", type=int, default=3)
    record.add_output(parser, "split_k")
    return parser.parse_args()


if __name__ == "__main__":
    main()
