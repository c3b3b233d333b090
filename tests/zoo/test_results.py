"""The zoo's results: reading, replacing and selecting lines of the CSV."""

from dataclasses import replace

from kerasbert.zoo.results import Result, add_results, read_results, select

RESULT = Result(
    "small-en", "float", "SST-2 dev", "accuracy", 0.85, "0.002", "1 2 3", "keras", "a CPU", "2026-11-25", "abc", "python -m x"
)  # fmt: skip


def test_lines_are_read_back(tmp_path):
    path = tmp_path / "results.csv"
    add_results([RESULT, replace(RESULT, file="int8", backend="xnnpack", value=0.84)], path)
    assert read_results(path) == [RESULT, replace(RESULT, file="int8", backend="xnnpack", value=0.84)]


def test_new_measurement_replaces_the_old_one(tmp_path):
    path = tmp_path / "results.csv"
    add_results([RESULT], path)
    add_results([replace(RESULT, value=0.9, date="2026-11-26"), replace(RESULT, machine="another CPU")], path)
    assert [(each.value, each.machine) for each in read_results(path)] == [(0.9, "a CPU"), (0.85, "another CPU")]


def test_newest_line_comes_first():
    lines = [RESULT, replace(RESULT, machine="b", date="2026-12-01"), replace(RESULT, model="mini-en")]
    assert [each.date for each in select(lines, model="small-en")] == ["2026-12-01", "2026-11-25"]
