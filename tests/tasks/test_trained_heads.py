"""A trained head is loaded whole, or the checkpoint is refused; a new one is made where it is asked for."""

import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import kerasbert as kb
from kerasbert.console import strictness
from kerasbert.errors import KerasBertError

LABELS = ("neg", "neu", "pos")
TEXTS = ["the film was good", "a dull book", "we saw it"]


@pytest.fixture(scope="module")
def folder(tiny, tmp_path_factory):
    """A trained classifier as transformers would have saved it."""
    folder = tmp_path_factory.mktemp("heads") / "model"
    tiny.narrow(seed=1, labels=LABELS).save_pretrained(folder)
    (folder / "kerasbert.json").unlink()
    return folder


@pytest.fixture(scope="module")
def expected(folder):
    return kb.load_task(folder).predict(TEXTS)


@pytest.fixture
def changed(folder, tmp_path):
    """Copies the folder with other names, further tensors and other keys of config.json; None removes a key."""

    def change(rename=lambda name: name, extra=None, **config):
        copy = shutil.copytree(folder, tmp_path / f"copy{len(list(tmp_path.iterdir()))}")
        tensors = {rename(name): values for name, values in load_file(copy / "model.safetensors").items()}
        tensors.pop(None, None)
        save_file({**tensors, **(extra or {})}, copy / "model.safetensors")
        entries = {**json.loads((copy / "config.json").read_text("utf-8")), **config}
        entries = {key: value for key, value in entries.items() if value is not None}
        (copy / "config.json").write_text(json.dumps(entries), "utf-8")
        return copy

    return change


def without(part):
    return lambda name: None if part in name else name


CRF = {"crf.transitions": np.ones((3, 3), np.float32), "lstm.weight_ih_l0": np.ones((8, 8), np.float32)}
ADAPTER = {"bert.encoder.layer.0.adapter.weight": np.ones((2, 8), np.float32)}
LAYER = "bert.encoder.layer.0"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rename": lambda name: name.replace("classifier.", "fc.")}, "missing: classifier.weight.* it has fc.*new_head"),
        ({"rename": without("classifier")}, "missing: classifier.weight, classifier.bias; .*new_head=True"),
        ({"rename": without("classifier.bias")}, "missing: classifier.bias; .*new_head=True"),
        ({"rename": without("pooler")}, "missing: bert.pooler.dense.weight, bert.pooler.dense.bias; .*new_head=True"),
        ({"extra": CRF}, r"also 2 other tensors \(crf.transitions, lstm.weight_ih_l0\); .*new_head=True"),
        ({"extra": CRF, "architectures": ["BertModel"]}, r"also 2 other tensors \(crf.transitions"),
        ({"extra": ADAPTER}, r"1 other tensor in it \(bert.encoder.layer.0.adapter.weight\)"),
        ({"extra": {"bert.encoder.layer.1.output.dense.bias": np.ones(8, np.float32)}}, "fewer layers than the weights"),
        ({"architectures": ["BertLSTMCRFForSequenceClassification"]}, "'BertLSTMCRFForSequenceClassification'; new_head"),
        ({"architectures": ["RobertaForSequenceClassification"]}, "'RobertaForSequenceClassification'; new_head"),
        ({"architectures": "BertForSequenceClassification"}, "architectures as a list with the name of one class"),
        ({"architectures": ["BertModel", "BertModel"]}, "architectures as a list with the name of one class"),
    ],
)  # fmt: skip
@pytest.mark.long_cases
def test_checkpoint_without_all_of_its_trained_model_is_an_error(changed, changes, message):
    with pytest.raises(KerasBertError, match=message) as caught:
        kb.TextClassifier.from_pretrained(changed(**changes), labels=LABELS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"rename": without("classifier")},
        {"rename": without("pooler")},
        {"architectures": ["BertLSTMCRFForSequenceClassification"]},
        {"architectures": None, "rename": without("classifier")},
    ],
)
def test_load_task_never_makes_a_random_head(changed, changes):
    folder = changed(**changes)
    for task in (None, "classification"):
        with pytest.raises(KerasBertError, match=r"new_head|labels with|labels=|task= \(--task\)"):
            kb.load_task(folder, task=task)


@pytest.mark.parametrize("missing", ["qa_outputs", "cls.predictions"])
def test_load_task_needs_the_head_of_a_task_without_labels(changed, missing):
    task = {"qa_outputs": "question-answering", "cls.predictions": "masked-lm"}[missing]
    folder = changed(architectures=["BertModel"], rename=without("classifier"))
    with pytest.raises(KerasBertError, match="expected a checkpoint with the trained head of .* received BertModel"):
        kb.load_task(folder, task=task)
    report = kb.load_task(folder, task=task, new_head=True).load_report
    assert all(name.startswith(missing) for name in report.missing) and report.missing


def test_new_head_is_made_on_request_and_named_in_a_note(changed, capsys):
    strictness.note_once.cache_clear()
    folder = changed(extra=CRF, architectures=["BertLSTMCRFForSequenceClassification"])
    model = kb.TextClassifier.from_pretrained(folder, labels=["a", "b"], new_head=True)
    assert model.load_report.missing == ("classifier.weight", "classifier.bias")
    note = capsys.readouterr().err
    assert f"note: {folder}: 23 tensors loaded, 2 initialized anew (classifier.weight, classifier.bias)" in note
    assert f"note: {folder}: left out 2 other tensors (crf.transitions, lstm.weight_ih_l0)" in note
    with kb.strict(), pytest.raises(KerasBertError, match="received 2 other tensors"):
        kb.TextClassifier.from_pretrained(folder, labels=["a", "b"], new_head=True)
    with pytest.raises(KerasBertError, match="new_head as True or False"):
        kb.TextClassifier.from_pretrained(folder, labels=["a", "b"], new_head="yes")


