"""Texts per second of the JavaScript tokenizer on Node against Hugging Face's `tokenizers`, on one thread each.

    npm install --prefix peers @huggingface/tokenizers@0.2.0
    python -m benchmarks.latency.web_tokenization --data train.tsv.gz --vocabulary vocab.txt.gz --packages peers

Measured: time and processor time for ids and offsets of all texts, and the time in which a new process makes the tokenizer and tokenizes
the first text. The ids must be equal. `benchmarks.latency.tokenizer_rounds` has the rules of the rounds. With `--packages`, Hugging Face's
tokenizer in JavaScript, which has no offsets, takes part; its ids may differ.

Node is a process of its own. Its processor time is that of all its threads: V8 collects garbage and compiles on some of them.
"""

import argparse
import contextlib
import subprocess
import tempfile
from pathlib import Path

from benchmarks.common import record
from benchmarks.common.interleaved import Worker
from benchmarks.latency.tokenizer_rounds import PACKAGES, Comparison, add_options, time_over_peers

PROGRAMS = record.ROOT / "web_demo" / "tests" / "text"


def main() -> None:
    """Measure all sides and write the result."""
    arguments = _arguments()
    load = record.load()
    comparison = Comparison(arguments)
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as stack:
        paths = comparison.write_files(Path(scratch))
        workers = {}
        for name, command in _commands(arguments, paths).items():
            workers[name] = Worker(name, [arguments.node, *command])
            stack.callback(workers[name].close)
        digest = comparison.digest()
        if workers["javascript"].ready["digest"] != digest:
            raise SystemExit("expected equal ids of both sides, received other ones from JavaScript")
        rounds = comparison.measure(workers)
    version = subprocess.run([arguments.node, "--version"], capture_output=True, text=True, check=True)
    result = {
        **comparison.facts(),
        "node": version.stdout.strip(),
        "starts": {
            name: {key: value for key, value in worker.ready.items() if key != "digest"}
            for name, worker in workers.items()
        },
        "equal_ids": {name: worker.ready["digest"] == digest for name, worker in workers.items()},
        "engines": comparison.speeds(rounds),
        "time_over": {name: time_over_peers(rounds, name) for name in workers},
    }
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _commands(arguments: argparse.Namespace, paths: dict[str, str]) -> dict[str, list[str]]:
    commands = {"javascript": ["time_tokenizer.js", *(paths[name] for name in ("settings", "vocabulary", "texts"))]}
    if arguments.packages:
        commands["huggingface-js"] = ["time_witness.js", str(arguments.packages), paths["engine"], paths["texts"]]
    return {name: [str(PROGRAMS / program), *words] for name, (program, *words) in commands.items()}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--packages", type=Path, metavar="FOLDER", help="has node_modules/@huggingface/tokenizers")
    parser.add_argument("--node", default="node", metavar="COMMAND")
    record.add_output(parser, "web_tokenization")
    return parser.parse_args()


if __name__ == "__main__":
    main()
