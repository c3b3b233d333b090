"""An engine of `benchmarks.latency.tokenization`: a process that tokenizes all texts on each message and answers with its time."""

import argparse
import gzip
import hashlib
import os
import time
from collections.abc import Callable

import numpy as np

from benchmarks.common.interleaved import Parent

_BATCH_SIZE = 1024  # of the tf.data pipeline


def main() -> None:
    """Tokenize all texts once per message of the parent."""
    arguments = _arguments()
    parent = Parent()
    if arguments.threads == "one":
        os.environ["RAYON_NUM_THREADS"] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false" if arguments.threads == "one" else "true"
    texts, vocabulary = _texts(arguments.data, arguments.column), _lines(arguments.vocabulary)
    engines = {"kerasbert": _kerasbert, "tokenizers": _tokenizers, "tokenizers-fast": _tokenizers, "graph": _graph}
    tokenize = engines[arguments.engine](vocabulary, arguments)
    parent.send(texts=len(texts), digest=_digest(tokenize(texts)))
    while parent.receive() is not None:
        start, processor = time.perf_counter(), time.process_time()
        tokenize(texts)
        parent.send(seconds=time.perf_counter() - start, processor_seconds=time.process_time() - processor)


def _kerasbert(vocabulary: list[str], arguments: argparse.Namespace) -> Callable:
    from kerasbert.text import WordPiece, pack

    tokenizer = WordPiece(vocabulary, lowercase=not arguments.cased)
    length, pad_id = arguments.length, tokenizer.pad_id
    return lambda texts: pack(tokenizer.encode(texts, max_length=length), length=length, pad_id=pad_id)


def _tokenizers(vocabulary: list[str], arguments: argparse.Namespace) -> Callable:
    from tokenizers.implementations import BertWordPieceTokenizer

    ids = {token: number for number, token in enumerate(vocabulary)}
    engine = BertWordPieceTokenizer(ids, lowercase=not arguments.cased)
    engine.enable_truncation(arguments.length)
    engine.enable_padding(length=arguments.length, pad_id=ids["[PAD]"])

    # Only the wrapped tokenizer has encode_batch_fast.
    encode = engine.encode_batch if arguments.engine == "tokenizers" else engine._tokenizer.encode_batch_fast

    def tokenize(texts: list[str]) -> dict[str, np.ndarray]:
        rows = encode(texts)
        return {
            "input_ids": np.array([row.ids for row in rows], np.int32),
            "attention_mask": np.array([row.attention_mask for row in rows], np.int32),
            "token_type_ids": np.array([row.type_ids for row in rows], np.int32),
        }

    return tokenize


def _graph(vocabulary: list[str], arguments: argparse.Namespace) -> Callable:
    import tensorflow as tf

    from kerasbert.text import WordPiece
    from kerasbert.text.in_graph import GraphWordPiece

    workers = 1 if arguments.threads == "one" else os.cpu_count()
    tf.config.threading.set_intra_op_parallelism_threads(workers)
    tf.config.threading.set_inter_op_parallelism_threads(workers)
    layer = GraphWordPiece(WordPiece(vocabulary, lowercase=not arguments.cased), arguments.length)

    def tokenize(texts: list[str]) -> dict[str, np.ndarray]:
        options = tf.data.Options()
        options.threading.private_threadpool_size = workers
        rows = tf.data.Dataset.from_tensor_slices(texts).batch(_BATCH_SIZE)
        rows = rows.map(layer, num_parallel_calls=workers).with_options(options)
        batches = list(rows.as_numpy_iterator())
        return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}

    return tokenize


def _texts(path: str, column: str) -> list[str]:
    header, *rows = (line.split("\t") for line in _lines(path))
    if column not in header:
        raise SystemExit(f"expected a column {column!r}, received {', '.join(header)}; name one with --column")
    return [row[header.index(column)] for row in rows]


def _lines(path: str) -> list[str]:
    opened = gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")
    with opened as lines:
        return [line.rstrip("\n") for line in lines]


def _digest(arrays: dict[str, np.ndarray]) -> str:
    total = hashlib.sha256()
    for name in sorted(arrays):
        total.update(np.ascontiguousarray(arrays[name], np.int32).tobytes())
    return total.hexdigest()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=("kerasbert", "tokenizers", "tokenizers-fast", "graph"))
    parser.add_argument("--data", required=True)
    parser.add_argument("--vocabulary", required=True)
    parser.add_argument("--column", required=True)
    parser.add_argument("--length", type=int, required=True)
    parser.add_argument("--threads", choices=("one", "all"), required=True)
    parser.add_argument("--cased", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