def test_new_head_does_not_excuse_unknown_layers_of_the_encoder(changed):
    with pytest.raises(KerasBertError, match=r"other tensor in it \(bert.encoder.layer.0.adapter.weight"):
        kb.TextClassifier.from_pretrained(changed(extra=ADAPTER), labels=["a", "b"], new_head=True)
    with pytest.raises(KerasBertError, match="fewer layers than the weights"):
        extra = {"encoder.layer.1.output.dense.bias": np.ones(8, np.float32)}
        kb.load_encoder(changed(extra=extra, rename=lambda name: name.removeprefix("bert.")))


def test_another_number_of_labels_needs_a_new_head(folder):
    with pytest.raises(KerasBertError, match="model of 2 labels .* with a head of 3 .*new_head=True"):
        kb.TextClassifier.from_pretrained(folder, labels=["a", "b"])
    model = kb.TextClassifier.from_pretrained(folder, labels=["a", "b"], new_head=True)
    trained = load_file(folder / "model.safetensors")
    np.testing.assert_array_equal(model.encoder.pooler.kernel.numpy().T, trained["bert.pooler.dense.weight"])
    assert model.classifier.kernel.shape == (8, 2)


def test_encoder_without_a_head_gets_a_new_one_and_a_note(changed, capsys):
    strictness.note_once.cache_clear()
    folder = changed(architectures=["BertModel"], rename=without("classifier"))
    kb.TextClassifier.from_pretrained(folder, labels=["a", "b"])
    assert "2 initialized anew (classifier.weight, classifier.bias)" in capsys.readouterr().err


def test_head_of_another_task_is_not_taken_for_this_task(folder):
    """Both are named `classifier` in transformers."""
    tagger = kb.TokenTagger.from_pretrained(folder, labels=LABELS)
    assert tagger.load_report.missing == ("classifier.weight", "classifier.bias")
    assert ("classifier.weight", "head of BertForSequenceClassification") in tagger.load_report.ignored
    with pytest.raises(KerasBertError, match="labels="):
        kb.TokenTagger.from_pretrained(folder)  # id2label holds the labels of the other head


@pytest.mark.parametrize("prefix", ["_orig_mod.", "module.", "model.", "module._orig_mod."])
@pytest.mark.long_cases
def test_prefixes_of_wrappers_are_removed(changed, expected, prefix):
    model = kb.load_task(changed(rename=lambda name: prefix + name))
    np.testing.assert_array_equal(model.predict(TEXTS), expected)


def test_tensor_with_and_without_a_prefix_is_an_error(changed):
    with pytest.raises(KerasBertError, match="each tensor once, received .*classifier.bias"):
        kb.load_task(changed(extra={"module.classifier.bias": np.zeros(3, np.float32)}))


@pytest.mark.long
def test_folder_without_architectures_is_loaded_by_the_name_of_its_task(changed, expected):
    folder = changed(architectures=None)
    for model in (kb.load_task(folder, task="classification"), kb.TextClassifier.from_pretrained(folder)):
        assert model.labels == LABELS
        np.testing.assert_array_equal(model.predict(TEXTS), expected)
    with pytest.raises(KerasBertError, match=r"expected a task of .*received 'None'; name it with task= \(--task\)"):
        kb.load_task(folder)
    with pytest.raises(
        KerasBertError, match="expected a task among .*received 'classifcation'; did you mean 'classification'"
    ):
        kb.load_task(folder, task="classifcation")  # fmt: skip


def test_head_of_another_problem_is_noted(changed, capsys):
    strictness.note_once.cache_clear()
    folder = changed(problem_type="multi_label_classification")
    assert kb.load_task(folder).problem == "multi_label" and "trained as" not in capsys.readouterr().err
    assert kb.load_task(folder, task="classification").problem == "single_label"
    assert f"note: {folder}: trained as problem 'multi_label', loaded as 'single_label'" in capsys.readouterr().err


@pytest.mark.long
def test_pretraining_checkpoint_is_loaded_as_each_of_its_tasks(tiny, tmp_path):
    kb.Pretrainer(tiny.encoder(), tiny.tokenizer(), sequence_length=16).save_pretrained(tmp_path / "saved")
    (tmp_path / "saved" / "kerasbert.json").unlink()
    for task in ("masked-lm", "next-sentence", "Pretrainer"):
        assert kb.load_task(tmp_path / "saved", task=task).load_report.missing == ()


@pytest.mark.parametrize(
    ("argument", "ours"),
    [("num_labels", "labels"), ("num_classes", "labels"), ("max_length", "sequence_length"),
     ("max_seq_length", "sequence_length"), ("ignore_mismatched_sizes", "new_head"), ("problm", "problem")],
)  # fmt: skip
def test_unknown_argument_is_an_error_that_names_ours(folder, argument, ours):
    with pytest.raises(KerasBertError, match=f"received {argument}=; write {ours}= instead"):
        kb.TextClassifier.from_pretrained(folder, **{argument: 3})
