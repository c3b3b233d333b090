"""Two heads on one encoder: trained together, saved in one folder, served by one file."""

import json

import numpy as np
import pytest
import tf_keras as keras

import kerasbert as kb
from kerasbert.errors import KerasBertError

pytestmark = pytest.mark.one_layer
HEADS = {
    "mood": {"task": "classification", "labels": ["negative", "positive"]},
    "words": {"task": "tagging", "labels": ["O", "B-good"]},
}
GOOD = {"good", "fine", "great", "lovely", "warm", "bright"}


@pytest.fixture(scope="module")
def parts(tiny, tmp_path_factory):
    keras.utils.set_random_seed(0)
    texts, moods = tiny.rows(96, seed=1)
    tags = [["B-good" if word in GOOD else "O" for word in text.split()] for text in texts]
    sentences = [text.split() for text in texts]
    task = kb.MultiTask(tiny.encoder(), tiny.tokenizer(), HEADS, sequence_length=16)
    task.compile(kb.adamw(1e-2))
    task.fit(sentences, {"mood": moods, "words": tags}, epochs=6, seed=0, verbose=0)
    folder = tmp_path_factory.mktemp("joint")
    task.save_pretrained(folder / "model")
    return task, sentences, {"mood": moods, "words": tags}, folder


@pytest.mark.long
def test_both_heads_learn_and_a_folder_keeps_them(parts):
    task, texts, labels, folder = parts
    scores = task.score(texts, labels)
    assert list(scores)[0] == "mean" and scores["mood accuracy"] > 0.8 and scores["words entity F1"] > 0.8, scores
    loaded = kb.load_task(folder / "model")
    assert isinstance(loaded, kb.MultiTask) and not loaded.has_new_head
    assert loaded.predictions(texts[:4]) == task.predictions(texts[:4])
    assert json.loads((folder / "model/kerasbert.json").read_text())["settings"]["heads"] == HEADS


@pytest.mark.long
def test_one_file_has_both_outputs_and_is_validated(parts):
    task, texts, labels, folder = parts
    int8 = kb.compression.quantize(task, "static_wi8_ai8", calibration=texts)
    path = folder / "joint.tflite"
    kb.export.convert(int8).save(path)
    text = " ".join(texts[0])
    found, expected = kb.open(path)(text), int8.predict([text])[0]
    assert found["mood"]["label"] == expected["mood"]["label"] and found["words"]["tags"] == expected["words"]["tags"]
    report = kb.export.validate(path, against=int8, data=(texts, labels))
    assert report.verdict != "failed"


@pytest.mark.long
def test_a_student_of_fewer_heads_learns_from_both_heads(parts):
    from kerasbert.compression.pruning.structured import prune_heads
    from kerasbert.training.distillation import Distiller, SoftLabels, student_from

    task, texts, labels, _ = parts
    student = student_from(prune_heads(task, heads={0: [1]}), 1)
    assert next(iter(student.encoder.stack())).attention.heads == 3
    assert student.head.own_variables().keys() == task.head.own_variables().keys()
    distiller = Distiller(student, task, [SoftLabels()], label_weight=0.5)
    distiller.compile(kb.adamw(1e-3), run_eagerly=True)
    history = distiller.fit(texts[:8], {name: rows[:8] for name, rows in labels.items()}, verbose=0).history
    assert np.isfinite(history["soft_labels"][0]) and np.isfinite(history["label_loss"][0])


def test_wrong_heads_and_labels_are_refused(parts, tiny):
    task, texts, labels, _ = parts
    for heads in (None, {}, {"a": {"task": "regression", "labels": ["x"]}}, {"a b": HEADS["mood"]}, {"a": 3}):
        with pytest.raises(KerasBertError, match="expected heads by name"):
            kb.MultiTask(tiny.encoder(), tiny.tokenizer(), heads)
    for wrong in (labels["mood"], {"mood": labels["mood"]}, {**labels, "other": []}):
        with pytest.raises(KerasBertError, match="expected labels as a dict with those of mood and words"):
            task.fit(texts, wrong, verbose=0)
    with pytest.raises(KerasBertError, match="with several heads, which stays in float"):
        kb.compression.quantize(task, "static_wi8_ai8", calibration=texts, integer_only=True)


def test_a_head_of_the_user_stands_beside_another(tiny):
    kb.register_head("first-token", lambda outputs: _first(outputs))
    heads = {**HEADS, "mood": {**HEADS["mood"], "head": "first-token"}}
    task = kb.MultiTask(tiny.encoder(), tiny.tokenizer(), heads, sequence_length=16)
    assert list(task.head.own_variables())[0].startswith("mood.closure_dense")
    assert np.shape(task(task.pack(["a good film"]))["mood"]) == (1, 2)


def _first(outputs):
    dense = keras.layers.Dense(outputs)
    return lambda encoded: dense(encoded.sequence[:, 0])


@pytest.mark.long
def test_the_command_reads_both_labels_from_one_file(tiny, tmp_path, capsys):
    from kerasbert.cli import main

    rows = [
        {"text": text, "mood": mood, "words": ["B-good" if word in GOOD else "O" for word in text.split()]}
        for text, mood in zip(*tiny.rows(24, seed=1), strict=True)
    ]
    data, model = tmp_path / "train.jsonl", str(tmp_path / "model")
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    tiny.narrow().save_pretrained(tmp_path / "encoder")
    command = [
        "train",
        "--task",
        "multi-task",
        "--model",
        str(tmp_path / "encoder"),
        "--new-head",
        "--train",
        str(data),
    ]
    assert main([*command, "--dev", str(data), "--epochs", "1", "--out", model]) == 0, capsys.readouterr().err
    assert list(kb.load_task(model).processor.heads) == list(HEADS)
    assert main(["evaluate", model, "--data", str(data)]) == 0, capsys.readouterr().err
    assert main(["predict", model, "a good film"]) == 0, capsys.readouterr().err
    assert "words\t" in capsys.readouterr().out
    data.write_text(json.dumps(rows[0]) + "\n" + '{"text": "a film", "mood": "positive"}\n')
    assert main([*command, "--out", str(tmp_path / "other")]) == 2
    assert "expected an object with 'words', received text, mood" in capsys.readouterr().err
