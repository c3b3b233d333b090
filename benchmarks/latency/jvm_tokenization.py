"""Texts per second of the Kotlin tokenizer on the JVM against Hugging Face's `tokenizers`, on one thread each.

    python -m benchmarks.latency.jvm_tokenization --data train.tsv.gz --vocabulary vocab.txt.gz

Measured: time and processor time for ids and offsets of all texts, and the time in which a new JVM makes the tokenizer and tokenizes the
first text. Both sides must return equal ids. `benchmarks.latency.tokenizer_rounds` has the rules of the rounds.

The JVM is a process of its own, and runs what `mvn -f android_demo/pom.xml -pl core test-compile` made.
"""

import argparse
import tempfile
from pathlib import Path

from benchmarks.common import jvm, record
from benchmarks.common.interleaved import Worker
from benchmarks.latency.tokenizer_rounds import PACKAGES, Comparison, add_options, time_over_peers

MAIN = "kerasbert.core.text.TokenizationMainKt"


def main() -> None:
    """Measure both sides and write the result."""
    arguments = _arguments()
    load = record.load()
    comparison = Comparison(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        paths = comparison.write_files(Path(scratch))
        words = [paths[name] for name in ("settings", "vocabulary", "texts")]
        worker = Worker("jvm", jvm.command(MAIN, words, arguments.java, arguments.stdlib))
        try:
            if worker.ready["digest"] != (digest := comparison.digest()):
                raise SystemExit(
                    f"expected equal ids of both sides, received digests {digest} and {worker.ready['digest']}"
                )
            rounds = comparison.measure({"jvm": worker})
        finally:
            worker.close()
    result = {
        **comparison.facts(),
        "java": jvm.version(arguments.java),
        "jvm_start": {name: value for name, value in worker.ready.items() if name != "digest"},
        "engines": comparison.speeds(rounds),
        "jvm_time_over": time_over_peers(rounds, "jvm"),
    }
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    jvm.add_options(parser)
    record.add_output(parser, "jvm_tokenization")
    return parser.parse_args()


if __name__ == "__main__":
    main()
