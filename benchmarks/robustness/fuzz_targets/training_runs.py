"""Readers of what a training writes to be continued."""

import json
from pathlib import Path

import numpy as np

from benchmarks.robustness.fuzz_targets.samples import json_lines, tensors
from benchmarks.robustness.fuzz_targets.target import Target


def _run_folder(folder: Path) -> None:
    from kerasbert.training.run_folder import RunFolder

    run = RunFolder(folder)
    run.path.mkdir(exist_ok=True)
    for name in ("metrics.jsonl", "command.json"):
        (run.path / name).write_bytes((folder / name).read_bytes())
    run.state.touch()
    run.records()
    run.rewind(2)
    run.read_command()


_METRICS = json_lines(
    [{"step": 1, "loss": 0.5}, {"step": 2, "loss": float("nan"), "dev": {"accuracy": 0.5}}, {"step": 3, "loss": 0.1}]
)


def _state(folder: Path) -> None:
    from kerasbert.checkpoints.safetensors_file import read_file
    from kerasbert.training.checked_tensors import write_checked
    from kerasbert.training.state import read_state

    path = folder / "state.safetensors"
    write_checked(path, read_file(path))  # the checksum would refuse all
    read_state(path)


def _states() -> list[dict[str, bytes]]:
    import safetensors.numpy

    state = np.frombuffer(json.dumps({"step": 3, "epoch": 1, "best": 0.5}).encode(), np.uint8)
    return [{"state.safetensors": safetensors.numpy.save({**tensors(), "position": state}, {"format": "pt"})}]


TARGETS = [
    Target("run folder", _run_folder, lambda: [{"metrics.jsonl": _METRICS, "command.json": b'{"model": "m", "epochs": 3}'}]),
    Target("run state", _state, _states),
]  # fmt: skip
