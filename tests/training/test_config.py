"""Recipes: flags and TOML are the same thing, and wrong settings are named."""

import dataclasses

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.training import TrainConfig

NAN, INFINITE = float("nan"), float("inf")


def test_toml_keeps_every_setting(tmp_path):
    recipe = TrainConfig(
        model="a folder/with \"quotes\" and \\ and ä", train="\U0001f600/\x7f.tsv", epochs=3, learning_rate=1e-3, layer_mix=True,
        rates={"layers.-1": 1e-3, "head": 0.1}, top_layers=None, tensorboard=True, labels="a,b", early_stopping=2,
    )  # fmt: skip
    recipe.write(tmp_path / "config.toml")
    assert TrainConfig(**TrainConfig.read(tmp_path / "config.toml")) == recipe


@pytest.mark.parametrize("settings", [{"train": "a\udc80.tsv"}, {"labels": "a,\ud83d"}, {"rates": {"\ude00": 1.0}}])
def test_names_that_no_file_can_hold(settings):
    with pytest.raises(KerasBertError, match=f"expected --{[*settings][0]} in UTF-8, received .*; rename it"):
        TrainConfig(**settings)


def test_toml_names_only_what_it_sets(tmp_path):
    (tmp_path / "config.toml").write_text('model = "m"\nlearning_rate = 1\n[rates]\nhead = 1\n')
    assert TrainConfig.read(tmp_path / "config.toml") == {"model": "m", "learning_rate": 1.0, "rates": {"head": 1.0}}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("epoch = 3", "received the setting 'epoch'.*did you mean epochs"),
        ('epochs = "3"', "expected epochs as a whole number, received '3'"),
        ("epochs = true", "as a whole number, received True"),
        ("epochs = 1.5", "as a whole number"),
        ("seed = [1]", "as a whole number"),
        ("layer_mix = 1", "as true or false"),
        ("rates = 3", "as a table of numbers"),
        ('rates = {head = "high"}', "received 'high' for 'head'"),
        ("model =", "in TOML"),
        ("epochs = " + "[" * 2000 + "]" * 2000, "more than 100 levels"),
        ("epochs = " + "9" * 5000, "in TOML, received .*digits"),
        ("learning_rate = 1" + "0" * 400, "more than 100 digits"),
        ("rates = {head = 1" + "0" * 400 + "}", "more than 100 digits"),
        ("rates = {head = true}", "received True for 'head'"),
    ],
)
def test_wrong_toml(tmp_path, content, told):
    path = tmp_path / "config.toml"
    path.write_text(content)
    with pytest.raises(KerasBertError, match="config.toml.*" + told.replace("(", r"\(")):
        TrainConfig.read(path)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"epochs": 0}, "--epochs of at least 1, received 0"),
        ({"epochs": 10**90}, "--epochs as a finite number of at least 1, received 1000"),
        *[
            ({"learning_rate": rate}, f"--learning-rate .*of at least 0, received {rate}")
            for rate in (-1.0, NAN, INFINITE)
        ],
        *[({name: INFINITE}, "as a finite number") for name in ("weight_decay", "clip_norm", "checkpoint_minutes")],
        *[
            ({"rates": {"head": rate}}, f"--rates of at least 0 and finite, received {rate} for 'head'")
            for rate in (-1.0, NAN, INFINITE)
        ],
        ({"labels": "a,b, a"}, "different names with commas, received 'a' twice"),
        ({"warmup": 1.5}, "--warmup from 0 to 1, received 1.5"),
        ({"batch_size": 0}, "--batch-size"),
        ({"schedule": "cubic"}, "linear, cosine, constant, received 'cubic'"),
        ({"distribute": "cloud"}, "mirrored, multi-worker, tpu"),
        ({"freeze": "encoder", "adapters": 8}, "received --freeze and --adapters"),
    ],
)
def test_settings_that_cannot_be(settings, told):
    with pytest.raises(KerasBertError, match=told):
        TrainConfig(**settings)


def test_every_setting_says_what_it_is():
    for field in dataclasses.fields(TrainConfig):
        assert field.metadata["help"].endswith(".") and field.metadata["help"][0] != " "
