"""`kerasbert zoo` and names of the zoo as models of other commands."""

import json
import re
import subprocess
import sys

import pytest

from kerasbert.cli import main
from kerasbert.zoo.catalog import models


def run(capsys, *arguments):
    code = main([*map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_list_names_every_model(capsys):
    code, out, _ = run(capsys, "zoo", "list")
    assert code == 0 and all(model.name in out for model in models())


def test_list_of_a_task(capsys):
    code, out, _ = run(capsys, "zoo", "list", "--task", "embedding", "--json")
    listed = json.loads(out)["models"]
    assert code == 0 and [each["name"] for each in listed] == [m.name for m in models() if m.task == "embedding"]


def test_list_of_an_unknown_task_suggests_one(capsys):
    code, out, err = run(capsys, "zoo", "list", "--task", "embeding")
    assert code == 2 and out == "" and "did you mean embedding?" in err


def test_show_is_one_screen_and_all_adds_the_card(capsys):
    code, out, _ = run(capsys, "zoo", "show", "small-en")
    assert code == 0 and out.startswith("small-en\n") and len(out.splitlines()) <= 40
    assert re.search(r"\nSTS-B test +Spearman +0\.\d{4} +0\.\d{4}\n", out) and "\nLimits\n- English" in out
    assert "`kerasbert zoo show small-en --all` has every result" in out
    code, out, _ = run(capsys, "zoo", "show", "small-en", "--all")
    assert code == 0 and out.startswith("small-en\n") and "licence" in out and "model.safetensors" in out


def test_show_leaves_the_breaks_of_paragraphs_to_the_terminal(capsys):
    _, out, _ = run(capsys, "zoo", "show", "small-en", "--all")
    training = out.partition("\nTraining\n")[2].partition("\nLicences\n")[0].strip().split("\n\n")
    paragraphs = [part for part in training if not part.startswith("- ")]
    assert len(training) > len(paragraphs) > 3, "some paragraphs, and the list of stages"
    assert not any("\n" in paragraph for paragraph in paragraphs)
    assert any(paragraph.startswith("    kerasbert zoo build small-en") for paragraph in paragraphs)


@pytest.mark.parametrize("command", ["show", "get", "build"])
def test_unknown_name_suggests_the_nearest(capsys, tmp_path, command):
    (tmp_path / "a.txt").write_text("a text", "utf-8")
    more = {"get": ["-o", tmp_path / "x"], "build": ["--texts", tmp_path, "--teacher", "t", "-o", tmp_path / "x"]}
    code, out, err = run(capsys, "zoo", command, "smal-en", *more.get(command, []))
    assert code == 2 and out == "" and "did you mean small-en?" in err and not (tmp_path / "x").exists()


@pytest.mark.long
def test_build_shows_the_messages_of_its_commands(tmp_path):
    """In a process of its own, where descriptor 2 is not the terminal."""
    bad = tmp_path / "bad.conll"
    bad.write_text("one\n", "utf-8")
    command = [sys.executable, "-m", "kerasbert.cli", "zoo", "build", "entities", "--train", bad, "--dev", bad]
    done = subprocess.run([*command, "-o", tmp_path / "x.tflite"], text=True, stderr=subprocess.PIPE)
    assert done.returncode == 2 and str(bad) in done.stderr and "its message is above" in done.stderr, done.stderr


def test_get_copies_an_encoder_that_loads(capsys, tmp_path):
    from kerasbert.tasks import SentenceEncoder

    code, _, _ = run(capsys, "zoo", "get", "small-en", "-o", tmp_path / "mine")
    assert code == 0 and SentenceEncoder.from_pretrained(tmp_path / "mine").config.vocab_size > 5000
    code, _, err = run(capsys, "zoo", "get", "small-en", "-o", tmp_path / "mine")
    assert code == 2 and str(tmp_path / "mine") in err and "--overwrite" in err


def test_get_keeps_a_folder_of_other_files(capsys, tmp_path):
    (tmp_path / "letter.txt").write_text("dear", "utf-8")
    code, _, err = run(capsys, "zoo", "get", "small-en", "-o", tmp_path, "--overwrite")
    assert code == 2 and "holds other files" in err and (tmp_path / "letter.txt").read_text("utf-8") == "dear"


@pytest.mark.parametrize(("texts", "message"), [("none.txt", "received nothing there"), ("", "a folder without any")])
def test_build_without_texts_is_an_error(capsys, tmp_path, texts, message):
    (tmp_path / "empty").mkdir()
    path = tmp_path / texts if texts else tmp_path / "empty"
    code, _, err = run(capsys, "zoo", "build", "small-en", "--texts", path, "--teacher", "t", "-o", tmp_path / "out")
    assert code == 2 and message in err and not (tmp_path / "out").exists()


@pytest.mark.long
def test_build_saves_an_encoder_and_its_intermediate_results(capsys, tmp_path, monkeypatch):
    from kerasbert.data import assistant
    from kerasbert.tasks import SentenceEncoder
    from kerasbert.zoo.building.recipe import Recipe, Stage

    small = Recipe(2500, 200, 0, [Stage(1, 1e-3, batch_size=32)], layers=[0, 2])
    monkeypatch.setattr(Recipe, "read", lambda path: small)
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(assistant.load("train").texts[:200]), "utf-8")
    out = tmp_path / "out"
    arguments = ["--texts", texts, "--teacher", "mini-en", "--max-texts", "100", "-o", out]
    code, text, err = run(capsys, "zoo", "build", "small-en", *arguments)
    assert code == 0, err
    assert f"saved {out}" in text and f"{out}.build can be deleted" in text
    assert SentenceEncoder.from_pretrained(out).config.num_hidden_layers == 2
    code, text, err = run(capsys, "zoo", "build", "small-en", *arguments)
    assert code == 2 and text == "" and "--overwrite" in err


def test_commands_take_names_of_the_zoo(capsys):
    code, out, _ = run(capsys, "inspect", "small-en", "--json")
    assert code == 0 and json.loads(out)["model_type"] == "bert"
