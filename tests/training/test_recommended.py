"""Rates and epochs that a folder recommends, or that suit the size of a model."""

import json

import pytest

import kerasbert as kb
from kerasbert.checkpoints.hugging_face import resolve
from kerasbert.compression.pruning.structured.layers import drop_layers
from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError
from kerasbert.files.training_recommendation import Recommendation
from kerasbert.training import RunFolder, TrainConfig, train
from kerasbert.training.distillation import student_from
from kerasbert.training.preparation import prepare
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
    assert found.head_factor == 10


def test_a_saved_model_keeps_the_recommendation_of_its_checkpoint(tiny, tmp_path):
    task = tiny.narrow()
    assert task.recommended is None and recommended_for(task) == recommended_for_size(8)
    task.recommended = Recommendation(2e-4, 5, "mine", 4.0)
    task.save_pretrained(tmp_path / "one")
    loaded = kb.load_task(tmp_path / "one")
    assert loaded.recommended == task.recommended == recommended_for_folder(tmp_path / "one")
    loaded.save_pretrained(tmp_path / "two")
    assert json.loads((tmp_path / "two/kerasbert.json").read_text())["training"] == {
        "learning_rate": 2e-4, "epochs": 5, "source": "mine", "head_factor": 4.0,
    }  # fmt: skip


def test_a_folder_without_a_factor_has_one_rate(tiny, tmp_path):
    task = tiny.narrow()
    task.recommended = Recommendation(2e-4, 5, "mine")
    task.save_pretrained(tmp_path)
    assert json.loads((tmp_path / "kerasbert.json").read_text())["training"].keys() == {
        "learning_rate",
        "epochs",
        "source",
    }
    assert recommended_for_folder(tmp_path).head_factor == 1


@pytest.mark.parametrize(
    "entry",
    [
        3,
        {},
        {"learning_rate": 0, "epochs": 1},
        {"learning_rate": "5e-4", "epochs": 1},
        {"learning_rate": 1, "epochs": 0},
        {"learning_rate": 1, "epochs": 1, "head_factor": 0},
        {"learning_rate": 1, "epochs": 1, "head_factor": "10"},
        {"learning_rate": 1, "epochs": 1, "head_factor": True},
    ],
)
@pytest.mark.long_cases
def test_a_damaged_recommendation_is_refused(tiny, tmp_path, entry):
    tiny.narrow().save_pretrained(tmp_path)
    own = json.loads((tmp_path / "kerasbert.json").read_text())
    (tmp_path / "kerasbert.json").write_text(json.dumps({**own, "training": entry}))
    with pytest.raises(
        KerasBertError, match="kerasbert.json, training: expected .*(learning_rate|epochs|head_factor).* received"
    ):
        kb.load_task(tmp_path)


def test_an_unknown_key_of_a_recommendation_is_noted(tiny, tmp_path, capsys):
    tiny.narrow().save_pretrained(tmp_path)
    own = json.loads((tmp_path / "kerasbert.json").read_text())
    own["training"] = {"learning_rate": 1e-3, "epochs": 2, "head_facter": 10}
    (tmp_path / "kerasbert.json").write_text(json.dumps(own))
    assert recommended_for_folder(tmp_path).head_factor == 1
    assert "1 unknown key (head_facter)" in capsys.readouterr().err


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
    assert config.epochs == LEAST_STEPS // 40 == 15
    assert lines == ["epochs 15, as 1,280 training rows are few: 600 steps"]
    assert settled(TrainConfig(), task, rows=2)[0].epochs == MOST_EPOCHS


def test_a_new_head_has_a_higher_rate(tiny):
    task = tiny.narrow()
    task.recommended = Recommendation(2e-4, 5, "mine", 10.0)
    config, lines = settled(TrainConfig(epochs=1), task, rows=1)
    assert config.rates == {"head": 2e-3, "pooler": 2e-3}
    assert (
        lines[1] == "learning rate 0.002 of the new head and the pooler, 10 times the encoder's, recommended for mine"
    )
    assert settled(config, task, rows=1) == (config, [])


