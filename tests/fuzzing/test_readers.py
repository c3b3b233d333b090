"""Every reader on 300 or 2,000 damaged files, the same on every run; `benchmarks/robustness/fuzz_readers.py` reads more."""

import json
import os
import tempfile
from pathlib import Path

import pytest

from benchmarks.robustness.fuzz_readers import _confusions, damaged, fuzz
from benchmarks.robustness.fuzz_targets import targets
from kerasbert.data.labels import LabelSet
from kerasbert.errors import KerasBertError

SLOW = 33  # Times that an input of a slow reader takes.


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # inside of keras-nlp
@pytest.mark.parametrize("target", targets(), ids=lambda target: target.name)
@pytest.mark.parametrize("inputs", [300, pytest.param(2000, marks=pytest.mark.long)])
def test_only_answers_and_our_errors_come_out(target, inputs):
    inputs = inputs // SLOW if target.slow else inputs
    # Files in memory, where there is such a folder: 50,000 small ones are written.
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        counts = fuzz(target, 0, inputs, Path(folder))
    assert counts.clean, (
        f"{dict(counts.foreign)}, {counts.hangs} hangs, {counts.out_of_memory} over 1 GB; first: {counts.first}"
    )
    assert counts.inputs == inputs
    # A reader that refuses everything, or nothing, is not tried by these inputs.
    assert counts.accepted > inputs // 100 and counts.refused > inputs // 100


def test_every_value_of_settings_is_given_another_type():
    """Also values inside of archives, headers of safetensors, lines of JSON and TOML."""
    names = {target.name: _confusions(target.name) for target in targets() if not target.slow}
    read = {
        "config.toml",
        "config.json",
        "kerasbert.json",
        "tokenizer settings",
        "tokenizer.json",
        "metadata of a .tflite",
        "safetensors",
    }
    assert all(len(names[name]) > 100 for name in read) and not names["plain text"]
    target = next(target for target in targets() if target.name == "kerasbert.json")
    seeds, problems = target.seeds(), set()
    for number in range(2 * len(names["kerasbert.json"])):
        if number % 2:
            files, name = damaged(target, number, seeds)
            if name == "kerasbert.json" and len(files[name]) < 1000:
                problems.add(
                    str(json.loads(files[name])["settings"]["problem"])[:20] if b'"problem"' in files[name] else ""
                )
    assert {"single_label", "None", "True", "0", "5", "nan", "[]", "{}", "1180591620717411303"[:20]} <= {
        each[:20] for each in problems
    } | {"1180591620717411303"[:20]}


def test_a_long_number_in_a_list_of_labels_is_refused_at_once():
    """A regular expression took exponential time."""
    with pytest.raises(KerasBertError):
        LabelSet.from_cells(['["a"]', "[" + "9" * 5000])
    assert LabelSet.from_cells(["[0 1]", "[1. 0.]"]).names == LabelSet.from_cells(["[0, 1]", "[1, 0]"]).names
