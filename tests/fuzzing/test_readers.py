"""Every reader on 2,000 damaged files, the same on every run; `benchmarks/robustness/fuzz_readers.py` reads more, and replays one."""

import os
import tempfile
from pathlib import Path

import pytest

from benchmarks.robustness.fuzz_readers import fuzz
from benchmarks.robustness.fuzz_targets import targets

INPUTS = 2000


@pytest.mark.parametrize("target", [target for target in targets() if not target.slow], ids=lambda target: target.name)
def test_only_answers_and_our_errors_come_out(target):
    # Files in memory, where there is such a folder: 50,000 small ones are written.
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        counts = fuzz(target, 0, INPUTS, Path(folder))
    assert counts.clean, (
        f"{dict(counts.foreign)}, {counts.hangs} hangs, {counts.out_of_memory} over 1 GB; first: {counts.first}"
    )
    assert counts.inputs == INPUTS
    # A reader that refuses everything, or nothing, is not tried by these inputs.
    assert counts.accepted > INPUTS // 100 and counts.refused > INPUTS // 100
