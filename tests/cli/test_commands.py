"""Outputs of the commands on a tiny model."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest


def test_train_writes_a_record(made):
    record = json.loads(Path(made.float, "training.json").read_text())
    assert record["labels"] == ["neg", "pos"] and record["sequence_length"] == 16
    assert len(record["epochs"]) == 3 and set(record["epochs"][0]["dev"]) == {"accuracy", "F1", "MCC"}
    assert record["data"]["train"].startswith("train.tsv: 256 texts; labels neg: ")
    assert {"tensorflow", "kerasbert"} <= set(record["versions"])
    assert record["seconds"] > 0 and record["examples_per_second"] > 0


def test_the_best_epoch_is_the_one_saved(made, run, place):
    record = json.loads(Path(made.float, "training.json").read_text())
    accuracies = [epoch["dev"]["accuracy"] for epoch in record["epochs"]]
    assert record["kept_epoch"] == accuracies.index(max(accuracies)) + 1
    done = run("evaluate", made.float, "--data", place.dev, "--json")
    assert json.loads(done.out)["metrics"]["accuracy"] == pytest.approx(max(accuracies))
    assert max(accuracies) > 0.9


def test_quantize_compares_with_the_float_model(made):
    record = json.loads(Path(made.int8, "training.json").read_text())
    assert record["recipe"] == "static_wi8_ai8" and record["calibration_rows"] == 96
    assert json.loads(Path(made.int8, "config.json").read_text())["hidden_dropout_prob"] == 0.0
    assert not Path(made.int8, "run", "config.toml").exists()  # `kerasbert train` with it would not be this run
    assert record["dev_after"]["accuracy"] >= record["dev_before"]["accuracy"] - 0.1


@pytest.mark.long
def test_integer_only_quantization_with_distillation(made, run, place, tmp_path):
    out, file = tmp_path / "integer", tmp_path / "integer.tflite"
    done = run(
        "quantize", made.float, "--train", place.train, "--max-rows", "64", "--integer-only", "--calibration-method", "percentile",
        "--quant-delay", "0.25", "--freeze-ranges", "0.75", "--objectives", "soft-labels=1,hidden=1", "--learned-ranges",
        "--out", out, "--json",
    )  # fmt: skip
    record = json.loads(done.out)
    assert done.code == 0 and record["integer_only"] is True and record["ranges"] == "percentile"
    assert record["learned_ranges"] is True
    assert record["epochs"][0].keys() >= {"soft_labels", "hidden", "label_loss"}
    converted = json.loads(run("convert", out, "-o", file, "--json").out)
    inspected = json.loads(run("inspect", file, "--json").out)
    assert converted["integer_only"] is True
    assert all(converted[name] == inspected[name] for name in ("parameters", "bytes_per_parameter"))
    assert run("predict", file, "a good film").out.startswith("pos")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--recipe", "dynamic_wi8_afp32", "--integer-only"), "integer-only"),
        (("--calibration-method", "median"), "min-max, percentile, mse"),
        (("--quant-delay", "0.6", "--freeze-ranges", "0.5"), "received --quant-delay 0.6 and --freeze-ranges 0.5"),
        (("--objectives", "telepathy"), "'telepathy'"),
        (("--recipe", "dynamic_wi8_afp32", "--learned-ranges"), "static ranges of 8 bits"),
        (("--learned-ranges", "--epochs", "0"), "--epochs of at least 1 with --learned-ranges, received 0"),
    ],
)
def test_impossible_quantizations_are_rejected(made, run, place, tmp_path, options, message):
    done = run("quantize", made.float, "--train", place.train, *options, "--out", tmp_path / "out")
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1 and not (tmp_path / "out").exists()


@pytest.mark.long
def test_token_embeddings_of_4_bits_by_either_command(run, made, place, tmp_path):
    data = ["--train", place.train, "--max-rows", "32", "--epochs", "0", "--table-bits", "4"]
    assert run("quantize", made.float, "--recipe", "dynamic_wi8_afp32", *data, "--out", tmp_path / "q").code == 0
    assert run("convert", tmp_path / "q", "-o", tmp_path / "q.tflite").code == 0
    options = ["--recipe", "dynamic_wi8_afp32", "--table-bits", "4"]
    assert run("convert", made.float, *options, "-o", tmp_path / "c.tflite").code == 0
    texts = ["a good film", "so bad"]
    answers = [run("predict", tmp_path / name, *texts).out for name in ("q.tflite", "c.tflite")]
    assert answers[0] == answers[1]
    assert "EMBEDDING_LOOKUP" in run("inspect", tmp_path / "c.tflite", "--targets").out
    done = run("convert", made.float, "--table-bits", "4", "--target", "gpu", "-o", tmp_path / "g.tflite")
    assert done.code == 2 and "'cpu' or 'web'" in done.err and not (tmp_path / "g.tflite").exists()


@pytest.mark.parametrize("command", ["quantize", "convert", "diagnose"])
@pytest.mark.long_cases
def test_every_command_calibrates_on_as_many_examples(made, run, place, tmp_path, command):
    lines = Path(place.train).read_text("utf-8").splitlines(keepends=True)
    data, out = tmp_path / "data.tsv", tmp_path / "out.tflite"
    data.write_text("".join([*lines, *lines[1:], *lines[1:89]]), "utf-8")  # 600 rows
    arguments = {
        "quantize": ["--train", data, "--epochs", "0", "--out", tmp_path / "out"],
        "convert": ["--recipe", "static_wi8_ai8", "--calibration", data, "-o", out],
        "diagnose": ["--data", data, "--points", "1"],
    }
    done = run(command, made.float, *arguments[command])
    assert done.code == 0 and "note: 512 of 600 examples are used for calibration, sampled evenly" in done.err


@pytest.mark.long
def test_validate_writes_a_report_and_passes(made, run, place):
    report = place.folder / "report.html"
    done = run("validate", made.file, "--against", made.int8, "--data", place.train, "--on", "cpu", "--report", report)
    assert done.code == 0 and "passed" in done.out
    assert "<html" in report.read_text()


def test_validate_fails_without_the_backend(made, run, place, monkeypatch, tmp_path):
    monkeypatch.setenv("KERASBERT_HOME", str(tmp_path))
    done = run("validate", made.file, "--against", made.file, "--data", place.dev, "--on", "tflite-2.14", "--json")
    assert done.code == 1
    assert json.loads(done.out)["verdict"] == "incomplete"


@pytest.mark.long
def test_predict_in_lines_and_json(made, run, monkeypatch):
    done = run("predict", made.file, "a good film", "so\tbad")
    assert [line.split("\t")[::2] for line in done.out.splitlines()] == [["pos", "a good film"], ["neg", "so bad"]]
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"a good film\n\nso bad\r\n")))
    predictions = json.loads(run("predict", made.file, "-", "--json").out)["predictions"]
    assert [(each["text"], each["label"]) for each in predictions] == [("a good film", "pos"), ("so bad", "neg")]
    assert sum(predictions[0]["probabilities"].values()) == pytest.approx(1, abs=1e-3)


def test_predict_pairs_and_files(made, run, place):
    paired = run("predict", made.file, "good", "--pair", "bad")
    assert paired.code == 2 and paired.out == "" and "received a pair: 'good' with 'bad'" in paired.err
    assert len(run("predict", made.file, "--file", place.dev, "--max-rows", 5).out.splitlines()) == 5


@pytest.mark.long
def test_a_file_is_predicted_in_parts(made, run, place, monkeypatch, tmp_path):
    from kerasbert.cli import predict

    (tmp_path / "bad.jsonl").write_text('{"text": "good"}\n{"text": 1}\n{"text": "bad"}\n{"text": "fun"}\n[\n')
    (tmp_path / "lines.txt").write_text("good\n\nbad\nfun\n")
    files = (["--file", place.dev, "--max-rows", 5], ["--file", tmp_path / "lines.txt"])
    skipping = ["--file", tmp_path / "bad.jsonl", "--skip-bad-rows"]
    whole = [run("predict", made.file, *file, *form) for file in (*files, skipping) for form in ([], ["--json"])]
    monkeypatch.setattr(predict, "_ROWS_OF_PART", 2)
    parts = [run("predict", made.file, *file, *form) for file in (*files, skipping) for form in ([], ["--json"])]
    assert [(each.code, each.out) for each in parts] == [(each.code, each.out) for each in whole]
    assert parts[-1].err == whole[-1].err and "2 bad rows left out" in parts[-1].err
    failed = run("predict", made.file, "--file", tmp_path / "bad.jsonl")
    assert failed.code == 2 and failed.out == "" and "line 2: expected 'text' as a string, received int" in failed.err


@pytest.mark.long
def test_folder_and_file_predict_the_same(made, run):
    texts = ("a good film", "so bad")
    folder, file = (
        json.loads(run("predict", model, *texts, "--json").out)["predictions"] for model in (made.int8, made.file)
    )
    for one, other in zip(folder, file, strict=True):
        assert one["label"] == other["label"] and one["score"] == pytest.approx(other["score"], abs=0.02)


def test_truncation_is_noted_once(made, run):
    done = run("predict", made.file, "good " * 40, "bad " * 50, "fun")
    assert done.code == 0
    assert done.err.count("2 of 3 texts are too long for 16 tokens and were truncated") == 1


def test_vectors_are_printed_as_json_lines(place, run):
    done = run("predict", place.checkpoint, "good", "bad")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["text"] for row in rows] == ["good", "bad"] and len(rows[0]["vector"]) == 16
    assert max(len(number) for number in done.out.split("[")[1].split("]")[0].split(", ")) < 17  # a float32's digits


@pytest.mark.long
def test_vectors_are_written_to_a_new_file(place, run, tmp_path):
    out = tmp_path / "vectors.npy"
    assert run("predict", place.checkpoint, "good", "bad", "-o", out).out == f"wrote {out}: float32, 2 x 16\n"
    lines = run("predict", place.checkpoint, "good", "bad").out.splitlines()
    vectors = np.load(out)
    np.testing.assert_array_equal(vectors, np.array([json.loads(line)["vector"] for line in lines], np.float32))
    done = run("predict", place.checkpoint, "fun", "-o", out)
    assert done.code == 2 and "add --overwrite" in done.err and np.load(out).shape == (2, 16)
    done = run("predict", place.checkpoint, "good", "--pair", "bad", "-o", out, "--overwrite", "--json")
    assert json.loads(done.out)["shape"] == [1, 2, 16] and (np.load(out)[0] == vectors).all()


def test_a_pair_of_texts_prints_its_cosine(place, run):
    assert run("predict", place.checkpoint, "good", "--pair", "good").out == "1.0000\tgood\tgood\n"


@pytest.mark.long
def test_a_prompt_stands_before_each_text(place, run):
    def vectors(*arguments):
        return [json.loads(line)["vector"] for line in run("predict", place.checkpoint, *arguments).out.splitlines()]

    assert vectors("good", "bad", "--prompt", "the ") == vectors("the good", "the bad")
    assert vectors("good", "--prompt", "") == vectors("good")
    done = run("predict", place.checkpoint, "good", "--prompt-name", "query")
    assert done.code == 2 and "a model with prompts for prompt_name='query', received one without" in done.err
    done = run("predict", place.checkpoint, "good", "--prompt-name", "query", "--prompt", "a")
    assert done.code == 2 and "expected prompt or prompt_name, received both ('query')" in done.err


def test_vectors_are_short_on_a_terminal(monkeypatch):
    from kerasbert.cli.outputs import predictions
    from kerasbert.processors.embedding import Embedding

    monkeypatch.setattr(predictions, "terminal_width", lambda stream: 80)
    found = [{"text": "good", "vector": np.arange(6, dtype=np.float32)}]
    lines = str(predictions.format_predictions(Embedding(), found)).splitlines()
    assert lines[0].split() == ["dimensions", "norm", "first", "values", "text"]
    assert lines[2].split() == ["6", "7.4162", "0.0000", "1.0000", "2.0000", "3.0000", "...", "good"]


def test_only_vectors_are_written_to_a_file(made, run, tmp_path):
    done = run("predict", made.file, "good", "-o", tmp_path / "vectors.npy")
    assert done.code == 2 and "sentence encoder for --out" in done.err and done.err.count("\n") == 1
    done = run("predict", made.file, "good", "-o", tmp_path / "vectors.txt")
    assert done.code == 2 and ".npy" in done.err


@pytest.mark.long
def test_inspect_and_benchmark(made, run, monkeypatch):
    import tensorflow as tf

    assert json.loads(run("inspect", made.file, "--json").out)["recipe"] == "static_wi8_ai8"
    assert json.loads(run("inspect", made.int8, "--json").out)["quantization"] == "static_wi8_ai8"
    measured = json.loads(run("benchmark", made.file, "--runs", 3, "--json").out)["measurements"]
    assert measured[0]["latency"]["runs"] == 3
    for kind in ("intra", "inter"):  # a process may set them only before TensorFlow starts
        monkeypatch.setattr(tf.config.threading, f"set_{kind}_op_parallelism_threads", lambda count: None)
    assert json.loads(run("benchmark", made.float, "--runs", 2, "--json").out)["measurements"][0]["length"] == 16


def test_stdout_has_only_json(made, run, place):
    done = run("evaluate", made.int8, "--data", place.dev, "--json")
    assert set(json.loads(done.out)) == {"model", "data", "rows", "metrics", "seconds"}
    assert "dev.tsv: 64 texts" in done.err