def test_a_given_rate_is_that_of_all_parts(tiny):
    config = TrainConfig(learning_rate=1e-3, epochs=1)
    assert settled(config, tiny.narrow(), rows=1) == (config, [])


@pytest.mark.parametrize("rates", [{"head": 1e-5}, {"*": 0.0, "pooler": 1e-5}])
def test_given_rates_replace_that_of_the_head(tiny, rates):
    config, lines = settled(TrainConfig(epochs=1, rates=rates), tiny.narrow(), rows=1)
    assert config.rates == rates and len(lines) == 1


def test_a_trained_head_has_the_rate_of_the_encoder(tiny, tmp_path):
    task = tiny.narrow()
    assert task.has_new_head
    task.save_pretrained(tmp_path / "saved")
    loaded = kb.load_task(tmp_path / "saved")
    assert not loaded.has_new_head and settled(TrainConfig(epochs=1), loaded, rows=1)[0].rates == {}
    again = kb.load_task(tmp_path / "saved", new_head=True)
    assert again.has_new_head and settled(TrainConfig(epochs=1), again, rows=1)[0].rates == {
        "head": 5e-3,
        "pooler": 5e-3,
    }


def test_copies_know_what_their_model_knew(tiny, tmp_path):
    tiny.classifier().save_pretrained(tmp_path)
    task = kb.load_task(tmp_path)
    task.recommended = Recommendation(2e-4, 5, "mine", 10.0)
    quantized = kb.compression.quantize(task, "dynamic_wi8_afp32")
    shorter = drop_layers(task, layers=[0])
    student = student_from(task, layers=1)
    for copy in (quantized, shorter, student):
        assert (copy.recommended, copy.has_new_head) == (task.recommended, False)
        assert settled(TrainConfig(epochs=1), copy, rows=1, share=0.4)[1] == [
            "learning rate 8e-05, 0.4 of the 0.0002 recommended for mine"
        ]


def test_a_student_of_another_width_has_a_new_head(tiny):
    task = tiny.narrow()
    task.recommended, task.has_new_head = Recommendation(2e-4, 5, "mine", 10.0), False
    student = student_from(task, layers=1, hidden_size=4)
    assert student.has_new_head and student.recommended is None


@pytest.mark.long
def test_a_run_leaves_a_trained_head(tiny, tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text("a file of the user")
    task, data = tiny.narrow(), Dataset(path, *tiny.rows(8))
    config = TrainConfig(epochs=1)
    folder = RunFolder(tmp_path / "run")
    folder.begin(config)
    prepare(task, config, data)
    train(task, data, None, config, folder)
    assert not task.has_new_head


def test_a_tagger_has_no_pooler_to_train(tiny):
    task = kb.TokenTagger(tiny.encoder(), tiny.tokenizer(), labels=["O", "B-X", "I-X"], sequence_length=tiny.length)
    assert settled(TrainConfig(epochs=1), task, rows=1)[0].rates == {"head": 5e-3}


def test_a_factor_holds_for_every_recommended_rate(tiny, tmp_path):
    task = tiny.narrow()
    task.recommended = Recommendation(2e-4, 5, "mine", 4.0)
    task.save_pretrained(tmp_path)
    new = kb.TextClassifier(kb.load_task(tmp_path).encoder, task.tokenizer, labels=["a", "b"], sequence_length=16)
    new.recommended = task.recommended
    config, lines = settled(TrainConfig(rate_factor=0.5), new, 100)
    assert config.learning_rate == 1e-4 and config.rates["head"] == 4e-4 and "0.5 of the 0.0002" in lines[0]
    with pytest.raises(KerasBertError, match="--learning-rate or --rate-factor, received both"):
        TrainConfig(learning_rate=1e-3, rate_factor=0.5)
