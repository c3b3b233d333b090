"""Pretraining that is killed, spread over two workers, or reads more text: equal numbers, and equal memory.

    python -m benchmarks.robustness.pretraining_runs --text corpus.txt --dev dev.txt

Measured with `kerasbert pretrain`, a small BERT and masked words:

- kills: runs that are killed with SIGKILL at `--kills` random moments, each time continued with `--resume`, against one that is not.
  Compared are all weights, every line of metrics.jsonl, and the losses of every evaluation.
- workers: the losses of two workers on this machine against those of one process, without dropout.
- memory: the peak memory of a run over the corpus, and over a corpus of that text `--times` times. Both make the same number of steps.
"""

import argparse
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.common import record
from kerasbert.checkpoints.readers import read_tensors
from kerasbert.training.run_folder import RunFolder

PACKAGES = ("tensorflow", "tf-keras", "numpy")
TIMES = ("seconds", "examples_per_second", "time", "date")  # of a record: differ from run to run


def main() -> None:
    """Measure all and write the result after each part."""
    arguments = _arguments()
    load, result = record.load(), {}
    with tempfile.TemporaryDirectory() as folder:
        for name, measure in {"kills": _kills, "workers": _workers, "memory": _memory}.items():
            if name in arguments.only:
                result[name] = measure(arguments, Path(folder))
                print(name, json.dumps(result[name]), flush=True)
                settings = {"model": arguments.model, "steps": arguments.steps}
                record.write(arguments.json, {**settings, **result}, record.versions(PACKAGES), load)


def _command(arguments: argparse.Namespace, out: Path, *further: object, text: Path | None = None) -> list[str]:
    settings = (
        "--model", arguments.model, "--text", text or arguments.text, "--out", out, "--objectives", arguments.objectives,
        "--masking", "words", "--batch-size", 16, "--sequence-length", 64, "--seed", 1, *further,
    )  # fmt: skip
    return [sys.executable, "-m", "kerasbert.cli", "pretrain", *map(str, settings)]


def _kills(arguments: argparse.Namespace, folder: Path) -> dict:
    whole = folder / "whole"
    saves = (
        "--dev", arguments.dev, "--steps", arguments.steps, "--evaluate-every", max(1, arguments.steps // 4),
        "--checkpoint-minutes", 0.02, "--vocabulary-size", arguments.vocabulary_size,
    )  # fmt: skip
    start = time.perf_counter()
    _finish(_command(arguments, whole, *saves))
    seconds = time.perf_counter() - start
    draw, kills, resumed = random.Random(arguments.seed), 0, []
    compared: list[dict] = []
    while True:
        out = folder / f"killed-{len(compared)}"
        begun = (out / "run" / "command.json").is_file()
        with (folder / "messages").open("w+", encoding="utf-8") as messages:
            command = _command(arguments, out, *saves, *(("--resume",) if begun else ()))
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=messages, text=True)
            try:
                # Behind the last kill a run goes on to its end.
                process.wait(draw.uniform(0, seconds) if kills < arguments.kills else None)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
            messages.seek(0)
            text = messages.read()
        resumed += [int(step) for step in re.findall(r"resumed after step (\d+)", text)]
        if process.returncode > 0:
            raise SystemExit(f"expected a run that goes on, received exit code {process.returncode}: {text[-800:]}")
        if process.returncode == 0:
            compared.append(_compared(whole, out))
            if kills >= arguments.kills:
                break
    return {"kills": kills, "seconds_of_a_run": seconds, "resumed_after_steps": resumed, "runs": compared}


def _compared(whole: Path, killed: Path) -> dict:
    """Compare a run that was killed with one that was not."""
    one, two = read_tensors(whole), read_tensors(killed)
    lines = [[_without_times(each) for each in RunFolder(run).records()] for run in (whole, killed)]
    ends = [json.loads((run / "training.json").read_text("utf-8"))["evaluations"] for run in (whole, killed)]
    return {
        "tensors": len(one), "equal_tensors": sum(np.array_equal(one[name], two[name]) for name in one),
        "lines_of_metrics": len(lines[0]), "equal_metrics": lines[0] == lines[1],
        "equal_evaluations": [_without_times(each) for each in ends[0]] == [_without_times(each) for each in ends[1]],
    }  # fmt: skip


