"""Rounds over the same texts: the tokenizer of an app in a process of its own, and Hugging Face's `tokenizers`, on one thread each.

The engines take turns. The baseline is `encode_batch` without special tokens; `encode_batch_fast` omits offsets. Python objects for ids and
offsets are not made: the time is that of the Rust code, apart from the conversion of the texts.
"""

import argparse
import gzip
import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.common import record
from benchmarks.common.interleaved import Worker

PACKAGES = ("tokenizers",)
PEERS = ("tokenizers", "tokenizers-fast")
Rounds = dict[str, list[dict[str, float]]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of texts, vocabulary and rounds to a parser."""
    parser.add_argument(
        "--data", type=Path, required=True, metavar="FILE", help="a text on each line, or a table, plain or gzip"
    )
    parser.add_argument("--column", help="column of the texts; without it, the longest field of each line")
    parser.add_argument("--vocabulary", type=Path, required=True, metavar="TXT", help="vocab.txt, plain or gzip")
    parser.add_argument("--cased", dest="lowercase", action="store_false")
    parser.add_argument("--texts", type=int, default=100_000, help="the most texts")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--warmup", type=int, default=4, help="rounds before them, in which code is compiled")


class Comparison:
    """The texts, the vocabulary and the baseline of a comparison.

    Attributes:
        texts: The texts.
        vocabulary: The tokens.
        engine: The Rust tokenizer.
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        os.environ["RAYON_NUM_THREADS"] = "1"
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        self._arguments = arguments
        self.texts = _texts(arguments)
        self.vocabulary = _lines(arguments.vocabulary)
        self.engine = _engine(self.vocabulary, arguments.lowercase)

    def write_files(self, folder: Path) -> dict[str, str]:
        """Write the files that the processes read.

        Args:
            folder: Where.

        Returns:
            The paths of `settings`, `vocabulary`, `texts` and `engine`, the `tokenizer.json` of the baseline.
        """
        contents = {
            "settings": json.dumps({"kind": "wordpiece", "lowercase": self._arguments.lowercase}),
            "vocabulary": "".join(f"{token}\n" for token in self.vocabulary),
            "texts": "".join(f"{text}\n" for text in self.texts),
            "engine": self.engine.to_str(),
        }
        for name, content in contents.items():
            (folder / name).write_text(content, "utf-8")
        return {name: str(folder / name) for name in contents}

    def digest(self) -> str:
        """Compute the digest of all ids that the processes compute too."""
        total = hashlib.sha256()
        for encoding in self.engine.encode_batch(self.texts, add_special_tokens=False):
            total.update(f"{len(encoding.ids)}:{','.join(map(str, encoding.ids))};".encode())
        return total.hexdigest()

    def measure(self, workers: Mapping[str, Worker]) -> Rounds:
        """Run all rounds; every other one in reverse order.

        Args:
            workers: The processes by the name of their engine.

        Returns:
            The answers of each engine.
        """
        runs: dict[str, Callable[[], dict]] = {
            **{name: worker.ask for name, worker in workers.items()},
            "tokenizers": lambda: _timed(lambda: self.engine.encode_batch(self.texts, add_special_tokens=False)),
            "tokenizers-fast": lambda: _timed(
                lambda: self.engine.encode_batch_fast(self.texts, add_special_tokens=False)
            ),
        }
        rounds: Rounds = {name: [] for name in runs}
        for turn in range(self._arguments.warmup + self._arguments.rounds):
            for name in runs if turn % 2 else reversed(runs):
                answer = runs[name]()
                if turn >= self._arguments.warmup:
                    rounds[name].append(answer)
        return rounds

    def facts(self) -> dict[str, Any]:
        """Describe the texts and the vocabulary, for a result."""
        return {
            "data": record.file_facts(self._arguments.data),
            "vocabulary": record.file_facts(self._arguments.vocabulary),
            "lowercase": self._arguments.lowercase,
            "texts": len(self.texts),
            "characters": sum(map(len, self.texts)),
        }

    def speeds(self, rounds: Rounds) -> dict[str, Any]:
        """Summarize the time of each engine."""
        return {
            name: {
                "texts_per_second": record.spread([len(self.texts) / answer["seconds"] for answer in answers]),
                **{key: record.spread([answer[key] for answer in answers]) for key in ("seconds", "processor_seconds")},
            }
            for name, answers in rounds.items()
        }


def time_over_peers(rounds: Rounds, name: str) -> dict[str, Any]:
    """Compare the time of an engine with those of the baselines, and print the ratios of processor time.

    Args:
        rounds: The answers of `Comparison.measure`.
        name: The engine.
    """
    over = {
        peer: {
            key: record.ratio([answer[key] for answer in rounds[name]], [answer[key] for answer in rounds[peer]])
            for key in ("seconds", "processor_seconds")
        }
        for peer in PEERS
    }
    for peer, ratios in over.items():
        facts = ratios["processor_seconds"]
        quartiles = f"{facts['round_q1']:.3f} to {facts['round_q3']:.3f}"
        print(f"processor time of {name} over {peer}: {facts['of_medians']:.3f} ({quartiles})")
    return over


def _timed(encode: Callable[[], object]) -> dict[str, float]:
    start, processor = time.perf_counter(), time.thread_time()
    encodings = encode()
    answer = {"seconds": time.perf_counter() - start, "processor_seconds": time.thread_time() - processor}
    del encodings  # after the clock: the processes leave their garbage to later rounds as well
    return answer


def _engine(vocabulary: list[str], lowercase: bool):
    from tokenizers.implementations.bert_wordpiece import BertWordPieceTokenizer

    ids = {token: number for number, token in enumerate(vocabulary)}
    return BertWordPieceTokenizer(ids, lowercase=lowercase)._tokenizer


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
