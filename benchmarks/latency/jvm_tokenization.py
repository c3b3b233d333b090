"""Texts per second of the Kotlin tokenizer on the JVM against Hugging Face's `tokenizers`, on one thread each.

    python -m benchmarks.latency.jvm_tokenization --data train.tsv.gz --vocabulary vocab.txt.gz

Measured: time and processor time for ids and offsets of all texts, and the time in which a new JVM makes the tokenizer and tokenizes the
first text. Both sides must return equal ids.

The JVM is a process of its own, and runs what `mvn -f android_demo/pom.xml -pl core test-compile` made. Both sides take turns over the same
texts. The baseline is `encode_batch` without special tokens; `encode_batch_fast` omits offsets, which the Kotlin side always returns.
Python objects for ids and offsets are not made: the time is that of the Rust code, apart from the conversion of the texts.
"""

import argparse
import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.common import record
from benchmarks.common.interleaved import Worker

PACKAGES = ("tokenizers",)
PEERS = ("tokenizers", "tokenizers-fast")
ENGINES = ("jvm", *PEERS)
CORE = record.ROOT / "android_demo" / "core" / "target"
MAIN = "kerasbert.core.text.TokenizationMainKt"
_STDLIB = Path(".m2", "repository", "org", "jetbrains", "kotlin", "kotlin-stdlib")


def main() -> None:
    """Measure both sides and write the result."""
    arguments = _arguments()
    os.environ["RAYON_NUM_THREADS"] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    load = record.load()
    texts, vocabulary = _texts(arguments), _lines(arguments.vocabulary)
    with tempfile.TemporaryDirectory() as scratch:
        worker = Worker("jvm", _java_command(Path(scratch), texts, vocabulary, arguments))
        try:
            rounds = _measure(worker, texts, vocabulary, arguments)
        finally:
            worker.close()
    result = {
        "data": record.file_facts(arguments.data),
        "vocabulary": record.file_facts(arguments.vocabulary),
        "lowercase": arguments.lowercase,
        "java": _java_version(arguments.java),
        "texts": len(texts),
        "characters": sum(map(len, texts)),
        "jvm_start": {name: value for name, value in worker.ready.items() if name != "digest"},
        **_summary(rounds, len(texts)),
    }
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _measure(
    worker: Worker, texts: list[str], vocabulary: list[str], arguments: argparse.Namespace
) -> dict[str, list[dict[str, float]]]:
    engine = _engine(vocabulary, arguments.lowercase)
    digest = _digest(engine.encode_batch(texts, add_special_tokens=False))
    if worker.ready["digest"] != digest:
        raise SystemExit(f"expected equal ids of both sides, received digests {digest} and {worker.ready['digest']}")
    runs: dict[str, Callable[[], dict]] = {
        "jvm": worker.ask,
        "tokenizers": lambda: _timed(lambda: engine.encode_batch(texts, add_special_tokens=False)),
        "tokenizers-fast": lambda: _timed(lambda: engine.encode_batch_fast(texts, add_special_tokens=False)),
    }
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in ENGINES}
    for turn in range(arguments.warmup + arguments.rounds):
        for name in ENGINES if turn % 2 else reversed(ENGINES):
            answer = runs[name]()
            if turn >= arguments.warmup:
                rounds[name].append(answer)
    return rounds


def _timed(encode: Callable[[], object]) -> dict[str, float]:
    start, processor = time.perf_counter(), time.thread_time()
    encodings = encode()
    answer = {"seconds": time.perf_counter() - start, "processor_seconds": time.thread_time() - processor}
    del encodings  # after the clock: the Kotlin side leaves its garbage to later rounds as well
    return answer


