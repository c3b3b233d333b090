"""Rate and epochs that a folder recommends, or that suit the size of a model."""

import json

import pytest

import kerasbert as kb
from kerasbert.checkpoints.hugging_face import resolve
from kerasbert.errors import KerasBertError
from kerasbert.files.training_recommendation import Recommendation
from kerasbert.training import TrainConfig
from kerasbert.training.recommended import (
    LEAST_STEPS,
    MOST_EPOCHS,
    recommended_for,
    recommended_for_folder,
    recommended_for_size,
    settled,
)


@pytest.mark.parametrize(
    ("hidden", "rate"), [(1024, 2e-5), (768, 5e-5), (512, 1e-4), (384, 3e-4), (256, 3e-4), (192, 5e-4), (32, 5e-4)]
)
def test_small_models_have_higher_rates(hidden, rate):
    assert recommended_for_size(hidden).learning_rate == rate


@pytest.mark.parametrize("name", ["small-en", "mini-en", "albert-small-en", "mobilebert-small-en"])
def test_the_encoders_of_the_zoo_carry_a_recommendation(name):
    found = recommended_for_folder(resolve(name))
    assert found.source == name and 5e-5 <= found.learning_rate <= 1e-3 and 3 <= found.epochs <= 20


def test_a_saved_model_keeps_the_recommendation_of_its_checkpoint(tiny, tmp_path):
    task = tiny.narrow()
    assert task.recommended is None and recommended_for(task) == recommended_for_size(8)
    task.recommended = Recommendation(2e-4, 5, "mine")
    task.save_pretrained(tmp_path / "one")
    loaded = kb.load_task(tmp_path / "one")
    assert loaded.recommended == Recommendation(2e-4, 5, "mine") == recommended_for_folder(tmp_path / "one")
    loaded.save_pretrained(tmp_path / "two")
    assert json.loads((tmp_path / "two/kerasbert.json").read_text())["training"] == {
        "learning_rate": 2e-4, "epochs": 5, "source": "mine",
    }  # fmt: skip


@pytest.mark.parametrize(
    "entry",
    [
        3,
        {},
        {"learning_rate": 0, "epochs": 1},
        {"learning_rate": "5e-4", "epochs": 1},
        {"learning_rate": 1, "epochs": 0},
    ],
)
def test_a_damaged_recommendation_is_refused(tiny, tmp_path, entry):
    tiny.narrow().save_pretrained(tmp_path)
    own = json.loads((tmp_path / "kerasbert.json").read_text())
    (tmp_path / "kerasbert.json").write_text(json.dumps({**own, "training": entry}))
    with pytest.raises(KerasBertError, match="expected training as a learning_rate above 0 and epochs of at least 1"):
        kb.load_task(tmp_path)


def test_missing_settings_are_filled_and_said(tiny):
    task = tiny.narrow()
    task.recommended = Recommendation(2e-4, 5, "mine")
    config, lines = settled(TrainConfig(), task, rows=32 * 1000)
    assert (config.learning_rate, config.epochs) == (2e-4, 5)
    assert lines == ["learning rate 0.0002, recommended for mine", "epochs 5, recommended for mine"]
    assert settled(config, task, rows=1) == (config, [])
    config, lines = settled(TrainConfig(epochs=1), task, rows=1, share=0.4)
    assert config.learning_rate == 8e-5 and lines == ["learning rate 8e-05, 0.4 of the 0.0002 recommended for mine"]


def test_small_data_have_more_epochs(tiny):
    task = tiny.narrow()
    config, lines = settled(TrainConfig(learning_rate=1.0), task, rows=32 * 40)
    assert config.epochs == LEAST_STEPS // 40 == 10
    assert lines == ["epochs 10, as 1,280 training rows are few: 400 steps"]
    assert settled(TrainConfig(), task, rows=2)[0].epochs == MOST_EPOCHS
