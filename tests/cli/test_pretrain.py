"""`kerasbert pretrain`: from texts to a folder, resumed after a kill, on two workers."""

import json
import os
import re
import socket
import subprocess
import sys

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.checkpoints.safetensors_file import read_tensors
from kerasbert.training.run_folder import RunFolder
from tests.cli.conftest import WORDS

COMMAND = [sys.executable, "-m", "kerasbert.cli"]
SIZES = {
    "model_type": "bert", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16,
    "max_position_embeddings": 32, "vocab_size": 99,
}  # fmt: skip


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """`corpus` with two files of documents, `config`, and `still`, a config without dropout."""
    folder, random = tmp_path_factory.mktemp("pretrain"), np.random.default_rng(0)
    (folder / "corpus").mkdir()
    for number in range(2):
        lines = [" ".join(random.choice(WORDS, 12)) + ". " + " ".join(random.choice(WORDS, 9)) + "." for _ in range(90)]
        (folder / "corpus" / f"{number}.txt").write_text(
            "\n\n".join("\n".join(lines[i : i + 3]) for i in range(0, 90, 3))
        )
    (folder / "config.json").write_text(json.dumps(SIZES))
    still = {**SIZES, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "still.json").write_text(json.dumps(still))
    return folder


def options(texts, out, *more, **given):
    values = {
        "model": texts / "config.json", "text": texts / "corpus", "vocabulary_size": 60, "sequence_length": 16, "batch_size": 8,
        "steps": 8, "evaluate_every": 4, "out": out, **given,
    }  # fmt: skip
    return [
        "pretrain",
        *(str(word) for name, value in values.items() for word in ("--" + name.replace("_", "-"), value)),
        *more,
    ]


@pytest.fixture(scope="module")
def trained(texts, optimized_graphs):
    """A run with all of a paper's objectives, and its output as JSON."""
    from kerasbert.cli import main

    out = texts / "trained"
    assert main(options(texts, out, dev=texts / "corpus" / "1.txt")) == 0
    return out


def test_a_folder_is_a_checkpoint_with_losses_and_a_plot(trained, capsys):
    config, record = (json.loads((trained / name).read_text()) for name in ("config.json", "training.json"))
    assert config["architectures"] == ["BertForPreTraining"] and config["vocab_size"] == record["vocabulary"] <= 60
    assert [set(each) >= {"loss", "val_loss"} for each in record["evaluations"]] == [True, True]
    assert record["evaluations"][1]["val_loss"] < record["evaluations"][0]["val_loss"]
    assert (trained / "run" / "plots" / "loss.png").is_file()
    assert sorted(path.name for path in (trained / "run").iterdir()) == ["command.json", "metrics.jsonl", "plots"]
    assert not kb.MaskedLM.from_pretrained(trained).has_new_head
    assert not kb.NextSentencePredictor.from_pretrained(trained).has_new_head
    assert kb.TextClassifier.from_pretrained(trained, labels=["a", "b"]).has_new_head


@pytest.mark.long
def test_an_interrupted_run_resumes_to_the_same_numbers(texts, trained, run, tmp_path, monkeypatch):
    from kerasbert.training import trainer

    save_state, saved = trainer.save_state, []

    def interrupt(path, task, position):
        save_state(path, task, position)
        saved.append(position["step"])
        if position["step"] == 3:
            raise KeyboardInterrupt

    out = tmp_path / "out"
    command = options(texts, out, dev=texts / "corpus" / "1.txt", checkpoint_minutes=0)
    with monkeypatch.context() as patched:
        patched.setattr(trainer, "save_state", interrupt)
        assert run(*command).code == 130
    assert saved == [1, 2, 3]
    other = run(*command, "--resume", "--seed", 4)
    assert other.code == 2 and "received --seed 4 in place of 1" in other.err
    done = run(*command, "--resume")
    assert done.code == 0 and "resumed after step 3" in done.err and "learned a vocabulary" not in done.err
    one, two = (read_tensors(folder) for folder in (out, trained))
    assert one.keys() == two.keys() and all(np.array_equal(one[name], two[name]) for name in one)
    records = [json.loads((folder / "training.json").read_text())["evaluations"] for folder in (out, trained)]
    assert records[0] == records[1]
    again = run(*command, "--resume")
    assert again.code == 2 and "received one that finished" in again.err


@pytest.mark.long
def test_pretraining_continues_from_a_checkpoint(texts, trained, run, tmp_path):
    command = options(texts, tmp_path / "out", model=trained, objectives="masked-lm", masking="words", steps=2)
    command = [word for word in command if word not in ("--vocabulary-size", "60")]
    done = run(*command, "--json")
    assert done.code == 0 and "learning rate 0.0001: recommended for hidden size 8, continued" in done.err
    assert json.loads(done.out)["settings"]["objectives"] == {"masked-lm": 1.0}
    assert json.loads((tmp_path / "out" / "config.json").read_text())["architectures"] == ["BertForMaskedLM"]


