"""SIGKILL to the writer and to real commands at random moments: completeness of the outputs, and cleanup by the next command.

    python -m benchmarks.robustness.kills
    python -m benchmarks.robustness.kills --writer 100 --commands 0

Measured: outputs that are complete (old or new) under their final names, damaged or missing ones, hidden files left behind, and those that
the next command did not remove. By default 600 kills of the writer and 60 of commands. A command that ends before its kill counts as
`ended_before`, and is begun again.

The writer saves to one folder repeatedly. The commands train, quantize, prune, distill, cut and convert the shipped small model on bundled
data with --overwrite, onto an earlier output that has a user's files beside it. After each kill the user's files must be unchanged and a
saved state readable. Some trainings are resumed to their end.
"""

import argparse
import collections
import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.common import record
from kerasbert.checkpoints.hugging_face import read_config, write_folder_files
from kerasbert.checkpoints.readers import read_tensors
from kerasbert.checkpoints.safetensors_file import read_file
from kerasbert.cli.outputs.destinations import check_out_folder
from kerasbert.cli.process.claims import claims
from kerasbert.data import assistant
from kerasbert.errors import KerasBertError
from kerasbert.export.tflite import metadata
from kerasbert.files.atomic import atomic_file, atomic_folder, recover
from kerasbert.files.model_folder import (
    OWN_FILE,
    RANGES_FILE,
    has_interrupted_run,
    is_model_file,
    is_model_folder,
    read_own_config,
)

SMALL_MODEL = Path(__file__).parents[2] / "zoo" / "small-en"
CONFIG = {
    "model_type": "bert", "vocab_size": 10, "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 4,
}  # fmt: skip
TRAINED = ("train", "quantize", "prune", "distill")
COMMANDS = (*TRAINED, "prune_parts", "convert")


def main() -> None:
    """Kill the writer and the commands and write the result."""
    arguments, load = _arguments(), record.load()
    draw = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as base:
        result = {"seed": arguments.seed, "writer": kill_writer(Path(base), arguments.writer, draw)}
        print(json.dumps(result["writer"]), flush=True)
        if arguments.commands:
            result["commands"] = kill_commands(Path(base), arguments, draw)
            print(json.dumps(result["commands"], indent=2), flush=True)
    record.write(arguments.json, result, record.versions(["tensorflow", "safetensors", "kerasbert"]), load)


# -- the writer --------------------------------------------------------------------------------------------------------------------------


def kill_writer(base: Path, count: int, draw: random.Random) -> dict[str, int]:
    """Kill a process that saves one folder repeatedly.

    Args:
        base: A scratch folder.
        count: The number of kills.
        draw: The source of random moments.

    Returns:
        Counts of the states of the folder (`whole` or a fault), of hidden files, and of hidden files after the next recovery.
    """
    counts = collections.Counter(kills=count, whole=0, hidden_left=0, not_cleared=0)
    out = base / "writer" / "model"
    for _ in range(count):
        if not out.exists():
            _create_output(out)
        child = os.fork()
        if child == 0:
            version = 0
            while True:
                version += 1
                _save(out, version)
        time.sleep(draw.uniform(0, 0.05))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        counts["hidden_left"] += len(_hidden(out.parent)) > 0
        counts[_output_state(out)] += 1
        recover(out, is_model_file)
        counts["not_cleared"] += len(_hidden(out.parent)) > 0
    return dict(counts)


def _save(out: Path, version: int) -> None:
    with atomic_folder(out, owns=is_model_file) as partial:
        write_folder_files(
            partial, {**CONFIG, "version": version}, {"w": np.full((2000, 8), version % 1000, np.float32)}
        )
        (partial / OWN_FILE).write_text(json.dumps({"version": version}))


def _create_output(out: Path) -> None:
    out.parent.mkdir(exist_ok=True)
    _save(out, 0)
    _write_user_files(out)
    (out / "run").mkdir()
    with atomic_file(out / "run" / "state.safetensors") as partial:
        partial.write_text("state")


def _output_state(out: Path) -> str:
    if not out.is_dir():
        return "missing"
    try:
        versions = {json.loads((out / OWN_FILE).read_text())["version"], read_config(out)["version"]}
        weights = read_tensors(out)["w"]
        whole = len(versions) == 1 and (weights == next(iter(versions)) % 1000).all()
        if not (out / "run" / "state.safetensors").is_file():
            return "state_lost"
        return "files_lost" if _user_files(out) != USER_FILES else "whole" if whole else "mixed"
    except (OSError, ValueError, KeyError, KerasBertError) as error:
        return f"damaged: {type(error).__name__}"


