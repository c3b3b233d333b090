"""`kerasbert fit`: from a table to the best file under a budget."""

import json

import pytest

import kerasbert as kb


@pytest.mark.long
def test_a_file_within_the_budget_is_written_and_the_same_command_goes_on(place, run, tmp_path):
    out = tmp_path / "best.tflite"
    command = ["fit", place.train, "--dev", place.dev, "--budget", "50 ms, 1 MB", "--model", place.checkpoint, "-o", out,
               "--epochs", "2", "--trials", "2", "--json"]  # fmt: skip
    done = run(*command)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["chosen"] == found["trials"][0]["name"] and found["trials"][0]["bytes"] == out.stat().st_size
    assert len(found["trials"]) == 2 and len(found["trials"][0]["commands"]) == 2
    assert kb.open(out)("good film")["label"] in ("pos", "neg")
    assert out.with_suffix(".html").is_file() and (tmp_path / "best.tflite.json").is_file()
    first = out.read_bytes()
    trained = sorted(tmp_path.glob("best.tflite.build/**/trained/model.safetensors"))
    times = [each.stat().st_mtime_ns for each in trained]
    again = run(*command)
    assert again.code == 0 and out.read_bytes() == first
    assert trained and [each.stat().st_mtime_ns for each in trained] == times  # nothing is trained twice
    other = run("fit", place.dev, *command[2:])
    assert other.code == 2 and "received other data" in other.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--budget", "fast", "--dev", "0.1"], "expected a budget as a list"),
        (["--budget", "2 ms"], "expected --dev"),
        (["--budget", "2 ms", "--dev", "0.1", "--recipe", "int3"], "expected a recipe"),
        (["--budget", "2 ms", "--dev", "0.1", "--work", "."], "which holds other files"),
    ],
)
def test_what_cannot_work_is_refused_before_any_training(options, message, place, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("hers")
    done = run("fit", place.train, "--model", place.checkpoint, "-o", tmp_path / "best.tflite", *options)
    assert done.code == 2 and message in done.err
    assert [each.name for each in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.long
def test_a_budget_that_nothing_meets_names_the_nearest(place, run, tmp_path):
    done = run(
        "fit",
        place.train,
        "--dev",
        "0.2",
        "--budget",
        "1 kB",
        "--model",
        place.checkpoint,
        "-o",
        tmp_path / "best.tflite",
    )
    assert done.code == 2 and f"the nearest is {place.checkpoint}" in done.err and "allow more" in done.err
    assert not (tmp_path / "best.tflite").exists()