@pytest.mark.long
def test_a_checkpoint_gets_more_positions(texts, trained, run, tmp_path):
    command = options(texts, tmp_path / "out", model=trained, objectives="masked-lm", steps=1, sequence_length=40)
    command = [word for word in command if word not in ("--vocabulary-size", "60")]
    done = run(*command, "--json")
    assert done.code == 0
    assert "note: the checkpoint has 32 positions; those up to 40 begin as copies of them and are learned" in done.err
    assert json.loads((tmp_path / "out" / "config.json").read_text())["max_position_embeddings"] == 40


@pytest.mark.parametrize(
    ("options_given", "message"),
    [
        ({"model": "bert-tyni"}, "bert-tyni"),
        ({"text": "none.txt"}, "expected a text file none.txt, received no such file"),
        ({"objectives": "mlm=1"}, "expected an objective of masked-lm, span-boundary, .*, received 'mlm'"),
        ({"objectives": "masked-lm=x"}, "expected objectives as NAME=WEIGHT, such as masked-lm=1, received 'masked-lm=x'"),
        ({"masking": "phrases"}, "expected --masking as one of tokens, words, n-grams, spans, entities"),
        ({"masking": "entities"}, "expected .jsonl files, whose lines have a text and its entities"),
        ({"vocabulary_size": 9}, "expected vocabulary_size of at least"),
        ({"accumulate": 9}, "expected --accumulate of at most the 8 rows of a batch, received 9"),
        ({"sequence_length": 64}, "expected --sequence-length from 3 to 32"),
        ({"generator_size": 0.01, "objectives": "replaced-tokens"}, "expected a generator_size that leaves 2 or more of 8"),
    ],
    ids=lambda value: next(iter(value.values())) if isinstance(value, dict) else "",
)  # fmt: skip
def test_what_cannot_be_done_is_refused_in_one_line(texts, run, tmp_path, options_given, message):
    done = run(*options(texts, tmp_path / "out", **options_given))
    assert done.code == 2
    assert re.search(message, done.err.splitlines()[-1]), done.err
    assert not (tmp_path / "out" / "config.json").exists()


def test_an_unknown_objective_is_refused_before_a_vocabulary_is_learned(texts, run, tmp_path):
    done = run(*options(texts, tmp_path / "out", objectives="masked-lm,mlm"))
    assert done.code == 2 and "learn" not in done.err and "received 'mlm'" in done.err


def test_texts_of_another_language_than_the_vocabulary_are_refused(texts, trained, run, tmp_path):
    (tmp_path / "texts.txt").write_text("Быстрая коричневая лиса прыгает через ленивую собаку.\n" * 20)
    done = run(*options(texts, tmp_path / "out", text=tmp_path / "texts.txt"), "--tokenizer", trained)
    assert done.code == 2 and "expected texts in the language of the vocabulary, received" in done.err


@pytest.mark.long
def test_one_document_has_no_next_sentences(texts, run, tmp_path):
    (tmp_path / "texts.txt").write_text("a good film.\na boring plot.\n" * 40)
    done = run(*options(texts, tmp_path / "out", text=tmp_path / "texts.txt", vocabulary_size=30))
    assert done.code == 2
    assert done.err.splitlines()[-1].startswith("error: expected two or more documents for next-sentence, received one")


@pytest.mark.long
def test_a_generator_wider_than_the_model_is_noted(texts, run, tmp_path):
    done = run(*options(texts, tmp_path / "out", objectives="replaced-tokens", generator_size=2, steps=2))
    assert done.code == 0 and "note: the generator is wider than the model" in done.err
    assert kb.MaskedLM.from_pretrained(tmp_path / "out" / "generator").encoder.config.hidden_size == 16


@pytest.mark.long
@pytest.mark.parametrize("objectives", ["masked-lm,next-sentence", "replaced-tokens"])
def test_two_workers_have_the_losses_of_one(texts, run, tmp_path, objectives):
    ports = []
    for _ in range(2):
        with socket.socket() as free:
            free.bind(("localhost", 0))
            ports.append(free.getsockname()[1])
    cluster = {"worker": [f"localhost:{port}" for port in ports]}
    given = {"model": texts / "still.json", "objectives": objectives, "masking": "spans"}
    workers = [
        subprocess.Popen(
            [*COMMAND, *options(texts, tmp_path / "two", distribute="multi-worker", **given)],
            env={
                **os.environ,
                "TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}}),
            },
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        for index in range(2)
    ]
    messages = [worker.communicate(timeout=240)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], messages
    assert run(*options(texts, tmp_path / "one", **given)).code == 0
    one, two = (RunFolder(tmp_path / name).records() for name in ("one", "two"))
    assert [record["loss"] for record in two] == pytest.approx([record["loss"] for record in one], rel=1e-4)