# -- commands ----------------------------------------------------------------------------------------------------------------------------


USER_FILES = {"my_notes.txt": "notes", "data/rows.tsv": "rows"}


@dataclass(frozen=True)
class Setup:
    """Inputs of the commands to kill.

    Attributes:
        base: A scratch folder.
        rows: Labelled training data.
        outputs: Earlier outputs by command.
        seconds: The time of each command without a kill.
    """

    base: Path
    rows: Path
    outputs: Path
    seconds: dict[str, float]


def kill_commands(base: Path, arguments: argparse.Namespace, draw: random.Random) -> dict:
    """Kill commands at random moments and resume some of the trainings.

    Args:
        base: A scratch folder.
        arguments: Of the command line.
        draw: The source of random moments.

    Returns:
        Counts by command and in total.

    Raises:
        RuntimeError: When a command fails without a kill.
    """
    setup = _prepare(base)
    until = time.monotonic() + 60 * arguments.minutes
    order = [COMMANDS[number % len(COMMANDS)] for number in range(arguments.commands)]
    plans = [(name, number, draw.random() ** 0.5) for number, name in enumerate(order)]
    with ThreadPoolExecutor(arguments.at_once) as pool:
        jobs = [pool.submit(_kill_in_time, until, setup, *plan) for plan in plans]
        outcomes = [job.result() for job in jobs]
    by_command = {name: collections.Counter() for name in COMMANDS}
    for name, outcome in zip(order, outcomes, strict=True):
        by_command[name].update(outcome)
    states = [base / "killed" / str(number) for number in range(len(order)) if outcomes[number]["state_whole"]]
    resumed = states[: arguments.resumed]
    return {
        "seconds_unbroken": {name: round(value, 1) for name, value in setup.seconds.items()},
        "by_command": {name: dict(counts) for name, counts in by_command.items()},
        "together": dict(sum(by_command.values(), collections.Counter())),
        "states_resumed": len(resumed),
        "states_resumed_to_the_end": sum(_resume(place, setup, order[int(place.name)]) for place in resumed),
    }


def _prepare(base: Path) -> Setup:
    """Write the training data and run every command once without a kill."""
    setup = Setup(base, base / "rows.tsv", base / "made", {})
    split = assistant.load("train")
    lines = (f"{text}\t{intent}\n" for text, intent in zip(split.texts[:160], split.intents[:160], strict=True))
    setup.rows.write_text("text\tlabel\n" + "".join(lines), "utf-8")
    for name in ("train", "convert"):
        started = time.monotonic()
        place = setup.outputs / name
        place.mkdir(parents=True)
        process = subprocess.run(_command(name, place, setup), capture_output=True, text=True)
        if process.returncode:
            raise RuntimeError(f"{name}: {process.stderr}")
        setup.seconds[name] = time.monotonic() - started
        print(f"{name}: {setup.seconds[name]:.1f} s", flush=True)
    for name in COMMANDS:  # the others overwrite the output of train and take about as long
        if name not in setup.seconds:
            shutil.copytree(setup.outputs / "train", setup.outputs / name)
            setup.seconds[name] = setup.seconds["train"]
    return setup


def _command(name: str, place: Path, setup: Setup, *options: str) -> list[str]:
    """Build a command with the output `place / "out"`, or `place / "out.tflite"` for convert."""
    trained = str(setup.outputs / "train" / "out")
    training = ["--train", str(setup.rows), "--epochs", "3", "--batch-size", "16"]
    output = ["--out", str(place / "out"), *options]
    return [sys.executable, "-m", "kerasbert.cli"] + {
        "train": ["train", "--model", str(SMALL_MODEL), *training, *output],
        "quantize": ["quantize", trained, *training, *output],
        "prune": ["prune", trained, "--sparsity", "0.5", "--updates", "4", *training, *output],
        "distill": ["distill", "--teacher", trained, "--layers", "1", *training, *output],
        "prune_parts": ["prune", trained, "--layers", "2", *output],
        "convert": ["convert", trained, "-o", str(place / "out.tflite")],
    }[name]


def _kill_in_time(until: float, setup: Setup, name: str, number: int, fraction: float) -> collections.Counter:
    """Kill a command; one that ends before its kill is begun again, for an earlier kill."""
    counts = collections.Counter()
    while time.monotonic() < until and not counts["kills"]:
        shutil.rmtree(setup.base / "killed" / str(number), ignore_errors=True)
        counts.update(_kill(setup, name, number, fraction))
        fraction *= 0.7
    counts["not_begun"] += not counts
    print(name, dict(+counts), flush=True)
    return counts


