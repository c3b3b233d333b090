"""Fine-tuning speed in examples a second: `TextClassifier.fit` against PyTorch transformers, same model, same rows in the same batches.

    python benchmarks/training_throughput.py CHECKPOINT --train sst2-train.tsv.gz --peer-python peers/bin/python

Two cases: `fixed`, every row fills `--length` tokens; `real`, the file's own lengths in batches of like length, padded
by each side as it pads. All variants of both sides live in processes of their own and take turns, a segment of `--steps`
steps each, while the others sleep. The ratio is that of the fastest variant of each side. Loading, tokenizing and
compilation are outside of the clock and reported beside it.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

import record
from turns import Worker

HERE = Path(__file__).parent
OURS = {"keras": [], "keras-jit": ["--jit"], "keras-returning-memory": ["--return-memory"]}
PEERS = {
    "pytorch-eager": ["--attention", "eager"],
    "pytorch-sdpa": ["--attention", "sdpa"],
    "pytorch-sdpa-fused-adamw": ["--attention", "sdpa", "--fused"],
}
PACKAGES = ("tensorflow", "tf-keras", "numpy")
PEER_PACKAGES = ("torch", "transformers", "numpy")


def main() -> None:
    arguments = _arguments()
    load = record.load()
    ours = {
        "auto": OURS,
        "on": {"keras-jit": OURS["keras-jit"]},
        "off": {name: OURS[name] for name in ("keras", "keras-returning-memory")},
    }[arguments.jit]
    cases = {case: _measure(case, ours, arguments) for case in arguments.cases}
    result = {
        "batch": arguments.batch,
        "length": arguments.length,
        "steps_a_segment": arguments.steps,
        "seed": arguments.seed,
    }
    packages = {**record.versions(PACKAGES), **_peer_versions(arguments.peer_python)}
    record.write(
        arguments.json, {**result, "checkpoint": Path(arguments.checkpoint).name, "cases": cases}, packages, load
    )


def _measure(case: str, ours: dict[str, list[str]], arguments) -> dict:
    length = arguments.length if case == "fixed" else arguments.real_length
    rows = arguments.batch * arguments.steps * (arguments.rounds + 3)
    flags = {"train": arguments.train, "case": case, "length": length, "rows": rows, "batch": arguments.batch}
    flags["seed"] = arguments.seed
    options = [arguments.checkpoint, *(str(part) for name, value in flags.items() for part in (f"--{name}", value))]
    workers = []
    try:
        for name, flags in ours.items():
            workers.append(Worker(name, [sys.executable, str(HERE / "training_keras.py"), *options, *flags]))
        for name in arguments.peers:
            workers.append(
                Worker(name, [arguments.peer_python, str(HERE / "training_pytorch.py"), *options, *PEERS[name]])
            )
        _same_rows(workers)
        seconds, processor = _take_turns(workers, arguments)
    finally:
        for worker in workers:
            worker.close()
    return _summary(case, workers, seconds, processor, set(ours), arguments)


def _take_turns(workers: list[Worker], arguments) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    seconds = {worker.name: [] for worker in workers}
    processor = {worker.name: [] for worker in workers}
    for turn in range(1 + arguments.rounds):
        for worker in workers:
            answer = worker.ask(steps=arguments.steps)
            if turn:  # the first turn warms up
                seconds[worker.name].append(answer["seconds"])
                processor[worker.name].append(answer["processor_seconds"])
            speed = arguments.batch * arguments.steps / answer["seconds"]
            print(f"  {turn:2d} {worker.name:26s} {speed:7.1f} examples/s", flush=True)
    return seconds, processor


def _summary(case, workers, seconds, processor, ours: set[str], arguments) -> dict:
    examples = arguments.batch * arguments.steps
    speeds = {name: [examples / value for value in values] for name, values in seconds.items()}
    by_time = sorted(seconds, key=lambda name: statistics.median(seconds[name]))
    own, peer = next(name for name in by_time if name in ours), next(name for name in by_time if name not in ours)
    faster = record.ratio(seconds[peer], seconds[own])  # a ratio of speeds: the peer's seconds over ours
    rounds = f"quartiles of the rounds {faster['round_q1']:.2f} to {faster['round_q3']:.2f}"
    print(f"{case}: {own} / {peer} = {faster['of_medians']:.2f} ({rounds})")
    return {
        "ours": own,
        "peer": peer,
        "ratio": faster,
        "ratios_to_each_peer": {n: record.ratio(seconds[n], seconds[own]) for n in seconds if n not in ours},
        "examples_per_second": {name: record.spread(values) for name, values in speeds.items()},
        "processor_seconds_per_second": {n: sum(processor[n]) / sum(seconds[n]) for n in seconds},
        "segments_seconds": {name: [round(value, 4) for value in values] for name, values in seconds.items()},
        "before_the_clock": {worker.name: worker.ready for worker in workers},
    }


def _same_rows(workers: list[Worker]) -> None:
    seen = {worker.name: (worker.ready["rows"], worker.ready["tokens"]) for worker in workers}
    if len(set(seen.values())) != 1:
        raise SystemExit(f"expected the same rows and tokens on all sides, received {seen}")


def _peer_versions(python: str) -> dict[str, str]:
    code = f"import json, record; print(json.dumps(record.versions({PEER_PACKAGES!r})))"
    found = json.loads(
        subprocess.run(
            [Path(python).absolute(), "-c", code], capture_output=True, text=True, check=True, cwd=HERE
        ).stdout
    )
    return {f"peer {name}": version for name, version in found.items()}


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", help="a Hugging Face folder with a BERT")
    parser.add_argument("--train", required=True, metavar="TSV", help="labelled texts with labels 0 and 1")
    parser.add_argument(
        "--peer-python", required=True, metavar="PYTHON", help="of an environment with requirements-peers.txt"
    )
    parser.add_argument("--cases", nargs="+", choices=("fixed", "real"), default=["fixed", "real"])
    parser.add_argument("--jit", choices=("auto", "on", "off"), default="auto", help="auto measures both")
    parser.add_argument("--peers", nargs="+", choices=tuple(PEERS), default=list(PEERS))
    parser.add_argument("--length", type=int, default=64, help="tokens a row in the fixed case")
    parser.add_argument("--real-length", type=int, default=128, help="longest row in the real case")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=20, help="steps a segment")
    parser.add_argument("--rounds", type=int, default=6, help="segments each, after one to warm up")
    parser.add_argument("--seed", type=int, default=1)
    record.add_output(parser, "training_throughput")
    return parser.parse_args()


if __name__ == "__main__":
    main()
