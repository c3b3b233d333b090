"""Models on the same data, beside a reference."""

import csv
import json
import math
import shutil

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.export.comparison.models import files_of, named_models
from kerasbert.export.comparison.results import ComparedModel, Estimate
from kerasbert.export.runtime.keras_session import open_keras
from kerasbert.files.own_files import PLOT, REPORT, is_own


@pytest.fixture(scope="module")
def models(trained, tmp_path_factory):
    """`folder`, and `file` of the same model in int8 weights."""
    place = tmp_path_factory.mktemp("models")
    trained.save_pretrained(place / "float")
    kb.export.convert(trained, recipe="dynamic_wi8_afp32", length=16).save(place / "int8.tflite")
    return place


@pytest.fixture(scope="module")
def comparison(models, tiny):
    return kb.export.compare(
        {"float": models / "float", "int8": models / "int8.tflite"}, tiny.rows(90, seed=5), latency=False
    )


def test_scores_are_those_of_each_model(comparison, models, tiny):
    texts, labels = tiny.rows(90, seed=5)
    reference, int8 = comparison.models
    opened = [kb.open(models / name) for name in ("float", "int8.tflite")]
    scores = [model.score(texts, labels) for model in opened]
    assert [reference.metrics, int8.metrics] == [pytest.approx(score) for score in scores]
    assert comparison.metric == "accuracy" and int8.score.value == pytest.approx(scores[1]["accuracy"])
    assert int8.kept.value == pytest.approx(scores[1]["accuracy"] / scores[0]["accuracy"])
    answers = [[each["label"] for each in model(texts)] for model in opened]
    same = [first == second for first, second in zip(*answers, strict=True)]
    assert int8.agreement.value == pytest.approx(np.mean(same))
    for estimate in (reference.score, int8.score, int8.kept, int8.agreement):
        assert estimate.low < estimate.value <= estimate.high
    assert (reference.kept, reference.agreement) == (Estimate(1.0), Estimate(1.0))


def test_sizes_are_those_of_all_files(comparison, models):
    reference, int8 = comparison.models
    folder = sum(each.stat().st_size for each in (models / "float").iterdir())
    assert reference.bytes == folder and int8.bytes == (models / "int8.tflite").stat().st_size
    assert int8.smaller == pytest.approx(folder / int8.bytes) and 0 < int8.download_bytes < int8.bytes
    assert reference.parameters == int8.parameters == kb.export.inspect(models / "int8.tflite").parameters


def test_other_files_in_a_folder_do_not_count(models, tmp_path):
    shutil.copytree(models / "float", tmp_path / "float")
    (tmp_path / "float" / "notes.txt").write_text("x")
    (tmp_path / "float" / "run").mkdir()
    (tmp_path / "float" / "run" / "state.safetensors").write_bytes(b"x")
    named = named_models([models / "float", tmp_path / "float"])
    first, second = ({path.name for path in files_of(each, None)} for each in named)
    assert first == second and {"model.safetensors", "vocab.txt", "config.json"} < first
    assert (
        named[0].name.endswith("/float") and named[0].name != named[1].name
    )  # more of a path where its end is not enough


@pytest.mark.long
def test_labels_in_another_order_and_another_tokenizer(tiny, models, trained):
    import tf_keras as keras

    turned = kb.TextClassifier.from_pretrained(models / "float", labels=tiny.labels[::-1])
    keras.utils.set_random_seed(1)
    words = kb.text.WordPiece([*tiny.vocabulary[:5], *tiny.vocabulary[:4:-1]])
    other = kb.TextClassifier(tiny.encoder(), words, labels=tiny.labels, sequence_length=16)
    texts, labels = tiny.rows(40, seed=6)
    found = kb.export.compare({"first": trained, "turned": turned, "other": other}, (texts, labels), latency=False)
    first, second, third = found.models
    assert first.score == second.score and second.agreement.value == 1 and second.path == "turned"
    assert third.metrics == pytest.approx(other.score(texts, labels))
    with pytest.raises(KerasBertError, match="labels by name, because first and turned have them in another order"):
        numbers = [tiny.labels.index(label) for label in labels]
        kb.export.compare({"first": trained, "turned": turned}, (texts, numbers), latency=False)