def _kill(setup: Setup, name: str, number: int, fraction: float) -> collections.Counter:
    place = setup.base / "killed" / str(number)
    shutil.copytree(setup.outputs / name, place)
    if name != "convert":
        _write_user_files(place / "out")
    before = _digest(place, name)
    options = () if name == "convert" else ("--overwrite",)
    process = subprocess.Popen(
        _command(name, place, setup, *options), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )  # fmt: skip
    try:
        # The moment is a fraction of the time without a kill; late moments are more frequent, as imports come first.
        process.wait(fraction * setup.seconds[name])
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    counts = collections.Counter(kills=process.returncode == -signal.SIGKILL, ended_before=process.returncode == 0)
    counts["failed"] += process.returncode not in (0, -signal.SIGKILL)
    _wait_for_group(process.pid)
    counts["hidden_left"] += bool(_hidden(place))
    counts[_file_state(place, before) if name == "convert" else _folder_state(place / "out", before, counts)] += 1
    if name == "convert":
        with atomic_file(place / "out.tflite") as partial:  # like the start of the next command
            shutil.copy(setup.outputs / "convert" / "out.tflite", partial)
        recover(place / "out.tflite.json", is_model_file)
    else:
        with claims(None):
            check_out_folder(place / "out", overwrite=True)
    counts["not_cleared"] += bool(_hidden(place))
    return counts


def _wait_for_group(group: int) -> None:
    """Wait until the child of the killed process has ended too."""
    with contextlib.suppress(ProcessLookupError):
        while True:
            os.killpg(group, 0)
            time.sleep(0.05)


def _folder_state(out: Path, before: str, counts: collections.Counter) -> str:
    if not is_model_folder(out):
        return "model_lost"
    if _user_files(out) != USER_FILES:
        return "files_lost"
    try:
        read_config(out)
        quantized = bool(read_own_config(out).get("quantization"))
        read_tensors(out)
        if quantized != (out / RANGES_FILE).is_file():
            return "mixed"
        if has_interrupted_run(out):
            counts["state_whole"] += "card" in read_file(out / "run" / "state.safetensors")
    except KerasBertError:
        return "damaged"
    return "whole_old" if _digest(out.parent, "") == before else "whole_new"


def _file_state(place: Path, before: str) -> str:
    try:
        description = metadata.read(place / "out.tflite")
    except KerasBertError:
        return "damaged"
    recorded = json.loads((place / "out.tflite.json").read_text())["file"]["sha256"]
    if description is None or recorded != hashlib.sha256((place / "out.tflite").read_bytes()).hexdigest():
        return "mixed"
    return "whole_old" if _digest(place, "convert") == before else "whole_new"


def _resume(place: Path, setup: Setup, name: str) -> bool:
    process = subprocess.run(_command(name, place, setup, "--resume"), capture_output=True, text=True)
    return (
        process.returncode == 0
        and (place / "out" / "training.json").is_file()
        and _user_files(place / "out") == USER_FILES
    )


def _digest(place: Path, name: str) -> str:
    file = place / "out.tflite" if name == "convert" else place / "out" / "model.safetensors"
    return f"{hashlib.sha256(file.read_bytes()).hexdigest()} {file.stat().st_ino}"


def _write_user_files(out: Path) -> None:
    for name, text in USER_FILES.items():
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text(text)


def _user_files(out: Path) -> dict[str, str]:
    return {name: (out / name).read_text() if (out / name).is_file() else "" for name in USER_FILES}


def _hidden(folder: Path) -> list[Path]:
    return [path for path in folder.rglob(".*") if "kerasbert-" in path.name]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--writer", type=int, default=600, metavar="N", help="kills of the writer (600)")
    parser.add_argument("--commands", type=int, default=60, metavar="N", help="kills of commands (60)")
    parser.add_argument("--resumed", type=int, default=6, metavar="N", help="trainings to resume after their kill (6)")
    parser.add_argument("--at-once", type=int, default=2, metavar="N", help="commands at a time (2)")
    parser.add_argument("--minutes", type=float, default=60, metavar="M", help="time limit for starting commands (60)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random moments (1)")
    record.add_output(parser, "kills")
    return parser.parse_args()


if __name__ == "__main__":
    main()
