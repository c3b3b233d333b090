"""`--task` for folders that name no task, and `--new-head` for heads to replace."""

import json
import shutil

import pytest

from kerasbert.cli import main


@pytest.fixture(scope="module")
def classifier(tiny, tmp_path_factory):
    """A trained classifier as another program saved it, without `architectures`."""
    folder = tmp_path_factory.mktemp("task") / "model"
    tiny.narrow(seed=1, labels=("neg", "neu", "pos")).save_pretrained(folder)
    (folder / "kerasbert.json").unlink()
    config = json.loads((folder / "config.json").read_text("utf-8"))
    del config["architectures"]
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    return folder


def test_folder_without_architectures_predicts_as_the_named_task(run, classifier):
    shown = run("predict", classifier, "the film was good", "--task", "classification", "--json")
    assert shown.code == 0
    assert json.loads(shown.out)["predictions"][0]["label"] in ("neg", "neu", "pos")
    shown = run("predict", classifier, "the film was good")
    assert shown.code == 2 and "received 'None'; name it with task= (--task)" in shown.err
    shown = run("predict", classifier, "the film was good", "--task", "classifcation")
    assert shown.code == 2 and "did you mean 'classification'?" in shown.err


def test_random_head_is_an_error_of_every_command(run, classifier, tmp_path):
    """The head of another task is not there; no command goes on with a random one."""
    for command in (["convert", classifier, "-o", tmp_path / "x.tflite"], ["predict", classifier, "a [MASK]"]):
        shown = run(*command, "--task", "masked-lm")
        assert shown.code == 2 and "with the trained head of MaskedLM" in shown.err
    assert not (tmp_path / "x.tflite").exists()


def test_pretraining_checkpoint_fills_masks(run, tiny, tmp_path):
    from kerasbert.tasks import Pretrainer

    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    Pretrainer(tiny.encoder(**sizes), tiny.tokenizer(), sequence_length=16).save_pretrained(tmp_path / "saved")
    (tmp_path / "saved" / "kerasbert.json").unlink()
    shown = run("predict", tmp_path / "saved", "the film was [MASK]", "--task", "masked-lm", "--json")
    assert shown.code == 0 and len(json.loads(shown.out)["predictions"]) == 1
    assert "2 ignored" not in shown.err or "next-sentence head" in shown.err


@pytest.mark.long
def test_training_replaces_a_head_on_request(run, place, classifier, tmp_path):
    folder = shutil.copytree(classifier, tmp_path / "model")
    arguments = [
        "train",
        "--model",
        folder,
        "--train",
        place.dev,
        "--epochs",
        1,
        "--max-rows",
        32,
        "--out",
        tmp_path / "out",
    ]
    shown = run(*arguments)
    assert shown.code == 2 and "with a head of 3 (neg, neu, pos)" in shown.err and "--new-head" in shown.err
    assert main([str(word) for word in (*arguments, "--new-head")]) == 0
    settings = json.loads((tmp_path / "out" / "kerasbert.json").read_text("utf-8"))["settings"]
    assert settings["labels"] == ["neg", "pos"]
