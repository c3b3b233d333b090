"""Kills of the writer and of real commands at random moments: what is left under the final names, and what is cleared by the next.

    python benchmarks/kills.py                      # 600 kills of the writer, 60 of commands
    python benchmarks/kills.py --writer 100 --commands 0

A kill is SIGKILL. The writer saves over a folder again and again. The commands train, quantize, prune, distill, cut and convert the shipped
small model on bundled data, onto an earlier output with --overwrite, beside which a user keeps files. After each kill the old or the new
output must be whole under its own name, a saved state must be readable, the user's files must be as they were, and once the next command
has looked at the place nothing hidden may be left. Some trainings are then resumed to their end.
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
from pathlib import Path

import numpy as np
from record import add_output, load, versions, write

from kerasbert.checkpoints.hugging_face import read_config, write_folder_files
from kerasbert.checkpoints.readers import read_tensors
from kerasbert.checkpoints.safetensors_file import read_file
from kerasbert.cli.common.claims import claims
from kerasbert.cli.common.destinations import check_out_folder
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

SMALL_MODEL = Path(__file__).parents[1] / "zoo" / "small-en"
CONFIG = {
    "model_type": "bert", "vocab_size": 10, "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 4,
}  # fmt: skip
TRAINED = ("train", "quantize", "prune", "distill")
COMMANDS = (*TRAINED, "cut", "convert")


def main() -> None:
    options = _options()
    load_before = load()
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as base:
        result = {"seed": options.seed, "writer": kill_writer(Path(base), options.writer, draw)}
        print(json.dumps(result["writer"]), flush=True)
        if options.commands:
            result["commands"] = kill_commands(
                Path(base), options.commands, options.resumed, options.at_once, options.minutes, draw
            )
            print(json.dumps(result["commands"], indent=2), flush=True)
    write(options.json, result, versions(["tensorflow", "safetensors", "kerasbert"]), load_before)


# -- the writer --------------------------------------------------------------------------------------------------------------------------


def kill_writer(base: Path, count: int, draw: random.Random) -> dict[str, int]:
    """What was at the folder's name after each kill: `whole`, or what was wrong; and how often something hidden was left, and cleared."""
    seen = collections.Counter(kills=count, whole=0, hidden_left=0, not_cleared=0)
    out = base / "writer" / "model"
    for _ in range(count):
        if not out.exists():
            _make_writers_folder(out)
        child = os.fork()
        if child == 0:
            version = 0
            while True:
                version += 1
                _save(out, version)
        time.sleep(draw.uniform(0, 0.05))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        seen["hidden_left"] += len(_hidden(out.parent)) > 0
        seen[_writers_folder(out)] += 1
        recover(out, is_model_file)
        seen["not_cleared"] += len(_hidden(out.parent)) > 0
    return dict(seen)


def _save(out: Path, version: int) -> None:
    with atomic_folder(out, owns=is_model_file) as partial:
        write_folder_files(
            partial, {**CONFIG, "version": version}, {"w": np.full((2000, 8), version % 1000, np.float32)}
        )
        (partial / OWN_FILE).write_text(json.dumps({"version": version}))


def _make_writers_folder(out: Path) -> None:
    out.parent.mkdir(exist_ok=True)
    _save(out, 0)
    _put_beside(out)
    (out / "run").mkdir()
    with atomic_file(out / "run" / "state.safetensors") as partial:
        partial.write_text("state")


def _writers_folder(out: Path) -> str:
    if not out.is_dir():
        return "missing"
    try:
        found = {json.loads((out / OWN_FILE).read_text())["version"], read_config(out)["version"]}
        weights = read_tensors(out)["w"]
        whole = len(found) == 1 and (weights == next(iter(found)) % 1000).all()
        if not (out / "run" / "state.safetensors").is_file():
            return "state_lost"
        return "files_lost" if _beside(out) != USERS else "whole" if whole else "mixed"
    except (OSError, ValueError, KeyError, KerasBertError) as error:
        return f"damaged: {type(error).__name__}"


