"""Semantic search with a file of sentence vectors: recall of int8 vectors and of the int8 file, and queries a second.

    python -m benchmarks.zoo.search search --float mini-en --texts texts.txt

Measured, with 2,000 sentences as queries over 20,000 others: recall@10, the share of the ten nearest sentences by the float model's
vectors that are among the ten nearest by the file's; recall@10 of int8 vectors, the same share for the file's own vectors in float and
in int8; recall@10 of file and int8 vectors, the file's int8 vectors against the float model's; and the time of a query, from text to ten
results, on one thread. MODEL is a name in the zoo or a file. The vectors of the file may be shorter than the float model's. With
`--on gpu` the vectors come from LiteRT's GPU accelerator, and queries are not timed.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.common import record
from benchmarks.common.gpu_vectors import gpu_vectors
from benchmarks.zoo.rows import gpu_backend, make_result

if TYPE_CHECKING:
    from kerasbert.export.runtime.pipeline import Pipeline

TOP = 10
METRICS = {
    "file": f"recall@{TOP}",
    "vectors": f"recall@{TOP} of int8 vectors",
    "both": f"recall@{TOP} of file and int8 vectors",
}
PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "tokenizers", "numpy")
Encode = Callable[[Sequence[str]], np.ndarray]


def main() -> None:
    """Measure, and add the lines to `zoo/results.csv` unless `--dry-run` is given."""
    arguments = _arguments()
    import kerasbert as kb
    from kerasbert.data.plain_text import read_text
    from kerasbert.model_names import shipped_model
    from kerasbert.zoo.results import add_results

    load, texts = record.load(), read_text(arguments.texts, max_rows=arguments.sentences + arguments.queries).x
    queries, corpus = texts[: arguments.queries], texts[arguments.queries :]
    if len(corpus) < arguments.sentences:
        raise SystemExit(f"expected {arguments.sentences + arguments.queries} texts, received {len(texts)}")
    name, path = arguments.named or Path(arguments.model).stem, shipped_model(arguments.model) or Path(arguments.model)
    encode, device = (_encode(kb.open(path, threads=1)), "") if arguments.on == "xnnpack" else _gpu_encode(path, texts)
    encoder = kb.SentenceEncoder.from_pretrained(arguments.float)
    file, model = (_sides(encode, queries, corpus) for encode in (encode, encoder.predict))
    query_vectors, table = (to_int8(vectors) for vectors in file)
    found = _nearest(query_vectors.values, table.values, table.scales)
    recalls = {
        "vectors": _recall(found, _nearest(*file)),
        "file": _recall(_nearest(*file), _nearest(*model)),
        "both": _recall(found, _nearest(*model)),
    }
    seconds = _query_times(encode, queries[:500], table) if arguments.on == "xnnpack" else []
    dimensions = file[0].shape[1]
    shorter = f", {dimensions} dimensions" if dimensions < model[0].shape[1] else ""
    data = f"{len(corpus)} sentences{shorter}"
    backend = gpu_backend(device) if device else arguments.on
    lines = [
        make_result(name, "int8", data, METRICS[what], [value], backend, device=device)
        for what, value in recalls.items()
    ]
    if seconds:
        lines.append(make_result(name, "int8", data, "queries/s", [1 / float(np.median(seconds))], backend))
    lines.append(make_result(name, "int8", f"file{shorter}", "size MB", [path.stat().st_size / 1e6], ""))
    for line in lines:
        print(f"{line.metric}: {line.value:.4f}")
    if not arguments.dry_run:
        add_results(lines)
    result = {
        "model": name, "float": Path(arguments.float).name, "sentences": len(corpus), "queries": len(queries), "recall": recalls,
        "dimensions": int(dimensions), "backend": arguments.on, "device": device,
        "query_seconds": record.spread(seconds) if seconds else None,
    }  # fmt: skip
    record.write(arguments.json, result, record.versions(PACKAGES), load)


class Int8Vectors(NamedTuple):
    """Vectors of one byte a number.

    Attributes:
        values: int8, `(texts, dimensions)`: 127 stands for the largest number of each vector.
        scales: float32, `(texts, 1)`: what each vector's numbers are multiplied by.
    """

    values: np.ndarray
    scales: np.ndarray


def to_int8(vectors: np.ndarray) -> Int8Vectors:
    """Return unit vectors in int8, each with a scale of its own.

    Args:
        vectors: `(texts, dimensions)`.
    """
    scales = np.abs(vectors).max(axis=1, keepdims=True) / 127
    return Int8Vectors(np.rint(vectors / scales).astype(np.int8), scales.astype(np.float32))


def _encode(opened: "Pipeline") -> Encode:
    return lambda texts: np.asarray(opened(list(texts)))


def _gpu_encode(path: Path, texts: list[str]) -> tuple[Encode, str]:
    """Encode all texts on a GPU at once: a function that looks the vectors up, and the name of the device."""
    distinct = list(dict.fromkeys(texts))
    vectors, device = gpu_vectors(path, distinct, "gpu+cpu")
    places = {text: place for place, text in enumerate(distinct)}
    return lambda wanted: vectors[[places[text] for text in wanted]], device


def _sides(encode: Encode, queries: list[str], corpus: list[str]) -> tuple[np.ndarray, np.ndarray]:
    return encode(queries), encode(corpus)


def _nearest(queries: np.ndarray, corpus: np.ndarray, scales: np.ndarray | float = 1.0) -> np.ndarray:
    """The indices of the `TOP` nearest sentences of each query, unordered. A query's own scale does not change their order."""
    kind = np.float32 if queries.dtype == np.int8 else queries.dtype
    table = corpus.astype(kind).T * np.transpose(scales)
    parts = np.array_split(queries, max(len(queries) // 250, 1))
    return np.concatenate([np.argpartition(-(rows.astype(kind) @ table), TOP, axis=1)[:, :TOP] for rows in parts])


def _recall(found: np.ndarray, truth: np.ndarray) -> float:
    return float(np.mean([len(set(a) & set(b)) / TOP for a, b in zip(found, truth, strict=True)]))


def _query_times(encode: Encode, queries: list[str], corpus: Int8Vectors) -> list[float]:
    table, seconds = corpus.values.astype(np.float32) * corpus.scales, []
    for query in queries:
        start = time.perf_counter()
        scores = table @ to_int8(encode([query])).values[0].astype(np.float32)
        best = np.argpartition(-scores, TOP)[:TOP]
        best[np.argsort(-scores[best])]
        seconds.append(time.perf_counter() - start)
    return seconds


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL", help="a name in the zoo, or a .tflite file of sentence vectors")
    parser.add_argument("--float", required=True, metavar="MODEL", help="the float encoder that the file was made from")
    parser.add_argument("--texts", required=True, metavar="FILE", help="sentences, one a line")
    parser.add_argument("--named", metavar="NAME", help="name in the results (that of MODEL)")
    parser.add_argument(
        "--on", choices=("xnnpack", "gpu"), default="xnnpack", help="what computes the vectors (xnnpack)"
    )
    parser.add_argument("--sentences", type=int, default=20_000, metavar="N", help="sentences to search in (20,000)")
    parser.add_argument("--queries", type=int, default=2_000, metavar="N", help="queries (2,000)")
    parser.add_argument("--dry-run", action="store_true", help="leave zoo/results.csv as it is")
    record.add_output(parser, "zoo_search")
    return parser.parse_args()


if __name__ == "__main__":
    main()
