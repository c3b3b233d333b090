"""Training runs of commands: configs, resuming after a kill, two workers."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from kerasbert.checkpoints.safetensors_file import read_tensors
from kerasbert.training.run_folder import RunFolder

COMMAND = [sys.executable, "-m", "kerasbert.cli"]


def options(place, out, **more):
    given = {"model": place.checkpoint, "train": place.train, "epochs": 2, "learning_rate": 1e-3, "out": out, **more}
    return [str(word) for name, value in given.items() for word in ("--" + name.replace("_", "-"), value)]


@pytest.fixture(scope="module")
def unbroken_run(place, tmp_path_factory, optimized_graphs):
    """The folder of a training, how often the tokenizer was called with each text, and how often the task ran on how many rows."""
    from kerasbert.cli import main
    from kerasbert.tasks.inference import InferenceModel
    from kerasbert.text.tokenizer import Tokenizer

    out, counts, encode = tmp_path_factory.mktemp("unbroken") / "out", Counter(), Tokenizer.encode
    runs, run_rows = [], InferenceModel.raw_results

    def counted(self, texts, *arguments, **options):
        counts.update(texts)
        return encode(self, texts, *arguments, **options)

    def noted(self, features, *arguments):
        runs.append(len(features))
        return run_rows(self, features, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tokenizer, "encode", counted)
        patch.setattr(InferenceModel, "raw_results", noted)
        assert main(["train", *options(place, out, dev=place.dev, dropout=0.2)]) == 0
    return out, counts, runs


@pytest.fixture(scope="module")
def unbroken(unbroken_run):
    return unbroken_run[0]


def test_a_training_tokenizes_each_row_once(place, unbroken_run):
    rows = [
        line.split("\t")[0] for name in (place.train, place.dev) for line in Path(name).read_text().splitlines()[1:]
    ]
    assert unbroken_run[1] == Counter(rows)


def test_a_training_runs_the_dev_rows_once_an_epoch(unbroken_run):
    assert unbroken_run[2] == [64, 64]


def same_weights(one: Path, other: Path, **tolerance) -> None:
    tensors, others = read_tensors(one), read_tensors(other)
    assert tensors.keys() == others.keys()
    for name, values in tensors.items():
        np.testing.assert_allclose(values, others[name], err_msg=name, **tolerance)


@pytest.mark.long
def test_a_killed_training_resumes_to_the_same_numbers(place, run, unbroken, tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen(
        [*COMMAND, "train", *options(place, out, dev=place.dev, dropout=0.2)],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    for line in process.stderr:
        if line.startswith("epoch 1 of"):
            break
    while not (out / "run" / "state.safetensors").is_file() and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    done = run("train", out / "run" / "config.toml", "--resume")
    assert done.code == 0 and "resumed after step" in done.err
    same_weights(out, unbroken, rtol=0, atol=0)
    records = [json.loads((folder / "training.json").read_text())["epochs"] for folder in (out, unbroken)]
    assert records[0] == records[1]
    again = run("train", out / "run" / "config.toml", "--resume")
    assert again.code == 2 and again.err.splitlines()[-1].endswith(
        f"expected an interrupted training in '{out}', received one that finished after 2 epochs; use its model, or replace --resume "
        "by --overwrite to start again"
    )


@pytest.mark.long
def test_an_interrupted_quantization_resumes_to_the_same_numbers(made, place, run, tmp_path, monkeypatch):
    from kerasbert.training import trainer

    def command(out, *more):
        learning = {
            "epochs": 2,
            "max-rows": 48,
            "batch-size": 16,
            "objectives": "soft-labels=1",
            "train": place.train,
            "out": out,
        }
        given = [word for name, value in learning.items() for word in (f"--{name}", value)]
        return ("quantize", made.float, "--recipe", "weight_only_wi8", *given, *more)

    whole, out = tmp_path / "whole", tmp_path / "out"
    assert run(*command(whole)).code == 0

    def saved_and_interrupted(path, *arguments):
        save_state(path, *arguments)
        raise KeyboardInterrupt

    save_state = trainer.save_state
    with monkeypatch.context() as patched:
        patched.setattr(trainer, "save_state", saved_and_interrupted)
        done = run(*command(out))
    assert done.code == 130 and "the same command with --resume continues" in done.err.splitlines()[-1]
    other = run(*command(out, "--resume", "--seed", 5))
    assert other.code == 2 and "received --seed 5 in place of 1" in other.err
    done = run(*command(out, "--resume"))
    assert done.code == 0 and "resumed after step" in done.err
    same_weights(out, whole, rtol=0, atol=0)
    again = run(*command(out, "--resume"))
    assert again.code == 2 and "received one that finished after 2 epochs" in again.err


@pytest.mark.long
def test_files_of_the_user_beside_a_model_are_kept(place, run, tmp_path):
    out = tmp_path / "out"
    command = ("train", *options(place, out, epochs=1, max_rows=32))
    assert run(*command).code == 0
    (out / "data").mkdir()
    (out / "data" / "rows.tsv").write_text("mine")
    (out / "run" / "my_notes.txt").write_text("mine")
    weights = (out / "model.safetensors").read_bytes()
    refused = run(*command, "--seed", 2)
    assert refused.code == 2 and "replace it with --overwrite" in refused.err
    assert (out / "model.safetensors").read_bytes() == weights
    assert run(*command, "--seed", 2, "--overwrite").code == 0
    assert (out / "model.safetensors").read_bytes() != weights
    assert (out / "data" / "rows.tsv").read_text() == (out / "run" / "my_notes.txt").read_text() == "mine"


@pytest.mark.long
def test_a_training_killed_before_its_record_resumes(place, run, tmp_path, monkeypatch):
    out = tmp_path / "out"

    def interrupt(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("kerasbert.training.plots.write_plots", interrupt)
        assert run("train", *options(place, out, epochs=1, max_rows=32)).code == 130
    assert not (out / "training.json").exists()
    assert run("train", *options(place, out, epochs=1, max_rows=32), "--resume").code == 0
    assert len(json.loads((out / "training.json").read_text())["epochs"]) == 1
    assert sorted(path.name for path in (out / "run").iterdir()) == ["config.toml", "metrics.jsonl", "plots"]


@pytest.mark.parametrize("option", [("--objectives", "soft-labels=1"), ("--quant-delay", "0.3"), ("--resume",)])
def test_training_options_need_epochs(run, place, tmp_path, option):
    done = run("quantize", "no such folder", "--train", place.train, "--epochs", 0, *option, "--out", tmp_path / "out")
    assert done.code == 2 and f"expected --epochs of at least 1 with {option[0]}, received 0" in done.err


def test_a_head_with_another_number_of_labels_is_rejected(made, place, run, tmp_path):
    three = tmp_path / "three.tsv"
    three.write_text("text\tlabel\n" + "good\ta\nbad\tb\nso\tc\n" * 8, "utf-8")
    done = run("train", "--model", made.float, "--train", three, "--out", tmp_path / "out")
    assert (
        done.code == 2
        and f"expected a model of 3 labels (a, b, c), received {made.float} with a head of 2 (neg, pos)" in done.err
    )


@pytest.mark.long
def test_a_config_repeats_a_training(place, run, unbroken, tmp_path):
    again = run("train", unbroken / "run" / "config.toml", "--out", tmp_path / "again", "--json")
    assert again.code == 0 and json.loads(again.out)["dev"]
    configs = [json.loads((out / "config.json").read_text()) for out in (tmp_path / "again", unbroken)]
    assert [config["hidden_dropout_prob"] for config in configs] == [0.2, 0.2]
    same_weights(tmp_path / "again", unbroken, rtol=0, atol=0)
    assert (tmp_path / "again" / "run" / "plots" / "confusion.png").stat().st_size > 1000


@pytest.mark.long
def test_two_workers_equal_one_process(place, run, tmp_path):
    still = tmp_path / "still"
    config = json.loads(Path(place.checkpoint, "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    still.mkdir()
    for path in Path(place.checkpoint).iterdir():
        if path.is_file():
            (still / path.name).write_bytes(path.read_bytes())
    (still / "config.json").write_text(json.dumps(config))
    ports = []
    for _ in range(2):
        with socket.socket() as free:
            free.bind(("localhost", 0))
            ports.append(free.getsockname()[1])
    cluster = {"worker": [f"localhost:{port}" for port in ports]}
    short = {"model": still, "epochs": 1, "batch_size": 4}
    workers = []
    for index in range(2):
        config = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
        command = [*COMMAND, "train", *options(place, tmp_path / "two", **short), "--distribute", "multi-worker"]
        workers.append(
            subprocess.Popen(
                command,
                env={**os.environ, "TF_CONFIG": config},
                stderr=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                text=True,
            )
        )
    messages = [worker.communicate(timeout=240)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], messages
    assert run("train", *options(place, tmp_path / "one", **short)).code == 0
    same_weights(tmp_path / "two", tmp_path / "one", rtol=1e-3, atol=2e-5)
    one, two = (RunFolder(tmp_path / name).records() for name in ("one", "two"))
    assert [record["step"] for record in one] == [50, 64]
    assert [record["loss"] for record in two] == pytest.approx([record["loss"] for record in one], rel=1e-4)


def test_multi_worker_needs_a_cluster(place, run, tmp_path, monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    done = run("train", *options(place, tmp_path / "out"), "--distribute", "multi-worker")
    assert done.code == 2 and "TF_CONFIG" in done.err.splitlines()[-1]


@pytest.mark.long
def test_a_run_without_a_rate_has_the_recommended_one_and_says_when_it_ends_at_chance(run, place, tmp_path):
    out = tmp_path / "out"
    data = ("--train", place.train, "--dev", place.dev, "--max-rows", 32, "--layer-decay", 0.01)  # hardly learns
    done = run("train", "--model", place.checkpoint, *data, "--epochs", 1, "--out", out, "--json")
    record = json.loads(done.out)
    assert done.code == 0 and "learning rate 0.0005, recommended for hidden size" in done.err
    assert RunFolder(out).config.read_text().count("learning_rate = 0.0005") == 1
    chance = record["chance"]
    assert chance["value"] == pytest.approx(record["dev"]["accuracy"])
    assert chance["at_chance"] and chance["answer"] in ("neg", "pos") and "warning: dev accuracy" in done.err
    assert json.loads((out / "training.json").read_text())["chance"] == chance


def test_top_layers_are_checked_before_data_is_read(run, place, tmp_path):
    done = run(
        "train",
        "--model",
        place.checkpoint,
        "--train",
        tmp_path / "none.tsv",
        "--top-layers",
        6,
        "--out",
        tmp_path / "o",
    )
    assert done.code == 2 and "expected --top-layers from 1 to 2, received 6; " in done.err


def test_training_rows_are_sampled_and_those_of_dev_stay(place, run, tmp_path):
    done = run("train", "--model", place.checkpoint, "--train", place.train, "--dev", "0.25", "--train-rows", "48", "--epochs", "1",
               "--out", tmp_path / "few")  # fmt: skip
    assert done.code == 0 and "dev: 64 of the 256 rows" in done.err and "training on 48 of the 192 rows" in done.err
    assert "train_rows = 48" in (tmp_path / "few" / "run" / "config.toml").read_text()


def test_cased_adds_capitals_to_the_vocabulary_and_the_embeddings(place, run, tmp_path):
    from kerasbert.text import tokenizer_from_folder

    rows, out = tmp_path / "rows.tsv", tmp_path / "cased"
    lines = Path(place.train).read_text("utf-8").splitlines()[:17]
    rows.write_text("\n".join([lines[0], *(line.capitalize() for line in lines[1:])]) + "\n", "utf-8")
    done = run("train", "--model", place.checkpoint, "--train", rows, "--epochs", 1, "--cased", "--out", out)
    assert done.code == 0 and "cased: " in done.err and " tokens with capitals were added to " in done.err
    before, after = tokenizer_from_folder(place.checkpoint), tokenizer_from_folder(out)
    assert not after.lowercase and after.vocabulary[: before.vocabulary_size] == before.vocabulary
    assert after.encode(["Good film"], max_length=9).input_ids != after.encode(["good film"], max_length=9).input_ids
    assert json.loads((out / "config.json").read_text())["vocab_size"] == after.vocabulary_size
    again = run("train", "--model", out, "--train", rows, "--epochs", 1, "--cased", "--out", tmp_path / "twice")
    assert again.code == 2 and "expected an uncased WordPiece tokenizer" in again.err
    both = run(
        "train", "--model", out, "--train", rows, "--cased", "--tokenize-as", "mediapipe", "--out", tmp_path / "b"
    )
    assert both.code == 2 and "leave one out" in both.err