# -- commands ----------------------------------------------------------------------------------------------------------------------------


USERS = {"my_notes.txt": "notes", "data/rows.tsv": "rows"}


def kill_commands(base: Path, count: int, resumed: int, at_once: int, minutes: float, draw: random.Random) -> dict:
    """Counts by command. Raises RuntimeError where an unbroken command fails."""
    rows = base / "rows.tsv"
    split = assistant.load("train")
    lines = (f"{text}\t{intent}\n" for text, intent in zip(split.texts[:160], split.intents[:160], strict=True))
    rows.write_text("text\tlabel\n" + "".join(lines), "utf-8")
    made, seconds = base / "made", {}
    for name in ("train", "convert"):
        started = time.monotonic()
        place = made / name
        place.mkdir(parents=True)
        done = subprocess.run(_command(name, place, rows, made), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr}")
        seconds[name] = time.monotonic() - started
        print(f"{name}: {seconds[name]:.1f} s", flush=True)
    for name in COMMANDS:  # the others come onto what train made, and take about as long
        if name not in seconds:
            shutil.copytree(made / "train", made / name)
            seconds[name] = seconds["train"]
    until = time.monotonic() + 60 * minutes
    order = [COMMANDS[number % len(COMMANDS)] for number in range(count)]
    plans = [(name, number, draw.random() ** 0.5) for number, name in enumerate(order)]
    with ThreadPoolExecutor(at_once) as pool:
        jobs = [pool.submit(_kill_in_time, until, base, made, rows, seconds, *plan) for plan in plans]
        seen = [job.result() for job in jobs]
    unbroken = {name: round(value, 1) for name, value in seconds.items()}
    by_command = {name: collections.Counter() for name in COMMANDS}
    for name, found in zip(order, seen, strict=True):
        by_command[name].update(found)
    states = [base / "killed" / str(number) for number, name in enumerate(order) if seen[number]["state_whole"]]
    went_on = sum(_resume(place, rows, made, order[int(place.name)]) for place in states[:resumed])
    return {
        "seconds_unbroken": unbroken,
        "by_command": {name: dict(counts) for name, counts in by_command.items()},
        "together": dict(sum(by_command.values(), collections.Counter())),
        "states_resumed": len(states[:resumed]),
        "states_resumed_to_the_end": went_on,
    }


def _command(name: str, place: Path, rows: Path, made: Path, *more: str) -> list[str]:
    """Into `place / "out"`; convert into `place / "out.tflite"`."""
    trained = str(made / "train" / "out")
    learn = ["--train", str(rows), "--epochs", "3", "--batch-size", "16"]
    into = ["--out", str(place / "out"), *more]
    return [sys.executable, "-m", "kerasbert.cli"] + {
        "train": ["train", "--model", str(SMALL_MODEL), *learn, *into],
        "quantize": ["quantize", trained, *learn, *into],
        "prune": ["prune", trained, "--sparsity", "0.5", "--updates", "4", *learn, *into],
        "distill": ["distill", "--teacher", trained, "--layers", "1", *learn, *into],
        "cut": ["cut", trained, "--layers", "2", *into],
        "convert": ["convert", trained, "-o", str(place / "out.tflite")],
    }[name]


def _kill_in_time(until: float, *plan) -> collections.Counter:
    found = _kill(*plan) if time.monotonic() < until else collections.Counter(not_begun=1)
    print(plan[-3], dict(+found), flush=True)
    return found