@pytest.mark.long
def test_models_are_timed_in_turn(models, tiny, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        shutil.copy(models / "int8.tflite", tmp_path / name / "m.tflite")
    paths = [tmp_path / name / "m.tflite" for name in ("a", "b")]
    found = kb.export.compare(paths, tiny.rows(6), runs=8, against=paths[1])
    assert [each.name for each in found.models] == ["b/m.tflite", "a/m.tflite"] and found.against == "b/m.tflite"
    for each in found.models:
        assert 0 < each.latency.p25 <= each.latency.p50 <= each.latency.p75 and each.latency.runs == 12  # two rounds
        assert each.memory_bytes > 0
    faster = found.models[1].faster
    assert faster.low <= faster.value <= faster.high
    assert faster.value == pytest.approx(found.models[0].latency.p50 / found.models[1].latency.p50)
    assert "all models in turn" in found.table()


def test_a_folder_is_a_session(models, tiny, trained):
    session = open_keras(models / "float", threads=1)
    row = trained.pack(["good film"], length=8)
    assert session.length == 16 and session.at(8).length == 8
    outputs, seconds = session.at(8).timed(row)
    np.testing.assert_allclose(outputs["probabilities"], trained.serve_numpy(row)["probabilities"], atol=1e-6)
    assert seconds > 0


def test_written_and_read_back(comparison, tmp_path):
    read = kb.export.ModelComparison.read(comparison.save(tmp_path / "c.json"))
    assert read == comparison and is_own(tmp_path / "c.json", REPORT)
    rows = list(csv.DictReader(comparison.save(tmp_path / "c.csv").read_text("utf-8").splitlines()))
    assert [row["model"] for row in rows] == ["float", "int8"] and rows[0]["kept_low"] == ""
    assert float(rows[1]["kept"]) == comparison.models[1].kept.value
    with pytest.raises(KerasBertError, match="which exists"):
        comparison.save(tmp_path / "c.csv")
    comparison.save(tmp_path / "c.csv", overwrite=True)
    assert is_own(comparison.save(tmp_path / "c.png"), PLOT)
    page = comparison.save(tmp_path / "c.html").read_text("utf-8")
    assert page.count("<svg") == 2 and "Score and size" in page and "int8" in page
    with pytest.raises(KerasBertError, match=r"\.html, \.json"):
        comparison.save(tmp_path / "c.txt")


def test_a_narrow_table_leaves_out_columns(comparison):
    from kerasbert.console.tables import render

    wide, narrow = render(comparison.blocks()), render(comparison.blocks(), 60)
    assert "download" in wide and "download" not in narrow
    assert all(name in narrow for name in ("model", "smaller", "accuracy", "kept"))
    assert max(map(len, narrow.splitlines())) <= 60


@pytest.mark.long
def test_impossible_comparisons_are_refused(models, tiny, tmp_path, comparison):
    folder, file, data = models / "float", models / "int8.tflite", tiny.rows(4)
    broken = tmp_path / "broken.tflite"
    broken.write_bytes(file.read_bytes()[:3000])
    other = tiny.classifier(labels=("no", "yes"))
    scores = kb.TextClassifier(tiny.encoder(), tiny.tokenizer(), problem="regression", sequence_length=16)
    empty = tmp_path / "empty.tsv"
    empty.write_text("")
    cases = [
        ([folder], data, {}, "two or more models, received 1"),
        ("runs/mine", data, {}, "a list of two or more models"),
        ([folder, folder], data, {}, "twice"),
        ([file, broken], data, {}, "broken.tflite"),
        ([file, tmp_path / "none.tflite"], data, {}, "none.tflite, which is not there"),
        ({"a": folder, "b": other}, data, {}, "the same labels.*only in a, no, yes only in b"),
        ({"a": file, "b": scores}, data, {}, r"'single_label' \(a\) and 'regression' \(b\)"),
        ([folder, file], data[0], {}, "expected labels"),
        ([folder, file], ([], []), {}, "at least one row"),
        ([folder, file], empty, {}, "empty.tsv"),
        ([folder, file], data, {"against": "nothing"}, "received 'nothing'; the models are float, int8.tflite"),
        ([folder, file], data, {"latency": False, "sequence_length": 8}, "leave one of them out"),
        ([folder, file], data, {"runs": 0}, "runs"),
        ([folder, file], data, {"progress": print}, "Progress"),
    ]
    for given, examples, settings, message in cases:
        with pytest.raises(KerasBertError, match=message):
            kb.export.compare(given, examples, **{"latency": False, **settings})
    with pytest.raises(KerasBertError, match="models"):
        kb.export.ModelComparison.from_dict({**comparison.as_dict(), "models": []}, "c.json")


def compared(name: str, kept: float, width: float | None, faster: float | None = None) -> ComparedModel:
    estimate = Estimate(kept) if width is None else Estimate(kept, kept - width, kept + width)
    return ComparedModel(
        name, name, "file", bytes=100, download_bytes=50, smaller=4.0 if width else 1.0, score=Estimate(0.5), kept=estimate,
        faster=None if faster is None else Estimate(faster),
    )  # fmt: skip


def task_comparison(*models: ComparedModel) -> kb.export.ModelComparison:
    return kb.export.ModelComparison(
        data="dev.tsv", rows=10, task="single_label", metric="accuracy", against=models[0].name, models=models
    )


def test_tasks_are_joined_by_the_names_of_models(tmp_path):
    first = task_comparison(compared("float", 1, None, 1), compared("int8", 0.99, 0.03, 2.0), compared("cut", 0.9, 0.1))
    second = task_comparison(compared("float", 1, None, 1), compared("int8", 0.97, 0.04, 8.0))
    paths = [first.save(tmp_path / "sst.json"), second.save(tmp_path / "mrpc.json")]
    joined = kb.export.join_comparisons(paths)
    reference, int8, cut = joined.models
    assert list(joined.tasks) == ["sst", "mrpc"] and reference.kept.value == 1
    assert int8.kept.value == pytest.approx(0.98) and int8.kept.low == pytest.approx(0.98 - math.hypot(0.03, 0.04) / 2)
    assert int8.faster == pytest.approx(4.0) and int8.smaller == pytest.approx(4.0)
    assert cut.kept is None and cut.faster is None
    lines = joined.table().splitlines()
    assert lines[2].split() == ["model", "smaller", "faster", "sst", "mrpc", "mean"]
    assert lines[6].split() == ["cut", "4.0", "x", "-", "90.00%", "-", "-"]
    rows = list(csv.DictReader(joined.save(tmp_path / "all.csv").read_text("utf-8").splitlines()))
    assert float(rows[1]["mean"]) == pytest.approx(0.98) and rows[2]["mrpc"] == ""
    assert "98.00% (95.50% to 100.50%)" in joined.save(tmp_path / "all.html").read_text("utf-8")
    assert json.loads(joined.save(tmp_path / "all.json").read_text("utf-8"))["models"][1]["faster"] == int8.faster


def test_comparisons_that_do_not_belong_together_are_refused(tmp_path):
    first = task_comparison(compared("float", 1, None), compared("int8", 0.99, 0.03))
    others = task_comparison(compared("float", 1, None), compared("small", 0.99, 0.03))
    elsewhere = task_comparison(compared("teacher", 1, None), compared("int8", 0.99, 0.03))
    (tmp_path / "other.json").write_text("{}")
    cases = [
        ({"a": first}, "two or more comparisons"),
        ({"a": first, "b": others}, r"int8 \(a\) and small \(b\)"),
        ({"a": first, "b": elsewhere}, r"float \(a\) and teacher \(b\)"),
        ([tmp_path / "other.json", tmp_path / "other.json"], "different names"),
        ({"a": first, "b": tmp_path / "other.json"}, "other.json: expected"),
        (first, "as a list of files"),
        ([first, first], "the path of a comparison"),
    ]
    for given, message in cases:
        with pytest.raises(KerasBertError, match=message):
            kb.export.join_comparisons(given)
