"""The commands of `benchmarks.accuracy.compression_methods` exist, with their options, and its table has what was measured only."""

import argparse
import re
from pathlib import Path

import pytest
import typer

from benchmarks.accuracy.compression_methods import METHODS, Task, command_words, sampled, summarize
from benchmarks.common.record import shorten_path
from benchmarks.reports.compression_tables import method_runs, methods
from kerasbert.cli.app import build_app
from kerasbert.processors import read_for

TASK = Task("sst2", Path("teacher"), Path("train.tsv"), Path("dev.tsv"), Path("more.tsv"), "single_label", 64)


@pytest.fixture(scope="module")
def arguments(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    return argparse.Namespace(rows=20, epochs=2, encoder="small-en", work=folder)


@pytest.mark.parametrize("name", METHODS)
def test_commands_have_options_of_kerasbert(name, arguments):
    for number, step in enumerate(METHODS[name].steps):
        words = command_words(arguments, TASK, step, 3, Path("texts.txt"))
        assert ("{before}" in words) == bool(number)
        assert not any("{" in word for word in words if word != "{before}")
        command = typer.main.get_command(build_app([words[0]])).commands[words[0]]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word for word in words if re.match(r"--[a-z]", word)} <= known


def test_private_folders_stay_out_of_results():
    words = ("mrpc=/home/me/train.tsv", "/home/me/runs/", "../dev.tsv", "hidden=1", "runs/sst2")
    assert [shorten_path(word) for word in words] == ["mrpc=train.tsv", "runs", "dev.tsv", "hidden=1", "runs/sst2"]


def test_rows_are_limited_only_where_asked(arguments):
    step = METHODS["soft_labels"].steps[0]
    assert "--max-rows" in command_words(arguments, TASK, step, 1, Path("texts.txt"))
    everything = argparse.Namespace(**{**vars(arguments), "rows": None})
    assert "--max-rows" not in command_words(everything, TASK, step, 1, Path("texts.txt"))


def test_pairs_are_examples(tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text("sentence1\tsentence2\tlabel\n" + "".join(f"a{n}\tb{n}\t{n % 2}\n" for n in range(400)))
    examples = sampled(read_for("single_label", file))
    assert (len(examples), examples[0], examples[-1]) == (200, ("a0", "b0"), ("a399", "b399"))


def test_a_table_has_the_mean_and_the_share_of_each_task():
    teacher = {"metric": "accuracy", "float": {"accuracy": 0.8}, "dev_rows": 872, "length": 64}
    run = {
        "task": "sst2",
        "method": "layers",
        "rows": 20,
        "epochs": 2,
        "bytes": 4e6,
        "gzip_bytes": 3e6,
        "latency_ratio": 0.5,
    }
    runs = [{**run, "seed": seed, "dev": {"accuracy": score}} for seed, score in ((1, 0.7), (2, 0.74))]
    result = summarize({"sst2": teacher, "mrpc": teacher}, runs)  # nothing of MRPC yet
    assert methods(result)[3:] == ["| 2 of 4 layers, search | 0.7200 ± 0.0283 (90.0) | 4.00 | 0.50 |"]
    assert method_runs(result)[2:] == ["| SST-2 | 20 | 2 | 2 | 872 | 64 |"]
