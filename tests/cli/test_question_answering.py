"""Questions without an answer, and the other settings of question answering, from training to the file."""

import json
import random
from pathlib import Path
from types import SimpleNamespace

import pytest

import kerasbert as kb
from kerasbert.export.tflite import metadata


def write_squad(path, rows: int, seed: int):
    """Write questions for the good word of a context; every third context has none."""
    draw, entries = random.Random(seed), []
    for row in range(rows):
        words = [draw.choice(["film", "plot", "a", "the", "is", "so"]) for _ in range(8)]
        impossible = row % 3 == 0
        place = draw.randrange(8)
        words[place] = "bad" if impossible else "great"
        context = " ".join(words)
        answers = [] if impossible else [{"text": "great", "answer_start": context.index("great")}]
        entry = {"id": str(row), "question": "is the film great", "answers": answers, "is_impossible": impossible}
        entries.append({"context": context, "qas": [entry]})
    path.write_text(json.dumps({"version": "v2.0", "data": [{"title": "films", "paragraphs": entries}]}), "utf-8")
    return str(path)


@pytest.fixture(scope="module")
def asked(place, tmp_path_factory):
    """SQuAD files `train` and `dev`, and the folder of a model that was trained on them with its messages."""
    from contextlib import redirect_stderr
    from io import StringIO

    from kerasbert.cli import main

    folder = tmp_path_factory.mktemp("squad")
    files = {
        "train": write_squad(folder / "train.json", 60, 1),
        "dev": write_squad(folder / "dev.json", 30, 2),
    }
    command = [
        "train",
        "--task",
        "question-answering",
        "--model",
        place.checkpoint,
        "--train",
        files["train"],
        "--dev",
        files["dev"],
    ]
    learn = [
        "--epochs",
        "2",
        "--learning-rate",
        "1e-2",
        "--batch-size",
        "8",
        "--stride",
        "10",
        "--max-answer-length",
        "4",
        "--answers",
        "5",
    ]
    messages = StringIO()
    with redirect_stderr(messages):
        assert main([*command, *learn, "--out", str(folder / "model")]) == 0
    return SimpleNamespace(folder=folder, model=str(folder / "model"), messages=messages.getvalue(), **files)


def settings_of(folder) -> dict:
    return json.loads(Path(folder, "kerasbert.json").read_text("utf-8"))["settings"]


def metrics_of(run, model, data, *options) -> dict:
    done = run("evaluate", model, "--data", data, *options, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)["metrics"]


@pytest.mark.long
def test_questions_without_an_answer_turn_no_answer_on(asked):
    assert "20 of 60 training questions have no answer: no_answer is on" in asked.messages
    settings = settings_of(asked.model)
    assert settings["no_answer"] is True
    assert {name: settings[name] for name in ("stride", "longest_answer", "n_best")} == {
        "stride": 10,
        "longest_answer": 4,
        "n_best": 5,
    }


def test_the_threshold_is_the_best_one_on_dev(asked):
    """Other thresholds are measured independently: none of them has a higher F1."""
    threshold = settings_of(asked.model)["no_answer_threshold"]
    assert threshold != 0 and f"no_answer_threshold {threshold:.4f}: the best by F1 on dev.json" in asked.messages
    record = json.loads(Path(asked.model, "training.json").read_text("utf-8"))
    kept = record["epochs"][record["kept_epoch"] - 1]
    assert kept["chosen"] == {"no_answer_threshold": threshold}
    task, dev = kb.load_task(asked.model), kb.data.read_squad(asked.dev)
    assert task.score(dev)["F1"] == pytest.approx(kept["dev"]["F1"])
    for other in (threshold - 1, threshold - 0.1, threshold + 0.1, threshold + 1):
        task.no_answer_threshold = other
        assert task.score(dev)["F1"] <= kept["dev"]["F1"] + 1e-9


def test_a_model_that_always_answers_is_said(asked, run):
    done = run("evaluate", asked.model, "--data", asked.dev, "--always-answer", "--json")
    assert "10 of 30 questions have no answer, but no_answer is off" in " ".join(done.err.split())
    assert json.loads(done.out)["metrics"]["no-answer accuracy"] < 0.5


