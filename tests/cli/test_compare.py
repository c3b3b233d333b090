"""`kerasbert compare` on a tiny model."""

import json

import pytest


@pytest.fixture(scope="module")
def compared(made, place, tmp_path_factory):
    """The outputs of one comparison, by name."""
    from kerasbert.cli import main

    folder = tmp_path_factory.mktemp("compared")
    outputs = [item for end in ("json", "csv", "png") for item in (f"--{_OPTIONS[end]}", str(folder / f"a.{end}"))]
    names = ["--name", "float", "--name", "int8"]
    assert main(["compare", made.float, made.file, *names, "--data", place.dev, "--no-latency", *outputs]) == 0
    return folder


_OPTIONS = {"json": "report", "csv": "csv", "png": "plot"}


def test_scores_are_those_of_evaluate(compared, made, place, run):
    found = json.loads((compared / "a.json").read_text("utf-8"))
    evaluated = json.loads(run("evaluate", made.file, "--data", place.dev, "--json").out)
    float_model, int8 = found["models"]
    assert [float_model["name"], int8["name"], found["rows"]] == ["float", "int8", 64]
    assert (
        int8["metrics"] == pytest.approx(evaluated["metrics"])
        and 0 < int8["smaller"] == float_model["bytes"] / int8["bytes"]
    )
    assert (compared / "a.csv").read_text("utf-8").startswith("model,path,") and (compared / "a.png").stat().st_size


def test_earlier_comparisons_are_joined(compared, run, tmp_path):
    other = tmp_path / "b.json"
    other.write_text((compared / "a.json").read_text("utf-8"), "utf-8")
    done = run("compare", compared / "a.json", other, "--html", tmp_path / "all.html")
    assert done.code == 0 and done.out.split("\n")[2].split() == ["model", "smaller", "a", "b", "mean"]
    assert "<table" in (tmp_path / "all.html").read_text("utf-8")
    refused = run("compare", compared / "a.json", other, "--data", other)
    assert refused.code == 2 and "expected no --data" in refused.err


def test_refused_in_one_line(compared, made, place, run, tmp_path):
    other = tmp_path / "other.tsv"
    other.write_text("text\nno label\n", "utf-8")
    cases = [
        ([made.float, made.file], "expected --data"),
        ([made.float, compared / "a.json", "--data", place.dev], "received both, such as"),
        ([made.float, "--data", place.dev], "two or more models"),
        ([made.float, made.float, "--data", place.dev], "twice"),
        ([made.file, made.float, "--data", other], "expected a column of labels"),
        ([made.file, made.float, "--data", place.dev, "--csv", compared / "a.csv"], "add --overwrite"),
        ([made.file, made.float, "--data", place.dev, "--name", "one"], "a different --name for each of the 2 models"),
        ([made.file, place.checkpoint, "--data", place.dev], "one task"),
    ]
    for arguments, message in cases:
        done = run("compare", *arguments)
        assert done.code == 2 and done.err.strip().splitlines()[-1].startswith("error: "), arguments
        assert message in done.err.strip().splitlines()[-1]
