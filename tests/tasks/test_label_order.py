"""Labels in another order than the checkpoint's move the rows of the trained head."""

import json

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.cli import main
from kerasbert.console import strictness
from kerasbert.encoders import encoder_class
from kerasbert.errors import KerasBertError
from kerasbert.tasks.labels import label_order

pytestmark = pytest.mark.one_layer

LABELS = ("neg", "neu", "pos")
MOVED = ("pos", "neg", "neu")
ROWS = [2, 0, 1]  # the old row of each label of MOVED
TEXTS = ["the film was good", "a dull book", "we saw it"]
SMALL = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 40,
         "max_position_embeddings": 32, "initializer_range": 0.5}  # fmt: skip
FURTHER = {
    "albert": {"embedding_size": 4},
    "electra": {"embedding_size": 4},
    "mobilebert": {"embedding_size": 4, "intra_bottleneck_size": 4},
}


@pytest.mark.parametrize(
    ("requested", "trained", "rows"),
    [
        (LABELS, LABELS, [0, 1, 2]),
        (MOVED, LABELS, ROWS),
        (("POSITIVE", "negative "), ("NEGATIVE", "POSITIVE"), [1, 0]),
        (("1", "0"), ("LABEL_0", "LABEL_1"), [1, 0]),
        (("LABEL_1", "LABEL_0"), ("0", "1"), [1, 0]),
        (("a", "b", "c"), LABELS, [0, 1, 2]),
        (("neg", "neutral", "pos"), LABELS, [0, 1, 2]),
        (("1", "2", "3"), ("LABEL_0", "LABEL_1", "LABEL_2"), [0, 1, 2]),
        (("A", "a"), ("a", "A"), [1, 0]),
    ],
)
def test_rows_of_requested_labels(requested, trained, rows):
    assert label_order(requested, trained, "folder") == rows


@pytest.mark.parametrize("requested", [("pos", "neutral", "neg"), ("neutral", "neg", "pos"), ("neu", "b", "c")])
def test_moved_labels_beside_new_ones_are_an_error(requested):
    with pytest.raises(KerasBertError, match=r"folder: .*received '(pos|neg|neu)' in place . and new names .*new_head"):
        label_order(requested, LABELS, "folder")


def test_new_names_are_noted(capsys):
    strictness.note_once.cache_clear()
    label_order(("no", "yes"), ("neg", "pos"), "folder")
    expected = "note: folder: labels renamed in the order of the trained head: neg to no, pos to yes\n"
    assert capsys.readouterr().err == expected


@pytest.mark.long_cases("-bert-", "-mobilebert-")
@pytest.mark.parametrize("own", [True, False], ids=["kerasbert's folder", "transformers' folder"])
@pytest.mark.parametrize("model_type", ["bert", "albert", "mobilebert", "distilbert", "electra", "roberta"])
@pytest.mark.parametrize("kind", [kb.TextClassifier, kb.TokenTagger])
def test_probabilities_move_with_their_labels(tiny, tmp_path, model_type, kind, own):
    encoder = encoder_class(model_type)
    config = encoder.config_class(**{**SMALL, **FURTHER.get(model_type, {})})
    task = kind(encoder(config), tiny.tokenizer(), labels=LABELS, sequence_length=16)
    task.save_pretrained(tmp_path / "saved")
    if not own:
        (tmp_path / "saved" / "kerasbert.json").unlink()
    loaded = kind.from_pretrained(tmp_path / "saved", labels=MOVED)
    assert loaded.labels == MOVED
    ids = {"input_ids": np.array([[2, 7, 9, 3]], np.int32), "attention_mask": np.ones((1, 4), np.int32)}
    np.testing.assert_allclose(loaded(ids), task(ids).numpy()[..., ROWS], atol=1e-6)
    assert np.abs(loaded(ids) - task(ids)).max() > 1e-3
    loaded.save_pretrained(tmp_path / "again")
    assert json.loads((tmp_path / "again" / "config.json").read_text("utf-8"))["id2label"]["0"] == "pos"
    np.testing.assert_array_equal(kb.load_task(tmp_path / "again")(ids), loaded(ids))


@pytest.mark.long_cases("static")
@pytest.mark.parametrize("recipe", ["static_wi8_ai8", "dynamic_wi8_afp32", "integer only"])
def test_quantized_folder_moves_its_rows(tiny, tmp_path, recipe):
    integer_only = recipe == "integer only"
    recipe = "static_wi8_ai8" if integer_only else recipe
    float_model = tiny.narrow(seed=1, labels=LABELS)
    calibration = None if recipe.startswith("dynamic") else TEXTS
    task = kb.compression.quantize(float_model, recipe, calibration=calibration, integer_only=integer_only)
    task.save_pretrained(tmp_path / "saved")
    expected = task.predict(TEXTS)
    received = kb.TextClassifier.from_pretrained(tmp_path / "saved", labels=MOVED).predict(TEXTS)
    np.testing.assert_allclose(received, expected[:, ROWS], atol=1e-6)


@pytest.mark.long
def test_training_with_labels_in_another_order_keeps_what_the_head_has_learned(tiny, tmp_path):
    """Without training steps of any size, the model of `kerasbert train --labels` answers as before."""
    task = tiny.narrow(seed=1, labels=("neg", "pos"))
    task.save_pretrained(tmp_path / "saved")
    lines = [f"{text}\t{label}" for text, label in zip(TEXTS * 2, ["neg", "pos"] * 3, strict=True)]
    (tmp_path / "train.tsv").write_text("text\tlabel\n" + "\n".join(lines) + "\n", "utf-8")
    arguments = ["train", "--model", tmp_path / "saved", "--train", tmp_path / "train.tsv", "--labels", "pos,neg"]
    arguments += ["--learning-rate", "1e-12", "--epochs", 1, "--out", tmp_path / "out"]
    assert main(list(map(str, arguments))) == 0
    trained = kb.load_task(tmp_path / "out")
    assert trained.labels == ("pos", "neg")
    np.testing.assert_allclose(trained.predict(TEXTS), task.predict(TEXTS)[:, ::-1], atol=1e-5)


@pytest.mark.parametrize("problem", [float("nan"), [], 5, "ranking"])
@pytest.mark.long_cases
def test_a_folder_with_an_unknown_problem_is_refused(tiny, tmp_path, problem):
    tiny.narrow().save_pretrained(tmp_path)
    own = json.loads((tmp_path / "kerasbert.json").read_text())
    own["settings"]["problem"] = problem
    (tmp_path / "kerasbert.json").write_text(json.dumps(own))
    with pytest.raises(KerasBertError, match="problem"):
        kb.load_task(tmp_path)
