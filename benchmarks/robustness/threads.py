"""Answers of one open model to several threads, and texts a second.

    python -m benchmarks.robustness.threads
    python -m benchmarks.robustness.threads --texts 500

Measured for a classifier and a sentence encoder, each in this process and isolated: answers that differ from those of a single
thread, errors, and texts a second of 1, 2 and 8 threads that share the model. By default each of 8 threads asks for 10,000 texts, one a
call. One and two threads ask for at most 2,000 each, which is enough for the speed.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import kerasbert as kb
from benchmarks.common import record
from kerasbert.data import assistant

MODELS = ("intents", "search")
THREADS = (1, 2, 8)
DIFFERENT_TEXTS, ENOUGH_FOR_SPEED = 400, 2_000


def main() -> None:
    """Ask from all numbers of threads and write the result."""
    arguments = _arguments()
    load = record.load()
    texts = list(dict.fromkeys(assistant.load("train").texts))[:DIFFERENT_TEXTS]
    result: dict[str, Any] = {"texts_a_thread": arguments.texts, "models": {}}
    for name in MODELS:
        alone = kb.open(name)
        wanted = [alone(text) for text in texts]
        for isolated in (False, True):
            model = kb.open(name, isolated=isolated)
            row = {}
            for threads in THREADS:
                count = arguments.texts if threads == max(THREADS) else min(arguments.texts, ENOUGH_FOR_SPEED)
                row[str(threads)] = _ask(model, texts, wanted, threads, count)
            key = f"{name}, isolated" if isolated else name
            result["models"][key] = row
            print(key, row, flush=True)
    record.write(arguments.json, result, record.versions(("numpy", "tokenizers")), load)


def _ask(model: Callable, texts: Sequence[str], wanted: Sequence, threads: int, count: int) -> dict[str, float]:
    def work(thread: int) -> tuple[int, int]:
        wrong = errors = 0
        for turn in range(count):
            number = (thread * 53 + turn) % len(texts)
            try:
                wrong += not np.array_equal(model(texts[number]), wanted[number])
            except Exception:
                errors += 1
        return wrong, errors

    started = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        outcomes = list(pool.map(work, range(threads)))
    seconds = time.perf_counter() - started
    wrong, errors = map(sum, zip(*outcomes, strict=True))
    return {
        "answers": threads * count,
        "wrong": wrong,
        "errors": errors,
        "texts_per_second": round(threads * count / seconds, 1),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=10_000, metavar="N", help="calls of each of 8 threads (10,000)")
    record.add_output(parser, "threads")
    return parser.parse_args()


if __name__ == "__main__":
    main()