@pytest.mark.long
def test_the_file_has_the_settings_of_the_folder_or_of_the_command(asked, run, tmp_path):
    file, other = tmp_path / "model.tflite", tmp_path / "other.tflite"
    assert run("convert", asked.model, "-o", file).code == 0
    processor, settings = metadata.read(file).processor, settings_of(asked.model)
    assert processor.no_answer and processor.no_answer_threshold == settings["no_answer_threshold"]
    assert metrics_of(run, file, asked.dev)["F1"] == pytest.approx(
        metrics_of(run, asked.model, asked.dev)["F1"], abs=0.1
    )
    options = [
        "--no-answer-threshold",
        "-2.5",
        "--stride",
        "7",
        "--max-answer-length",
        "3",
        "--answers",
        "2",
        "--unit",
        "character",
    ]
    assert run("convert", asked.model, "-o", other, *options).code == 0
    changed = metadata.read(other).processor
    assert (changed.no_answer_threshold, changed.stride, changed.longest_answer) == (-2.5, 7, 3)
    assert (changed.n_best, changed.unit) == (2, "character")
    question = ["is the film great", "--context", "the film is a plot"]
    for options, answered in ((["--no-answer-threshold", "-999"], False), (["--always-answer"], True)):
        (prediction,) = json.loads(run("predict", file, *question, *options, "--json").out)["predictions"]
        assert bool(prediction["answer"]) is answered


def test_predict_lists_as_many_answers(asked, run):
    question = ["is the film great", "--context", "the film is a great plot"]
    done = run("predict", asked.model, *question, "--answers", "3")
    assert len(done.out.splitlines()) == 3
    assert len(run("predict", asked.model, *question).out.splitlines()) == 1
    (prediction,) = json.loads(run("predict", asked.model, *question, "--answers", "3", "--json").out)["predictions"]
    scores = [each["score"] for each in prediction["best"]]
    assert len(scores) == 3 and scores == sorted(scores, reverse=True)


@pytest.mark.long
def test_a_saved_model_that_always_answers_learns_not_to(asked, run, tmp_path):
    command = ["train", "--task", "question-answering", "--epochs", "1", "--max-rows", "9"]
    first, second = tmp_path / "first", tmp_path / "second"
    done = run(*command, "--model", asked.model, "--train", asked.train, "--always-answer", "--out", first)
    assert (
        settings_of(first)["no_answer"] is False and "but no_answer is off: the model will always give one" in done.err
    )
    done = run(*command, "--model", first, "--train", asked.train, "--out", second)
    assert (
        settings_of(second)["no_answer"] is True
        and "3 of 9 training questions have no answer: no_answer is on" in done.err
    )
    assert "not tuned, as there are no dev questions without an answer" in done.err


@pytest.mark.long
def test_a_folder_of_another_library_does_not_tell(asked, run, tmp_path):
    import shutil

    folder = tmp_path / "foreign"
    shutil.copytree(asked.model, folder)
    (folder / "kerasbert.json").unlink()
    question = ["is the film great", "--context", "the film is a plot"]
    assert "--no-answer is for models of SQuAD 2.0" in " ".join(run("predict", folder, *question).err.split())
    options = ["--no-answer-threshold", "-999"]
    done = run("predict", folder, *question, *options)
    assert done.out.startswith("(no answer)") and "SQuAD" not in done.err
    assert run("convert", folder, "-o", tmp_path / "model.tflite", *options).code == 0
    for given, status in ([], "failed"), (options, "passed"):
        validated = run(
            "validate",
            tmp_path / "model.tflite",
            "--against",
            folder,
            "--data",
            asked.dev,
            "--rows",
            "4",
            *given,
            "--json",
        )
        (check,) = [each for each in json.loads(validated.out)["checks"] if each["name"] == "settings"]
        assert check["status"] == status and ("no_answer True" in check["reason"]) is (status == "failed")
    refused = run(
        "validate", tmp_path / "model.tflite", "--against", tmp_path / "model.tflite", "--data", asked.dev, *options
    )
    assert refused.code == 2 and "expected a folder to compare with for settings of question answering" in refused.err


def test_other_tasks_refuse_the_options(made, run, place):
    for command in (["predict", made.float, "good"], ["evaluate", made.file, "--data", place.dev]):
        done = run(*command, "--stride", "4")
        assert done.code == 2 and "expected --stride for question answering only" in done.err