def _summary(rounds: dict[str, list[dict[str, float]]], texts: int) -> dict:
    engines = {}
    for name, answers in rounds.items():
        seconds, processor = ([answer[key] for answer in answers] for key in ("seconds", "processor_seconds"))
        engines[name] = {
            "texts_per_second": record.spread([texts / value for value in seconds]),
            "seconds": record.spread(seconds),
            "processor_seconds": record.spread(processor),
        }
    over = {
        peer: {
            key: record.ratio([answer[key] for answer in rounds["jvm"]], [answer[key] for answer in rounds[peer]])
            for key in ("seconds", "processor_seconds")
        }
        for peer in PEERS
    }
    for peer, ratios in over.items():
        facts = ratios["processor_seconds"]
        print(
            f"processor time over {peer}: {facts['of_medians']:.3f} ({facts['round_q1']:.3f} to {facts['round_q3']:.3f})"
        )
    return {"engines": engines, "jvm_time_over": over}


def _engine(vocabulary: list[str], lowercase: bool):
    from tokenizers.implementations.bert_wordpiece import BertWordPieceTokenizer

    ids = {token: number for number, token in enumerate(vocabulary)}
    return BertWordPieceTokenizer(ids, lowercase=lowercase)._tokenizer


def _digest(encodings: list) -> str:
    total = hashlib.sha256()
    for encoding in encodings:
        total.update(f"{len(encoding.ids)}:{','.join(map(str, encoding.ids))};".encode())
    return total.hexdigest()


def _java_command(scratch: Path, texts: list[str], vocabulary: list[str], arguments: argparse.Namespace) -> list[str]:
    files = {
        "settings.json": json.dumps({"kind": "wordpiece", "lowercase": arguments.lowercase}),
        "vocab.txt": "".join(f"{token}\n" for token in vocabulary),
        "texts.txt": "".join(f"{text}\n" for text in texts),
    }
    for name, content in files.items():
        (scratch / name).write_text(content, "utf-8")
    classes = [CORE / "classes", CORE / "test-classes", arguments.stdlib or _find_stdlib()]
    if missing := [str(path) for path in classes if not path.exists()]:
        sys.exit(
            f"expected compiled Kotlin, received no {missing[0]}; run mvn -f android_demo/pom.xml -pl core test-compile"
        )
    options = ["-XX:+UseSerialGC", "-Xmx1g", "-Dfile.encoding=UTF-8", "-cp", os.pathsep.join(map(str, classes))]
    return [arguments.java, *options, MAIN, *(str(scratch / name) for name in files)]


def _find_stdlib() -> Path:
    version = re.search("<kotlin.version>(.*?)</kotlin.version>", (CORE.parents[1] / "pom.xml").read_text("utf-8"))
    number = version[1] if version else ""
    return Path.home() / _STDLIB / number / f"kotlin-stdlib-{number}.jar"


def _java_version(java: str) -> str:
    process = subprocess.run([java, "-version"], capture_output=True, text=True, check=True)
    return process.stderr.splitlines()[0]


def _texts(arguments: argparse.Namespace) -> list[str]:
    rows = [line.split("\t") for line in _lines(arguments.data)]
    if arguments.column is not None:
        place = rows[0].index(arguments.column)
        rows = [[row[place]] for row in rows[1:]]
    texts = [max(row, key=len).replace("\r", " ") for row in rows]
    return [text for text in texts if text][: arguments.texts]


def _lines(path: Path) -> list[str]:
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8")
    with opened as lines:
        return [line.rstrip("\n") for line in lines]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, required=True, metavar="FILE", help="a text on each line, or a table, plain or gzip"
    )
    parser.add_argument("--column", help="column of the texts; without it, the longest field of each line")
    parser.add_argument("--vocabulary", type=Path, required=True, metavar="TXT", help="vocab.txt, plain or gzip")
    parser.add_argument("--cased", dest="lowercase", action="store_false")
    parser.add_argument("--texts", type=int, default=100_000, help="the most texts")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--warmup", type=int, default=4, help="rounds before them, in which the JVM compiles")
    parser.add_argument("--java", default="java", metavar="COMMAND")
    parser.add_argument("--stdlib", type=Path, metavar="JAR", help="kotlin-stdlib (in Maven's repository)")
    record.add_output(parser, "jvm_tokenization")
    return parser.parse_args()


if __name__ == "__main__":
    main()
