"""Writes golden layers: what `kerasbert.few_shot.choice.choose` makes of vectors, for the clients in other languages to be compared with.

    python -m benchmarks.parity.export_layers --out android_demo/testdata/layers.json

A list of cases: `vectors` (of any length), `classes` and `count`; and of the layer `method`, `accuracy` by method, and the
`probabilities` of the vectors.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from kerasbert.few_shot.choice import choose
from kerasbert.processors.few_shot import METHODS

# Rows, classes, numbers of a vector, and the spread of a class: from one row of each class to more than 1,000.
CASES = (
    (2, 2, 3, 0.5),
    (6, 3, 4, 0.5),
    (7, 3, 4, 1.5),
    (24, 4, 6, 1.2),
    (40, 2, 5, 2.0),
    (60, 5, 8, 1.0),
    (1010, 2, 2, 1.5),
)


def main() -> None:
    """Write the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    arguments = parser.parse_args()
    lines = ",\n".join(json.dumps(_case(seed, *case)) for seed, case in enumerate(CASES))
    arguments.out.write_text(f"[\n{lines}\n]\n", "utf-8")


def _case(seed: int, rows: int, count: int, width: int, spread: float) -> dict:
    random = np.random.default_rng(seed)
    classes = np.arange(rows) % count
    vectors = (
        random.normal(0, 1, (count, width))[classes] + 0.5 + random.normal(0, spread, (rows, width)) / np.sqrt(width)
    )
    vectors = np.round(vectors, 3).astype(np.float32)
    unit = (vectors / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)).astype(np.float32)
    chosen = choose(METHODS, unit, classes, count)
    shown = slice(0, 12)
    return {
        "vectors": [[float(f"{value:.3f}") for value in row] for row in vectors], "classes": classes.tolist(), "count": count,
        "method": chosen.method, "accuracy": dict(chosen.accuracy),
        "probabilities": [[round(float(value), 7) for value in row] for row in chosen.linear.probabilities(vectors[shown])],
    }  # fmt: skip


if __name__ == "__main__":
    main()
