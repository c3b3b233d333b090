"""Recipes of zoo files: command lines, and the data that they need."""

from pathlib import Path

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.zoo.building.file_recipe import USERS_DATA, FileRecipe, FileStep
from kerasbert.zoo.catalog import ROOT

RECIPES = sorted((ROOT / "files").glob("*.toml"))


def test_options_become_a_command_line():
    step = FileStep(
        "train", {"task": "tagging", "train": "{train}", "learning_rate": 3e-4, "jit": True, "layer_mix": False}
    )
    assert step.arguments("small-en", Path("out"), {"train": "a.conll"}) == [
        *["train", "--model", "small-en", "--task", "tagging", "--train", "a.conll", "--learning-rate", "0.0003", "--jit"],
        *["--out", "out"],
    ]  # fmt: skip


def test_lists_are_joined_and_the_model_comes_first():
    arguments = FileStep("convert", {"length": [32, 64]}).arguments("runs/int8", Path("x.tflite"), {})
    assert arguments == ["convert", "runs/int8", "--length", "32,64", "--out", "x.tflite"]


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_shipped_recipes_are_valid(path):
    recipe = FileRecipe.read(path)
    used = recipe.used_data()
    data = recipe.data_files(**{name: "given" for name in USERS_DATA if name in used})
    for number, step in enumerate(recipe.steps, start=1):
        assert "{" not in " ".join(step.arguments("model", Path("out"), data))
        data[str(number)] = "result"


def test_missing_data_are_named():
    recipe = FileRecipe("small-en", "SST-2", (FileStep("train", {"train": "{train}"}), FileStep("convert", {})))
    with pytest.raises(KerasBertError, match=r"expected --train \(SST-2\), received none"):
        recipe.data_files(train=None, dev=None)
    assert recipe.data_files(train="a.tsv", dev=None) == {"train": "a.tsv"}


def test_data_without_use_are_named():
    recipe = FileRecipe("small-en", "bundled", (FileStep("train", {"train": "{train}"}), FileStep("convert", {})))
    with pytest.raises(KerasBertError, match=r"expected no --teacher for this file, received large; leave it out"):
        recipe.data_files(teacher="large")


def test_a_step_reads_the_result_that_it_names():
    data = {"teacher": "large", "1": "w/1-train", "2": "w/2-prune"}
    step = FileStep("distill", {"model": "{1}", "teacher": "{2}", "train": "{train}"})
    assert step.arguments("w/2-prune", Path("w/3-distill"), {**data, "train": "a.tsv"}) == [
        *["distill", "--student", "w/1-train", "--teacher", "w/2-prune", "--train", "a.tsv", "--out", "w/3-distill"]
    ]
    step = FileStep("pretrain", {"text": "{train}", "objectives": "masked-lm"})
    assert step.arguments("small-en", Path("w/1-pretrain"), {"train": "a.txt,b.txt"}) == [
        *[
            "pretrain",
            "--model",
            "small-en",
            "--text",
            "a.txt,b.txt",
            "--objectives",
            "masked-lm",
            "--out",
            "w/1-pretrain",
        ]
    ]
    step = FileStep("prune", {"model": "{teacher}", "vocabulary_of": "{1}"})
    assert step.arguments("w/1-train", Path("w/2-prune"), data) == [
        *["prune", "large", "--vocabulary-of", "w/1-train", "--out", "w/2-prune"]
    ]


def test_bundled_data_are_found():
    recipe = FileRecipe("small-en", "bundled", (FileStep("convert", {}),))
    files = recipe.data_files(dev="mine.jsonl")
    assert Path(files["train"]).is_file() and files["dev"] == "mine.jsonl"


def test_other_commands_are_refused(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text('encoder = "small-en"\ndata = "x"\n[[steps]]\ncommand = "delete"\n', "utf-8")
    with pytest.raises(KerasBertError, match="expected a command of pretrain, .*received 'delete'"):
        FileRecipe.read(path)


@pytest.mark.parametrize("name", ["2", "0", "texts"])
def test_placeholders_that_stand_for_nothing_are_refused(tmp_path, name):
    path = tmp_path / "a.toml"
    step = f'[[steps]]\ncommand = "prune"\nmodel = "{{1}}"\nvocabulary_of = "{{{name}}}"\n'
    path.write_text(
        f'encoder = "small-en"\ndata = "x"\n[[steps]]\ncommand = "train"\n{step}[[steps]]\ncommand = "convert"\n',
        "utf-8",
    )
    with pytest.raises(KerasBertError, match=rf"received \{{{name}\}} in step 2"):
        FileRecipe.read(path)