def _kill(
    base: Path, made: Path, rows: Path, seconds: dict, name: str, number: int, share: float
) -> collections.Counter:
    place = base / "killed" / str(number)
    shutil.copytree(made / name, place)
    if name != "convert":
        _put_beside(place / "out")
    before = _digest(place, name)
    more = () if name == "convert" else ("--overwrite",)
    process = subprocess.Popen(
        _command(name, place, rows, made, *more), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )  # fmt: skip
    try:
        # The moment is a share of what the unbroken one took alone, late ones more often: the beginning is imports.
        process.wait(share * seconds[name])
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    found = collections.Counter(kills=process.returncode == -signal.SIGKILL, ended_before=process.returncode == 0)
    found["failed"] += process.returncode not in (0, -signal.SIGKILL)
    _wait_for_group(process.pid)
    found["hidden_left"] += bool(_hidden(place))
    found[_file_after(place, before) if name == "convert" else _folder_after(place / "out", before, found)] += 1
    if name == "convert":
        with atomic_file(place / "out.tflite") as partial:  # what the next command does first
            shutil.copy(made / "convert" / "out.tflite", partial)
        recover(place / "out.tflite.json", is_model_file)
    else:
        with claims(None):
            check_out_folder(place / "out", overwrite=True)
    found["not_cleared"] += bool(_hidden(place))
    return found


def _wait_for_group(group: int) -> None:
    """Until the killed one's child is gone too, which the system ends."""
    with contextlib.suppress(ProcessLookupError):
        while True:
            os.killpg(group, 0)
            time.sleep(0.05)


def _folder_after(out: Path, before: str, found: collections.Counter) -> str:
    if not is_model_folder(out):
        return "model_lost"
    if _beside(out) != USERS:
        return "files_lost"
    try:
        read_config(out)
        quantized = bool(read_own_config(out).get("quantization"))
        read_tensors(out)
        if quantized != (out / RANGES_FILE).is_file():
            return "mixed"
        if has_interrupted_run(out):
            found["state_whole"] += "card" in read_file(out / "run" / "state.safetensors")
    except KerasBertError:
        return "damaged"
    return "whole_old" if _digest(out.parent, "") == before else "whole_new"


def _file_after(place: Path, before: str) -> str:
    try:
        card = metadata.read(place / "out.tflite")
    except KerasBertError:
        return "damaged"
    told = json.loads((place / "out.tflite.json").read_text())["file"]["sha256"]
    if card is None or told != hashlib.sha256((place / "out.tflite").read_bytes()).hexdigest():
        return "mixed"
    return "whole_old" if _digest(place, "convert") == before else "whole_new"


def _resume(place: Path, rows: Path, made: Path, name: str) -> bool:
    done = subprocess.run(_command(name, place, rows, made, "--resume"), capture_output=True, text=True)
    return done.returncode == 0 and (place / "out" / "training.json").is_file() and _beside(place / "out") == USERS


def _digest(place: Path, name: str) -> str:
    file = place / "out.tflite" if name == "convert" else place / "out" / "model.safetensors"
    return f"{hashlib.sha256(file.read_bytes()).hexdigest()} {file.stat().st_ino}"


def _put_beside(out: Path) -> None:
    for name, text in USERS.items():
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text(text)


def _beside(out: Path) -> dict[str, str]:
    return {name: (out / name).read_text() if (out / name).is_file() else "" for name in USERS}


def _hidden(folder: Path) -> list[Path]:
    return [path for path in folder.rglob(".*") if "kerasbert-" in path.name]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--writer", type=int, default=600, metavar="N", help="kills of the writer (600)")
    parser.add_argument("--commands", type=int, default=60, metavar="N", help="kills of commands (60)")
    parser.add_argument(
        "--resumed", type=int, default=6, metavar="N", help="trainings that are resumed after their kill (6)"
    )
    parser.add_argument("--at-once", type=int, default=2, metavar="N", help="commands at a time (2)")
    parser.add_argument(
        "--minutes", type=float, default=60, metavar="M", help="begin no kill of a command after so many minutes (60)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the moments (1)")
    add_output(parser, "kills")
    return parser.parse_args()


if __name__ == "__main__":
    main()
