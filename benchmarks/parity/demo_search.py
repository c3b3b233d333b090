r"""Sentences that a demo's search finds, against the same 8-bit index in NumPy and against exact search in float.

    python -m benchmarks.parity.demo_search --client node --texts tatoeba.txt.gz wiki-split.txt.gz

Clients are those of `parity.demo_predictions`. Python encodes the sentences and the queries with the same file. `same_as_int8` counts the
queries whose results are equal in order, number and score, `same_sentences` those with the same ten sentences in any order. `margin` is the
largest difference of a score from Python's of the same sentence, and of the worst sentence that was found from the worst that should have
been. `overlap_with_float` is the mean share of the ten best by float vectors that the 8-bit index finds.

The vectors of LiteRT.js differ from Python's where its kernels round differently. `own_vectors` is the same comparison with NumPy's search
among the vectors that the client itself predicts, for clients that are command lines. Times are medians over the queries.
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
from benchmarks.parity import demos

PACKAGES = ("ai-edge-litert", "numpy", "tokenizers")
_INDEXED = re.compile(r"indexed (\d+) texts in ([\d.]+) s; their vectors take (\d+) bytes")
_ANSWERED = re.compile(r"queries: ([\d.]+) ms for a vector, ([\d.]+) ms for its search")


def main() -> None:
    """Search on both sides, compare, and write the result."""
    arguments = _arguments()
    load = record.load()
    texts, queries = _sentences(arguments.texts, arguments.sentences, arguments.queries)
    found, facts = _search(arguments.client, arguments.model, texts, queries)
    model = kb.open(arguments.model)
    result = {
        "client": arguments.client,
        "file": record.file_facts(arguments.model),
        "sentences": len(texts),
        "queries": len(queries),
        **compare(found, model(texts), model(queries)),
        "own_vectors": _compare_with_own_vectors(arguments.client, arguments.model, found, texts, queries),
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


def compare(found: list[dict], vectors: np.ndarray, query_vectors: np.ndarray) -> dict[str, float]:
    """Count the queries with equal results, and measure what differs."""
    (values, scales), (query_values, query_scales) = quantized(vectors), quantized(query_vectors)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    same, same_sentences, margin, overlaps = 0, 0, 0.0, []
    for number, record_of_query in enumerate(found):
        indices = [each["index"] for each in record_of_query["results"]]
        received = np.array([each["score"] for each in record_of_query["results"]], np.float32)
        top = len(indices)
        # Whole numbers: float64 holds every product of 8-bit vectors exactly.
        products = values.astype(np.float64) @ query_values[number].astype(np.float64)
        scores = products * scales.astype(np.float64)
        best = np.argsort(-scores, kind="stable")[:top]
        cosines = (scores * np.float64(query_scales[number])).astype(np.float32)
        same += indices == best.tolist() and np.array_equal(received, cosines[best])
        same_sentences += set(indices) == set(best.tolist())
        margin = max(
            margin, float(np.abs(received - cosines[indices]).max()), float(cosines[best[-1]] - cosines[indices].min())
        )
        exact = np.argsort(-(unit @ query_vectors[number]), kind="stable")[:top]
        overlaps.append(len(set(indices) & set(exact.tolist())) / top)
    return {
        "same_as_int8": same,
        "same_sentences": same_sentences,
        "margin": margin,
        "overlap_with_float": float(np.mean(overlaps)),
    }


def _compare_with_own_vectors(
    client: str, model: Path, found: list[dict], texts: list[str], queries: list[str]
) -> dict[str, float] | None:
    """Compare with NumPy's search among the vectors of the client; None for one that is a browser."""
    if client not in demos.COMMAND_LINES:
        return None
    records, _ = demos.run(client, "predict", model, lines=[*texts, *queries])
    vectors = np.array([each["vector"] for each in records], np.float32)
    return compare(found, vectors[: len(texts)], vectors[len(texts) :])


def _search(client: str, model: Path, texts: list[str], queries: list[str]) -> tuple[list[dict], dict]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "texts.txt"
        file.write_text("".join(f"{text}\n" for text in texts), "utf-8")
        found, notes = demos.run(client, "search", model, file, lines=queries)
    indexed = _INDEXED.search(notes)
    if indexed is None or len(found) != len(queries):
        raise SystemExit(f"expected results of {len(queries)} queries, received {len(found)}: {notes}")
    count, seconds, size = indexed.groups()
    if int(count) != len(texts):
        raise SystemExit(f"expected an index of {len(texts)} texts, received one of {count}")
    facts = {
        "runs_on": demos.runtime_of(client, notes),
        "build_seconds": float(seconds),
        "vector_bytes": int(size),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024),
    }
    if answered := _ANSWERED.search(notes):
        names = ("milliseconds_for_a_vector", "milliseconds_for_a_search")
        facts |= dict(zip(names, map(float, answered.groups()), strict=True))
    return found, facts


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
    demos.add_client(parser)
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
