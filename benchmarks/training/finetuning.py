"""Fine-tuning on real tasks by `kerasbert train` and by PyTorch transformers: dev scores over several seeds.

    python -m benchmarks.training.finetuning CHECKPOINT --data FOLDER --peer-python peers/bin/python

Measured: each data set's metrics after the last epoch, training speed and peak memory. `--data` is the folder of the data sets in
`benchmarks.common.finetuning_cases`.

The systems alternate, each run in its own process, with the same settings. Runs in the result file are kept, so an interrupted measurement
can be continued. Each run records its date, processor and the load of the machine; only runs with `--idle` count for speed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.common import record
from benchmarks.common.finetuning_cases import CASES, WARMUP, WEIGHT_DECAY, Case
from benchmarks.common.over_seeds import over_seeds

PACKAGES = ("tensorflow", "tf-keras", "numpy", "tokenizers")


def main() -> None:
    """Run the missing runs and write the result after each."""
    arguments = _arguments()
    load = record.load()
    runs = json.loads(arguments.json.read_text("utf-8"))["runs"] if arguments.json.is_file() else []
    done = {(run["case"], run["system"], run["seed"]) for run in runs}
    for seed in arguments.seeds:
        for name in arguments.cases:
            for system in arguments.systems:
                if (name, system, seed) in done:
                    continue
                before, measured = record.load(), SYSTEMS[system](arguments, name, CASES[name], seed)
                date = datetime.now(UTC).isoformat(timespec="seconds")
                conditions = {
                    "date": date,
                    "cpu": record.describe_machine()["cpu"],
                    "load_before": before,
                    "idle": arguments.idle,
                }
                runs.append({"case": name, "system": system, "seed": seed, **conditions, **measured})
                print(name, system, seed, json.dumps(runs[-1]["epochs"][-1]["dev"]), flush=True)
                record.write(arguments.json, _result(runs), record.versions(PACKAGES), load)


def _run_kerasbert(arguments: argparse.Namespace, name: str, case: Case, seed: int) -> dict:
    options = zip(("--text-column", "--pair-column", "--label-column"), case.columns, strict=True)
    columns = [part for option, value in options if value is not None for part in (option, value)]
    kerasbert = [sys.executable, "-m", "kerasbert.cli"]
    # With `--dev`, train keeps the best epoch; extra evaluations need the last one.
    dev = [] if case.extra_evaluations else ["--dev", arguments.data / case.dev]
    with tempfile.TemporaryDirectory() as folder:
        out = (arguments.keep or Path(folder)) / f"{name}-{seed}"
        command = [
            *kerasbert, "train", "--task", case.task, "--model", arguments.checkpoint,
            "--train", arguments.data / case.train, *dev, "--out", out,
            "--epochs", case.epochs, "--learning-rate", case.learning_rate, "--batch-size", case.batch_size,
            "--sequence-length", case.length, "--warmup", WARMUP, "--weight-decay", WEIGHT_DECAY, "--seed", seed,
            *columns, "--json",
        ]  # fmt: skip
        output, peak = _run(command)
        training = json.loads(output)
        scores = {}
        for prefix, path in (("", case.dev), *((f"{name} ", path) for name, path in case.extra_evaluations)):
            if case.extra_evaluations:
                output, _ = _run([*kerasbert, "evaluate", out, "--data", arguments.data / path, "--json"])
                evaluated = json.loads(output)
                scores |= {f"{prefix}{metric}": value for metric, value in evaluated["metrics"].items()}
    if scores:
        training["epochs"][-1]["dev"] = scores
    return {**{key: training[key] for key in ("epochs", "seconds", "examples_per_second")}, "peak_bytes": peak}


def _run_pytorch(arguments: argparse.Namespace, name: str, case: Case, seed: int) -> dict:
    command = [
        arguments.peer_python, "-m", "benchmarks.training.finetuning_pytorch", arguments.checkpoint,
        "--data", arguments.data, "--case", name, "--seed", seed,
    ]  # fmt: skip
    output, peak = _run(command)
    *epochs, speed = (json.loads(line) for line in output.splitlines())
    return {"epochs": epochs, **speed, "peak_bytes": peak}


def _run(command: list) -> tuple[str, int]:
    """Run a process; returns its output and its peak memory in bytes."""
    lines = []
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():  # one line per epoch: long runs show their progress
            print(line, end="", file=sys.stderr, flush=True)
            lines.append(line)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"expected exit code 0, received {process.returncode} of {' '.join(map(str, command))}")
    return "".join(lines), usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


SYSTEMS = {"kerasbert": _run_kerasbert, "pytorch": _run_pytorch}


def _result(runs: list[dict]) -> dict:
    """The runs and a summary per data set: final scores of both systems and their difference."""
    summary = {}
    for name in dict.fromkeys(run["case"] for run in runs):
        scores = {}
        for system in SYSTEMS:
            last = [run["epochs"][-1]["dev"] for run in runs if run["case"] == name and run["system"] == system]
            scores[system] = {metric: over_seeds([dev[metric] for dev in last]) for metric in (last[0] if last else ())}
        speeds = {system: _idle_speeds(runs, name, system) for system in SYSTEMS}
        summary[name] = {**scores, "examples_per_second_idle": speeds}
        keras, pytorch = speeds.values()
        common = [cpu for cpu in keras if cpu in pytorch]  # speeds compare on one kind of processor only
        summary[name]["speed_ratio"] = {cpu: float(np.median(keras[cpu]) / np.median(pytorch[cpu])) for cpu in common}
        if all(scores.values()):
            metric = CASES[name].metric
            summary[name]["difference"] = {
                "metric": metric,
                "mean": scores["kerasbert"][metric]["mean"] - scores["pytorch"][metric]["mean"],
            }
    return {"summary": summary, "runs": runs}


def _idle_speeds(runs: list[dict], name: str, system: str) -> dict[str, list[float]]:
    """Examples per second of the runs on an idle machine, by processor."""
    speeds: dict[str, list[float]] = {}
    for run in runs:
        if run["case"] == name and run["system"] == system and run["idle"]:
            speeds.setdefault(run["cpu"], []).append(run["examples_per_second"])
    return speeds


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", help="a Hugging Face folder with a BERT")
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="the data sets")
    parser.add_argument("--peer-python", required=True, metavar="FILE", help="a Python with torch and transformers")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep kerasbert's trained models here, as CASE-SEED"
    )
    parser.add_argument("--idle", action="store_true", help="the machine is otherwise idle: speeds count")
    record.add_output(parser, "finetuning")
    return parser.parse_args()


if __name__ == "__main__":
    main()
