"""`kerasbert train --fallback`: rows that are not trained on, a threshold from dev, and further commands on the model."""

import json

import pytest

import kerasbert as kb


@pytest.fixture
def data(tiny, tmp_path):
    for name, seed in (("train", 0), ("dev", 1)):
        rows = [*zip(*tiny.rows(30, seed=seed), strict=True), ("we saw it", "oos"), ("it was it", "oos")]
        (tmp_path / f"{name}.tsv").write_text("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows))
    return tmp_path


@pytest.mark.long
def test_a_model_is_trained_with_it_and_used(tiny, data, run):
    tiny.narrow().save_pretrained(data / "checkpoint")
    files = ["--train", data / "train.tsv", "--dev", data / "dev.tsv"]
    done = run(
        "train", "--model", data / "checkpoint", *files, "--fallback", "oos", "--epochs", "1", "--out", data / "run"
    )
    assert done.code == 0, done.err
    assert "2 rows of the label oos are not trained on" in done.err and "fallback_below" in done.err
    task = kb.load_task(data / "run")
    assert task.labels == ("negative", "positive") and task.fallback == "oos" and 0 <= task.fallback_below <= 1
    done = run("evaluate", data / "run", "--data", data / "dev.tsv", "--json")
    assert done.code == 0 and "out-of-scope recall" in json.dumps(json.loads(done.out))
    done = run("quantize", data / "run", *files, "--epochs", "1", "--out", data / "int8")
    assert done.code == 0, done.err
    assert kb.load_task(data / "int8").fallback == "oos"


def test_a_threshold_needs_dev_rows_or_a_number(data, run):
    done = run("train", "--model", "small-en", "--train", data / "train.tsv", "--fallback", "oos", "--out", data / "r")
    assert done.code == 2 and "expected --dev or --fallback-below with --fallback" in done.err


def test_other_tasks_have_none(data, run):
    done = run(
        "train",
        "--task",
        "regression",
        "--model",
        "small-en",
        "--train",
        data / "train.tsv",
        "--fallback",
        "oos",
        "--out",
        data / "r",
    )
    assert done.code == 2 and "expected --fallback with --task classification" in done.err
