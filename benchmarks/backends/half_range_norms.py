"""Layer norms that stay within the range of 16-bit floats: what they change on a GPU in fp16, and what they cost on a CPU.

    python -m benchmarks.backends.half_range_norms mini-en small-en --texts texts.txt

Measured, with `LoweringOptions.half_range` and without: the cosine of each sentence vector on LiteRT's GPU accelerator with Keras' vector,
in fp16 on lavapipe (files of the target gpu); and the time of a run on one CPU thread (files of the target cpu), two files taking turns.
Needs `kerasbert setup lavapipe`. Models are sentence encoders: names in the zoo, or folders.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.common import record
from benchmarks.common.gpu_vectors import gpu_vectors

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "numpy")
SIDES = {"plain": False, "half_range": True}


def main() -> None:
    """Measure all models and write the result."""
    arguments = _arguments()
    import kerasbert as kb
    from kerasbert.data.plain_text import read_text
    from kerasbert.export.backends.environments.known import LAVAPIPE

    load, texts, models = record.load(), read_text(arguments.texts, max_rows=arguments.rows).x, []
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.models:
            encoder = kb.SentenceEncoder.from_pretrained(name, sequence_length=max(arguments.lengths))
            short = kb.SentenceEncoder.from_pretrained(name, sequence_length=arguments.lengths[0])
            exact = np.asarray(short.predict(texts))
            facts: dict[str, Any] = {"model": Path(name).name, "cosine": {}, "milliseconds": {}}
            for side, is_on in SIDES.items():
                path = _file(encoder, "gpu", arguments.lengths[0], is_on, Path(folder))
                vectors, _ = gpu_vectors(path, texts, "gpu", LAVAPIPE.variables)
                facts["cosine"][side] = record.spread([float(value) for value in _cosines(exact, vectors)])
            for length in arguments.lengths:
                paths = {side: _file(encoder, "cpu", length, is_on, Path(folder)) for side, is_on in SIDES.items()}
                facts["milliseconds"][length] = _times(paths, arguments.rounds)
            models.append(facts)
            print(facts, flush=True)
    result = {"rows": len(texts), "rounds": arguments.rounds, "models": models}
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _file(encoder: Any, target: str, length: int, is_on: bool, folder: Path) -> Path:
    import kerasbert as kb
    from kerasbert.export.lowering.targets import TARGETS

    path, own = folder / f"{target}-{length}-{is_on}.tflite", TARGETS[target]
    with mock.patch.dict(TARGETS, {target: replace(own, fixed=replace(own.fixed, half_range=is_on))}):
        kb.export.convert(encoder, target=target, length=length).save(path)
    return path


def _cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (one * other).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)


def _times(paths: dict[str, Path], rounds: int) -> dict[str, Any]:
    """Milliseconds of a run of each file, and the ratio of the two, round by round."""
    from kerasbert.export.runtime.interpreters import open_model

    models = {side: open_model(path) for side, path in paths.items()}
    seconds: dict[str, list[float]] = {side: [] for side in models}
    ones = {
        side: {name: np.ones((1, model.length), np.int32) for name in model.inputs} for side, model in models.items()
    }
    for _ in range(rounds + 1):
        for side, model in models.items():
            start = time.perf_counter()
            model.run(ones[side])
            seconds[side].append(time.perf_counter() - start)
    seconds = {side: values[1:] for side, values in seconds.items()}  # the first run packs weights
    medians = {side: 1e3 * float(np.median(values)) for side, values in seconds.items()}
    return {**medians, "ratio": record.ratio(seconds["half_range"], seconds["plain"])}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL", help="sentence encoders: names in the zoo, or folders")
    parser.add_argument("--texts", required=True, metavar="FILE", help="sentences, one a line")
    parser.add_argument("--rows", type=int, default=100, metavar="N", help="sentences on the GPU (100)")
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=[32, 128], metavar="N", help="tokens; the GPU runs the first (32 128)"
    )
    parser.add_argument("--rounds", type=int, default=300, metavar="N", help="runs of each file on the CPU (300)")
    record.add_output(parser, "half_range_norms")
    return parser.parse_args()


if __name__ == "__main__":
    main()
