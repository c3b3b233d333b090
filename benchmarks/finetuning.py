r"""Fine-tuning on real tasks, by `kerasbert train` and by PyTorch transformers: the dev scores of several seeds on both sides.

    python benchmarks/finetuning.py CHECKPOINT --data FOLDER --peer-python peers/bin/python

`--data` holds the folders that finetuning_cases.py names. Both sides run in turn, each run in a process of its own, with the same
settings. A result that is there already is kept: an interrupted measurement goes on where it stopped. Each run says when it ran, on which
processor, and how busy the machine was: scores do not depend on that, examples a second do. The score of the last epoch counts on both
sides.
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
import record
from finetuning_cases import CASES, WARMUP, WEIGHT_DECAY, Case

HERE = Path(__file__).parent
PACKAGES = ("tensorflow", "tf-keras", "numpy", "tokenizers")


def main() -> None:
    arguments = _arguments()
    load = record.load()
    runs = json.loads(arguments.json.read_text("utf-8"))["runs"] if arguments.json.is_file() else []
    done = {(run["case"], run["system"], run["seed"]) for run in runs}
    for seed in arguments.seeds:
        for name in arguments.cases:
            for system in arguments.systems:
                if (name, system, seed) in done:
                    continue
                before, found = record.load(), SYSTEMS[system](arguments, name, CASES[name], seed)
                date = datetime.now(UTC).isoformat(timespec="seconds")
                when = {
                    "date": date,
                    "cpu": record.describe_machine()["cpu"],
                    "load_before": before,
                    "idle": arguments.idle,
                }
                runs.append({"case": name, "system": system, "seed": seed, **when, **found})
                print(name, system, seed, json.dumps(runs[-1]["epochs"][-1]["dev"]), flush=True)
                record.write(arguments.json, _result(runs), record.versions(PACKAGES), load)


def _ours(arguments, name: str, case: Case, seed: int) -> dict:
    options = zip(("--text-column", "--pair-column", "--label-column"), case.columns, strict=True)
    columns = [word for option, value in options if value is not None for word in (option, value)]
    kerasbert = [sys.executable, "-m", "kerasbert.cli"]
    # Where more than the dev part is evaluated, it is the last epoch's model that is: no dev part chooses another.
    dev = [] if case.further else ["--dev", arguments.data / case.dev]
    with tempfile.TemporaryDirectory() as folder:
        out = (arguments.keep or Path(folder)) / f"{name}-{seed}"
        command = [
            *kerasbert, "train", "--task", case.task, "--model", arguments.checkpoint,
            "--train", arguments.data / case.train, *dev, "--out", out,
            "--epochs", case.epochs, "--learning-rate", case.learning_rate, "--batch-size", case.batch_size,
            "--sequence-length", case.length, "--warmup", WARMUP, "--weight-decay", WEIGHT_DECAY, "--seed", seed,
            *columns, "--json",
        ]  # fmt: skip
        printed, peak = _output(command)
        found = json.loads(printed)
        scores = {}
        for prefix, path in (("", case.dev), *((f"{name} ", path) for name, path in case.further)):
            if case.further:
                printed, _ = _output([*kerasbert, "evaluate", out, "--data", arguments.data / path, "--json"])
                evaluated = json.loads(printed)
                scores |= {f"{prefix}{metric}": value for metric, value in evaluated["metrics"].items()}
    if scores:
        found["epochs"][-1]["dev"] = scores
    return {**{key: found[key] for key in ("epochs", "seconds", "examples_per_second")}, "peak_bytes": peak}


def _peer(arguments, name: str, case: Case, seed: int) -> dict:
    command = [
        arguments.peer_python, HERE / "finetuning_pytorch.py", arguments.checkpoint,
        "--data", arguments.data, "--case", name, "--seed", seed,
    ]  # fmt: skip
    printed, peak = _output(command)
    *epochs, last = (json.loads(line) for line in printed.splitlines())
    return {"epochs": epochs, **last, "peak_bytes": peak}


def _output(command: list) -> tuple[str, int]:
    """What a process prints, and the most memory that it held, in bytes."""
    lines = []
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:  # an epoch each: a run of an hour shows how far it is
            print(line, end="", file=sys.stderr, flush=True)
            lines.append(line)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"exit code {process.returncode} of {' '.join(map(str, command))}")
    return "".join(lines), usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


SYSTEMS = {"kerasbert": _ours, "pytorch": _peer}


def _result(runs: list[dict]) -> dict:
    """The runs, and of each data set both sides' last scores: mean, standard deviation, and ours less theirs."""
    summary = {}
    for name in dict.fromkeys(run["case"] for run in runs):
        scores = {}
        for system in SYSTEMS:
            last = [run["epochs"][-1]["dev"] for run in runs if run["case"] == name and run["system"] == system]
            scores[system] = {
                metric: {
                    "mean": float(np.mean([dev[metric] for dev in last])),
                    "deviation": float(np.std([dev[metric] for dev in last], ddof=1)) if len(last) > 1 else None,
                    "seeds": len(last),
                }
                for metric in (last[0] if last else ())
            }
        speeds = {system: _idle_speeds(runs, name, system) for system in SYSTEMS}
        summary[name] = {**scores, "examples_per_second_idle": speeds}
        ours, theirs = speeds.values()
        both = [cpu for cpu in ours if cpu in theirs]  # which side is faster depends on the processor
        summary[name]["speed_ratio"] = {cpu: float(np.median(ours[cpu]) / np.median(theirs[cpu])) for cpu in both}
        if all(scores.values()):
            metric = CASES[name].metric
            summary[name]["difference"] = {
                "metric": metric,
                "mean": scores["kerasbert"][metric]["mean"] - scores["pytorch"][metric]["mean"],
            }
    return {"summary": summary, "runs": runs}


def _idle_speeds(runs: list[dict], name: str, system: str) -> dict[str, list[float]]:
    """Examples a second, by processor, of the runs that began while the machine did nothing else; those before them leave a load that
    fades."""
    found = {}
    for run in runs:
        if run["case"] == name and run["system"] == system and run["idle"]:
            found.setdefault(run["cpu"], []).append(run["examples_per_second"])
    return found


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint")
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--peer-python", required=True, metavar="FILE", help="a Python with torch and transformers")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep kerasbert's trained models there, as CASE-SEED"
    )
    parser.add_argument("--idle", action="store_true", help="nothing else runs on the machine: speeds count")
    record.add_output(parser, "finetuning")
    return parser.parse_args()


if __name__ == "__main__":
    main()
