"""Recipes of zoo files: command lines, and the data that they need."""

from pathlib import Path

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.zoo.building.file_recipe import FileRecipe, FileStep
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
    data = recipe.data_files("train.tsv", "dev.tsv")
    for step in recipe.steps:
        assert "{" not in " ".join(step.arguments("model", Path("out"), data))


def test_missing_data_are_named():
    recipe = FileRecipe("small-en", "SST-2", (FileStep("train", {"train": "{train}"}), FileStep("convert", {})))
    with pytest.raises(KerasBertError, match=r"expected --train \(SST-2\), received none"):
        recipe.data_files(None, None)
    assert recipe.data_files("a.tsv", None) == {"train": "a.tsv"}


def test_bundled_data_are_found():
    recipe = FileRecipe("small-en", "bundled", (FileStep("convert", {}),))
    files = recipe.data_files(None, "mine.jsonl")
    assert Path(files["train"]).is_file() and files["dev"] == "mine.jsonl"


def test_other_commands_are_refused(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text('encoder = "small-en"\ndata = "x"\n[[steps]]\ncommand = "delete"\n', "utf-8")
    with pytest.raises(KerasBertError, match="expected a command of train, .*received 'delete'"):
        FileRecipe.read(path)
