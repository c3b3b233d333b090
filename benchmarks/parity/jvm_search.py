r"""Sentences that `android_demo/run search` finds, against the same 8-bit index in NumPy and against exact search in float.

    python -m benchmarks.parity.jvm_search --texts tatoeba.txt.gz wiki-split.txt.gz

Python encodes the sentences and the queries with the same file. `same_as_int8` counts the queries whose results are equal in order, number
and score; `overlap_with_float` is the mean share of the ten best by float vectors that the 8-bit index finds.
"""

import argparse
import gzip
import random
import re
import resource
import tempfile
from pathlib import Path

import numpy as np

import kerasbert as kb
from benchmarks.common import record
from benchmarks.parity import android_demo

PACKAGES = ("ai-edge-litert", "numpy", "tokenizers")
_NOTE = re.compile(r"indexed ([\d,]+) texts in ([\d.]+) s; their vectors take ([\d,]+) bytes")


def main() -> None:
    """Search on both sides, compare, and write the result."""
    arguments = _arguments()
    load = record.load()
    texts, queries = _sentences(arguments.texts, arguments.sentences, arguments.queries)
    found, facts = _search_on_jvm(arguments.model, texts, queries)
    model = kb.open(arguments.model)
    vectors, query_vectors = model(texts), model(queries)
    same, overlap = _compare(found, vectors, query_vectors)
    result = {
        "file": record.file_facts(arguments.model),
        "sentences": len(texts),
        "queries": len(queries),
        "same_as_int8": same,
        "overlap_with_float": overlap,
        **facts,
    }
    print(result, flush=True)
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def quantized(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Quantize vectors as `kerasbert.core.search.VectorIndex`.

    Returns:
        int8 numbers `(n, dimensions)`, and the float32 scale of each vector of norm 1 `(n,)`.
    """
    wide = vectors.astype(np.float64)
    step = np.abs(wide).max(axis=1) / 127
    norms = np.sqrt((wide**2).sum(axis=1))
    safe = np.where(step == 0, 1.0, step)
    scales = np.where(step == 0, 0.0, step / np.where(norms == 0, 1.0, norms))
    return np.rint(wide / safe[:, None]).astype(np.int8), scales.astype(np.float32)


def _compare(found: list[dict], vectors: np.ndarray, query_vectors: np.ndarray) -> tuple[int, float]:
    """Return the queries with equal results, and the mean overlap with the ten best by float vectors."""
    (values, scales), (query_values, query_scales) = quantized(vectors), quantized(query_vectors)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    same, overlaps = 0, []
    for number, record_of_query in enumerate(found):
        results = record_of_query["results"]
        top = len(results)
        # Whole numbers: float64 holds every product of 8-bit vectors exactly.
        products = values.astype(np.float64) @ query_values[number].astype(np.float64)
        scores = products * scales.astype(np.float64)
        best = np.argsort(-scores, kind="stable")[:top]
        cosines = (scores[best] * np.float64(query_scales[number])).astype(np.float32)
        same += [each["index"] for each in results] == best.tolist() and np.array_equal(
            np.array([each["score"] for each in results], np.float32), cosines
        )
        exact = np.argsort(-(unit @ query_vectors[number]), kind="stable")[:top]
        overlaps.append(len({each["index"] for each in results} & set(exact.tolist())) / top)
    return same, float(np.mean(overlaps))


def _search_on_jvm(model: Path, texts: list[str], queries: list[str]) -> tuple[list[dict], dict]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "texts.txt"
        file.write_text("".join(f"{text}\n" for text in texts), "utf-8")
        found, errors = android_demo.run("search", model, file, lines=queries)
    note = _NOTE.search(errors)
    if note is None or len(found) != len(queries):
        raise SystemExit(f"expected results of {len(queries)} queries, received {len(found)}: {errors}")
    indexed, seconds, size = (float(group.replace(",", "")) for group in note.groups())
    if indexed != len(texts):
        raise SystemExit(f"expected an index of {len(texts)} texts, received one of {indexed:.0f}")
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return found, {"build_seconds": seconds, "vector_bytes": int(size), "peak_memory_mb": round(most)}


def _sentences(paths: list[Path], sentences: int, queries: int) -> tuple[list[str], list[str]]:
    """Return distinct sentences, and other ones as queries, in an order that is the same every time."""
    lines: dict[str, None] = {}
    for path in paths:
        opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8")
        with opened as file:
            lines.update(dict.fromkeys(filter(None, (line.strip() for line in file))))
    chosen = random.Random(7).sample(list(lines), sentences + queries)
    return chosen[:sentences], chosen[sentences:]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--model", type=Path, default=record.ROOT / "zoo" / "files" / "search.tflite", metavar="TFLITE",
        help="a sentence encoder (zoo/files/search.tflite)",
    )  # fmt: skip
    parser.add_argument(
        "--texts", type=Path, nargs="+", required=True, metavar="FILE", help="texts, one per line; .gz or not"
    )
    parser.add_argument("--sentences", type=int, default=20_000, help="sentences in the index")
    parser.add_argument("--queries", type=int, default=2000, help="queries")
    record.add_output(parser, "jvm_search")
    return parser.parse_args()


if __name__ == "__main__":
    main()
