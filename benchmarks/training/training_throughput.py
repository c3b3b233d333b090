"""Fine-tuning speed in examples per second: `TextClassifier.fit` against PyTorch transformers.

    python -m benchmarks.training.training_throughput CHECKPOINT --train sst2-train.tsv.gz --peer-python peers/bin/python

Measured: the time of a segment of `--steps` steps, with the same model and the same rows in the same batches. In the case `fixed` every row
has `--length` tokens. The case `real` keeps the file's own lengths in batches of similar lengths; each side pads in its own way.

All variants of both sides run in their own processes and take turns, one segment each. The ratio compares the fastest variant of each side.
Loading, tokenization and compilation happen before the clock starts and are reported separately.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.common import record
from benchmarks.common.interleaved import Worker

OURS = {"keras": [], "keras-jit": ["--jit"], "keras-returning-memory": ["--return-memory"]}
PEERS = {
    "pytorch-eager": ["--attention", "eager"],
    "pytorch-sdpa": ["--attention", "sdpa"],
    "pytorch-sdpa-fused-adamw": ["--attention", "sdpa", "--fused"],
}
PACKAGES = ("tensorflow", "tf-keras", "numpy")
PEER_PACKAGES = ("torch", "transformers", "numpy")


def main() -> None:
    """Measure all cases and write the result."""
    arguments = _arguments()
    load = record.load()
    variants = {
        "auto": OURS,
        "on": {"keras-jit": OURS["keras-jit"]},
        "off": {name: OURS[name] for name in ("keras", "keras-returning-memory")},
    }[arguments.jit]
    cases = {case: _measure(case, variants, arguments) for case in arguments.cases}
    result = {
        "batch": arguments.batch,
        "length": arguments.length,
        "steps_a_segment": arguments.steps,
        "seed": arguments.seed,
    }
    packages = {**record.versions(PACKAGES), **peer_versions(arguments.peer_python)}
    record.write(
        arguments.json, {**result, "checkpoint": Path(arguments.checkpoint).name, "cases": cases}, packages, load
    )


def _measure(case: str, variants: dict[str, list[str]], arguments: argparse.Namespace) -> dict:
    length = arguments.length if case == "fixed" else arguments.real_length
    rows = arguments.batch * arguments.steps * (arguments.rounds + 3)
    settings = {"train": arguments.train, "case": case, "length": length, "rows": rows, "batch": arguments.batch}
    settings["seed"] = arguments.seed
    options = [arguments.checkpoint, *(str(part) for name, value in settings.items() for part in (f"--{name}", value))]
    workers = []
    try:
        for name, flags in variants.items():
            workers.append(Worker(name, [sys.executable, "-m", "benchmarks.training.training_keras", *options, *flags]))
        for name in arguments.peers:
            workers.append(
                Worker(
                    name, [arguments.peer_python, "-m", "benchmarks.training.training_pytorch", *options, *PEERS[name]]
                )
            )
        _check_equal_rows(workers)
        seconds, processor = _take_turns(workers, arguments)
    finally:
        for worker in workers:
            worker.close()
    return _summary(case, workers, seconds, processor, set(variants), arguments)


def _take_turns(
    workers: list[Worker], arguments: argparse.Namespace
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    seconds = {worker.name: [] for worker in workers}
    processor = {worker.name: [] for worker in workers}
    for turn in range(1 + arguments.rounds):
        for worker in workers:
            answer = worker.ask(steps=arguments.steps)
            if turn:  # the first turn is warmup
                seconds[worker.name].append(answer["seconds"])
                processor[worker.name].append(answer["processor_seconds"])
            speed = arguments.batch * arguments.steps / answer["seconds"]
            print(f"  {turn:2d} {worker.name:26s} {speed:7.1f} examples/s", flush=True)
    return seconds, processor


def _summary(
    case: str,
    workers: list[Worker],
    seconds: dict[str, list[float]],
    processor: dict[str, list[float]],
    variants: set[str],
    arguments: argparse.Namespace,
) -> dict:
    examples = arguments.batch * arguments.steps
    speeds = {name: [examples / value for value in values] for name, values in seconds.items()}
    by_time = sorted(seconds, key=lambda name: statistics.median(seconds[name]))
    own = next(name for name in by_time if name in variants)
    peer = next(name for name in by_time if name not in variants)
    speedup = record.ratio(seconds[peer], seconds[own])
    rounds = f"quartiles of the rounds {speedup['round_q1']:.2f} to {speedup['round_q3']:.2f}"
    print(f"{case}: {own} / {peer} = {speedup['of_medians']:.2f} ({rounds})")
    return {
        "ours": own,
        "peer": peer,
        "ratio": speedup,
        "ratios_to_each_peer": {n: record.ratio(seconds[n], seconds[own]) for n in seconds if n not in variants},
        "examples_per_second": {name: record.spread(values) for name, values in speeds.items()},
        "processor_seconds_per_second": {n: sum(processor[n]) / sum(seconds[n]) for n in seconds},
        "segments_seconds": {name: [round(value, 4) for value in values] for name, values in seconds.items()},
        "before_the_clock": {worker.name: worker.ready for worker in workers},
    }


def _check_equal_rows(workers: list[Worker]) -> None:
    counts = {worker.name: (worker.ready["rows"], worker.ready["tokens"]) for worker in workers}
    if len(set(counts.values())) != 1:
        raise SystemExit(f"expected equal rows and tokens on all sides, received {counts}; check the tokenizers")


def peer_versions(python: str) -> dict[str, str]:
    code = f"import json; from benchmarks.common import record; print(json.dumps(record.versions({PEER_PACKAGES!r})))"
    versions = json.loads(
        subprocess.run([Path(python).absolute(), "-c", code], capture_output=True, text=True, check=True).stdout
    )
    return {f"peer {name}": version for name, version in versions.items()}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", help="a Hugging Face folder with a BERT")
    parser.add_argument("--train", required=True, metavar="TSV", help="labelled texts with labels 0 and 1")
    parser.add_argument(
        "--peer-python", required=True, metavar="PYTHON", help="of the environment of requirements-peers.txt"
    )
    parser.add_argument("--cases", nargs="+", choices=("fixed", "real"), default=["fixed", "real"])
    parser.add_argument(
        "--jit", choices=("auto", "on", "off"), default="auto", help="compile with XLA; auto measures both"
    )
    parser.add_argument("--peers", nargs="+", choices=tuple(PEERS), default=list(PEERS))
    parser.add_argument("--length", type=int, default=64, help="tokens of a row in the fixed case")
    parser.add_argument("--real-length", type=int, default=128, help="longest row in the real case, in tokens")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=20, help="steps of a segment")
    parser.add_argument("--rounds", type=int, default=6, help="segments of each variant, after one of warmup")
    parser.add_argument("--seed", type=int, default=1)
    record.add_output(parser, "training_throughput")
    return parser.parse_args()


if __name__ == "__main__":
    main()
