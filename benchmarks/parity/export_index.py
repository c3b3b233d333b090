"""Writes golden indexes: files of `kb.TextIndex` and what is found in them, for the clients in other languages to be compared with.

    python -m benchmarks.parity.export_index --out android_demo/testdata/index.json

A list of cases: `file` (a `.kbindex` in base64), `queries` (vectors of the model), and for each query what is `found`: the number of the
row, its score, its text, its document and where it starts. `added` is a text with its vector, and `file_after` the file with it.
"""

import argparse
import base64
import json
import tempfile
from pathlib import Path

import numpy as np

from kerasbert.retrieval.index_file import IndexInfo, write_index
from kerasbert.retrieval.projection import fit_projection, project
from kerasbert.retrieval.rows import Rows, checksum
from kerasbert.retrieval.stored_vectors import BIT, INT8, StoredVectors

MODEL = "0123456789abcdef"
# Rows, numbers of the model's vectors and of the kept ones, and their form.
CASES = ((12, 5, 5, INT8), (40, 16, 16, BIT), (40, 11, 11, BIT), (60, 24, 6, INT8), (9, 8, 3, BIT), (1, 1, 1, INT8))
WORDS = ("parcel", "caf\u00e9", "\u732b", "\U0001f600", "refund", "a b")


def main() -> None:
    """Write the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    arguments = parser.parse_args()
    lines = ",\n".join(json.dumps(case(seed, *each)) for seed, each in enumerate(CASES))
    arguments.out.write_text(f"[\n{lines}\n]\n", "utf-8")


def case(seed: int, count: int, width: int, dimensions: int, form: str) -> dict:
    """Return a case.

    Args:
        seed: Of the random vectors.
        count: Rows.
        width: Numbers of a vector of the model.
        dimensions: Numbers that are kept.
        form: `int8` or `bit`.
    """
    random = np.random.default_rng(seed)
    vectors = np.round(random.normal(size=(count + 1, width)), 3).astype(np.float32)
    vectors[count // 2] = 0
    if count > 4:
        vectors[3] = vectors[1]  # equal scores
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    projection = None if dimensions == width else fit_projection(unit[:count], dimensions)
    texts = [" ".join(random.choice(WORDS, 1 + row % 3).tolist()) + f" {row}" for row in range(count)]
    documents = sorted(int(each) for each in random.integers(0, max(1, count // 2), count))
    documents = np.unique(documents, return_inverse=True)[1].tolist()
    names = [f"notes/{number} \u00e9.txt" for number in range(max(documents) + 1)]
    starts = [int(each) for each in random.integers(0, 10**6, count)]

    def kept(part: np.ndarray) -> StoredVectors:
        return StoredVectors.of(project(part, projection), form)

    rows = Rows.of(kept(vectors[:count]), texts, documents, starts, names, [checksum(name) for name in names])
    added = f"added {WORDS[3]}"
    new = Rows.of(kept(vectors[count:]), [added], [0], [0], [str(len(names))], [checksum(added)])
    info = IndexInfo(MODEL, "search", width, dimensions, form, 126, 8)
    queries = np.round(random.normal(size=(4, width)), 3).astype(np.float32)
    queries[0] = vectors[1 if count > 1 else 0] * 3
    found = [rows.vectors.search(StoredVectors.of(query[None]), 5) for query in project(queries, projection)]
    return {
        "file": _file(info, projection, rows),
        "queries": [[float(f"{value:.3f}") for value in query] for query in queries],
        "found": [
            [[row, score, rows.text(row), rows.names[rows.documents[row]], starts[row]] for row, score in each]
            for each in found
        ],
        "added": [added, [float(f"{value:.3f}") for value in vectors[count]]],
        "file_after": _file(info, projection, Rows.all_of([rows, new])),
    }


def _file(info: IndexInfo, projection: np.ndarray | None, rows: Rows) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.kbindex")
        write_index(path, info, projection, rows)
        return base64.b64encode(path.read_bytes()).decode("ascii")


if __name__ == "__main__":
    main()
