"""Texts per second from strings to padded int32 arrays: kerasbert's two engines against `tokenizers` alone.

    python -m benchmarks.latency.tokenization --data train.tsv.gz --vocabulary vocab.txt.gz

Measured: texts per second, time and processor time of each engine, on one thread and on all. All engines must return equal arrays.

Every engine runs in its own process; they take turns over the same texts. The baseline is `encode_batch` with truncation and padding, then
`np.array` of ids, masks and types. `tokenizers-fast` uses `encode_batch_fast`, which omits offsets.
"""

import argparse
import sys

from benchmarks.common import record
from benchmarks.common.interleaved import Worker

PEERS = ("tokenizers", "tokenizers-fast")
ENGINES = ("kerasbert", *PEERS, "graph")
PACKAGES = ("tokenizers", "tensorflow", "tensorflow-text", "numpy")


def main() -> None:
    """Measure all engines and write the result."""
    arguments = _arguments()
    load = record.load()
    cases = {threads: _measure(threads, arguments) for threads in arguments.threads}
    result = {
        "data": record.file_facts(arguments.data),
        "vocabulary": record.file_facts(arguments.vocabulary),
        "length": arguments.length,
        "lowercase": arguments.lowercase,
        "threads": cases,
    }
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _measure(threads: str, arguments: argparse.Namespace) -> dict:
    names = [name for name in ENGINES if name != "graph" or not arguments.without_graph]
    options = ["--data", arguments.data, "--vocabulary", arguments.vocabulary, "--column", arguments.column]
    options += ["--length", str(arguments.length), "--threads", threads]
    options += [] if arguments.lowercase else ["--cased"]
    workers = []
    try:
        for name in names:
            command = [sys.executable, "-m", "benchmarks.latency.tokenization_engine", name, *options]
            workers.append(Worker(name, command))
        _check_equal_arrays(workers)
        seconds, processor = _take_turns(workers, arguments.rounds)
    finally:
        for worker in workers:
            worker.close()
    return _summary(threads, workers[0].ready["texts"], seconds, processor)


def _take_turns(workers: list[Worker], rounds: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    seconds = {worker.name: [] for worker in workers}
    processor = {worker.name: [] for worker in workers}
    for turn in range(1 + rounds):
        for worker in workers if turn % 2 else reversed(workers):
            answer = worker.ask()
            if turn:  # the first turn is warmup
                seconds[worker.name].append(answer["seconds"])
                processor[worker.name].append(answer["processor_seconds"])
    return seconds, processor


def _summary(threads: str, texts: int, seconds: dict[str, list[float]], processor: dict[str, list[float]]) -> dict:
    facts = {}
    for name in seconds:
        facts[name] = {
            "texts_per_second": record.spread([texts / value for value in seconds[name]]),
            "seconds": record.spread(seconds[name]),
            "processor_seconds": record.spread(processor[name]),
            "time_over": {peer: record.ratio(seconds[name], seconds[peer]) for peer in PEERS},
            "processor_time_over": {peer: record.ratio(processor[name], processor[peer]) for peer in PEERS},
        }
        ratios = ", ".join(
            f"{peer} {clock['of_medians']:.2f} ({clock['round_q1']:.2f} to {clock['round_q3']:.2f})"
            for peer, clock in facts[name]["time_over"].items()
        )
        speed = facts[name]["texts_per_second"]["median"]
        print(f"{threads:3s} {name:16s} {speed:9.0f} texts/s  time over {ratios}", flush=True)
    return {"texts": texts, "engines": facts}


def _check_equal_arrays(workers: list[Worker]) -> None:
    digests = {worker.name: worker.ready["digest"] for worker in workers}
    if len(set(digests.values())) != 1:
        raise SystemExit(f"expected equal arrays of all engines, received digests {digests}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, metavar="TSV", help="a table with a header, plain or gzip")
    parser.add_argument("--vocabulary", required=True, metavar="TXT", help="vocab.txt, plain or gzip")
    parser.add_argument("--column", default="sentence", help="column of the texts")
    parser.add_argument("--length", type=int, default=64, help="tokens of a row")
    parser.add_argument("--cased", dest="lowercase", action="store_false")
    parser.add_argument("--threads", nargs="+", choices=("one", "all"), default=["one", "all"])
    parser.add_argument("--rounds", type=int, default=7, help="turns of each engine, after one of warmup")
    parser.add_argument("--without-graph", action="store_true", help="omit the TensorFlow engine")
    record.add_output(parser, "tokenization")
    return parser.parse_args()


if __name__ == "__main__":
    main()
