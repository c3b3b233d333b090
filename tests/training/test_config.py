"""Training settings: options and TOML are equivalent, and errors name wrong settings."""

import dataclasses

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.training import TrainConfig

NAN, INFINITE = float("nan"), float("inf")


def test_toml_round_trip_keeps_every_setting(tmp_path):
    config = TrainConfig(
        model="a folder/with \"quotes\" and \\ and ä", train="\U0001f600/\x7f.tsv", epochs=3, learning_rate=1e-3, layer_mix=True,
        rates={"layers.-1": 1e-3, "head": 0.1}, top_layers=None, tensorboard=True, labels="a,b", early_stopping=2,
    )  # fmt: skip
    config.write(tmp_path / "config.toml")
    assert TrainConfig(**TrainConfig.read(tmp_path / "config.toml")) == config


@pytest.mark.parametrize("settings", [{"train": "a\udc80.tsv"}, {"labels": "a,\ud83d"}, {"rates": {"\ude00": 1.0}}])
def test_settings_that_are_not_utf8_are_rejected(settings):
    with pytest.raises(KerasBertError, match=f"expected --{[*settings][0]} in UTF-8, received .*; rename it, because"):
        TrainConfig(**settings)


def test_reading_toml_returns_only_its_settings(tmp_path):
    (tmp_path / "config.toml").write_text('model = "m"\nlearning_rate = 1\n[rates]\nhead = 1\n')
    assert TrainConfig.read(tmp_path / "config.toml") == {"model": "m", "learning_rate": 1.0, "rates": {"head": 1.0}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("epoch = 3", "expected the name of a setting, received 'epoch'; did you mean epochs\\?"),
        ('epochs = "3"', "expected epochs as a whole number of at least 1, received '3'"),
        ("epochs = true", "as a whole number of at least 1, received True"),
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
def test_wrong_toml_is_rejected(tmp_path, content, message):
    path = tmp_path / "config.toml"
    path.write_text(content)
    with pytest.raises(KerasBertError, match="config.toml.*" + message):
        TrainConfig.read(path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 0}, "--epochs of at least 1, received 0"),
        ({"epochs": 10**90}, "--epochs as a finite number of at least 1, received 1000"),
        *[
            ({"learning_rate": rate}, f"--learning-rate .*of at least 0, received {rate}")
            for rate in (-1.0, NAN, INFINITE)
        ],
        *[({name: INFINITE}, "as a finite number") for name in ("weight_decay", "clip_norm", "checkpoint_minutes")],
        *[
            ({"rates": {"head": rate}}, f"--rates .*of at least 0, received {rate} for 'head'")
            for rate in (-1.0, NAN, INFINITE)
        ],
        ({"labels": "a,b, a"}, "different names separated by commas, received 'a' twice"),
        ({"warmup": 1.5}, "--warmup from 0 to 1, received 1.5"),
        ({"batch_size": 0}, "--batch-size"),
        ({"schedule": "cubic"}, "as one of linear, cosine, constant, received 'cubic'"),
        ({"distribute": "cloud"}, "mirrored, multi-worker, tpu"),
        ({"freeze": "encoder", "adapters": 8}, "received --freeze and --adapters"),
    ],
)
def test_impossible_settings_are_rejected(settings, message):
    with pytest.raises(KerasBertError, match=message):
        TrainConfig(**settings)


def test_every_setting_has_a_help_text():
    for field in dataclasses.fields(TrainConfig):
        assert field.metadata["help"].endswith(".") and field.metadata["help"][0] != " "


def test_a_required_setting_is_returned_or_named():
    assert TrainConfig(out="runs/mine").require("out") == "runs/mine"
    with pytest.raises(KerasBertError, match="expected --label-column, received none; --help shows an example"):
        TrainConfig().require("label_column")