def _workers(arguments: argparse.Namespace, folder: Path) -> dict:
    from kerasbert.encoders import preset

    config = preset(arguments.model).with_dropout(0.0).to_dict()
    sizes = folder / "sizes.json"
    sizes.write_text(json.dumps(config), "utf-8")
    given = ("--model", sizes, "--steps", 40, "--evaluate-every", 10, "--vocabulary-size", arguments.vocabulary_size)
    _finish(_command(arguments, folder / "one", *given))
    addresses = [f"localhost:{_free_port()}" for _ in range(2)]
    workers = []
    for index in range(2):
        cluster = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
        environment = {**os.environ, "TF_CONFIG": json.dumps(cluster)}
        command = _command(arguments, folder / "two", *given, "--distribute", "multi-worker")
        workers.append(subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL))
    if any(worker.wait() for worker in workers):
        raise SystemExit("expected exit code 0 of both workers, received others; see their messages")
    losses = [[each["loss"] for each in RunFolder(folder / name).records()] for name in ("one", "two")]
    differences = [abs(one - two) / one for one, two in zip(*losses, strict=True)]
    return {"one": losses[0], "two": losses[1], "largest_relative_difference": max(differences)}


def _memory(arguments: argparse.Namespace, folder: Path) -> dict:
    """Return the peak memory in megabytes by the size of the corpus."""
    larger, learned = folder / "larger", folder / "vocabulary"
    larger.mkdir()
    _finish(_command(arguments, learned, "--steps", 1, "--vocabulary-size", arguments.vocabulary_size))
    text = Path(arguments.text).read_bytes()
    for number in range(arguments.times):
        (larger / f"{number:02d}.txt").write_bytes(text)
    peaks = {}
    for name, path in (("corpus", Path(arguments.text)), ("larger", larger)):
        out = folder / f"memory-{name}"
        # Steps enough to read the whole corpus of the first run, learning rate and vocabulary as always.
        command = _command(
            arguments, out, "--tokenizer", learned, "--steps", arguments.steps, "--evaluate-every", arguments.steps, text=path
        )  # fmt: skip
        code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
        code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        answer = subprocess.run([sys.executable, "-c", code, *command], stdout=subprocess.PIPE, text=True, check=True)
        size = sum(each.stat().st_size for each in ([path] if path.is_file() else path.iterdir()))
        peaks[name] = {"corpus_bytes": size, "peak_megabytes": int(answer.stdout.split()[-1]) / 1024}
    return {**peaks, "ratio": peaks["larger"]["peak_megabytes"] / peaks["corpus"]["peak_megabytes"]}


def _finish(command: Sequence[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(
            f"expected exit code 0, received {done.returncode} of {' '.join(command)}: {done.stderr[-800:]}"
        )


def _without_times(record_: dict) -> dict:
    return {name: value for name, value in record_.items() if name not in TIMES}


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return free.getsockname()[1]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--text", required=True, metavar="FILE", help="running text, with blank lines between documents"
    )
    parser.add_argument("--dev", required=True, metavar="FILE", help="text of evaluations")
    parser.add_argument("--model", default="bert-tiny", help="preset (bert-tiny)")
    parser.add_argument("--objectives", default="masked-lm,next-sentence")
    parser.add_argument("--vocabulary-size", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--times", type=int, default=20, help="how often the larger corpus has the text")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only", nargs="+", choices=("kills", "workers", "memory"), default=["kills", "workers", "memory"]
    )
    record.add_output(parser, "pretraining_runs")
    return parser.parse_args()


if __name__ == "__main__":
    main()
