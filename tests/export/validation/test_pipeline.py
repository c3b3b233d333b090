"""A file whose own settings differ from the reference's fails, and one with equal settings in another form passes."""

import io
import json
import re
import zipfile

import numpy as np
import pytest

import kerasbert as kb
from benchmarks.robustness.file_mutations import in_graph, scale_layer
from kerasbert.errors import KerasBertError
from kerasbert.export.conversion import convert
from kerasbert.export.tflite import metadata
from kerasbert.export.validator import validate

pytestmark = pytest.mark.one_layer

LENGTHS = (8, 16)


def edited(content: bytes, change, vocabulary=None, labels=None) -> bytes:
    """The file with another text of its metadata, as an editor of the packed files would write it."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name).decode() for name in archive.namelist()}
    description = json.loads(members["kerasbert.json"])
    members["kerasbert.json"] = json.dumps(change(description) or description)
    for name, lines in (("vocab.txt", vocabulary), ("labels.txt", labels)):
        if lines is not None:
            members[name] = "".join(f"{line}\n" for line in lines(members[name].splitlines()))
            if not members[name]:
                del members[name]
    stream = io.BytesIO(content[: len(content) - metadata.packed_size(content)])
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_STORED) as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return stream.getvalue()


def tokenizer(**settings):
    return lambda description: description["tokenizer"].update(settings)


def processor(**settings):
    return lambda description: description["settings"].update(settings)


def field(**settings):
    return lambda description: description.update(settings)


@pytest.fixture(scope="module")
def classifier(trained, tmp_path_factory):
    return convert(trained, recipe="float32", length=LENGTHS).content


@pytest.fixture(scope="module")
def answerer(tiny):
    import tf_keras as keras

    keras.utils.set_random_seed(0)
    encoder = tiny.encoder(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, initializer_range=0.5)
    return kb.QuestionAnswerer(encoder, tiny.tokenizer(), sequence_length=16, no_answer=True, no_answer_threshold=0.5)


@pytest.fixture(scope="module")
def answerer_file(answerer):
    return convert(answerer, recipe="float32").content


@pytest.fixture
def run(tmp_path):
    def check(content: bytes, against, data):
        path = tmp_path / "model.tflite"
        path.write_bytes(content)
        return validate(path, against=against, data=data, reference_rows=2)

    return check


def failed(report) -> dict[str, str]:
    return {check.name: check.reason for check in report.checks if check.status == "failed"}


def capitals(tiny):
    texts, labels = tiny.rows(40, seed=7)
    return [text.title() if row % 4 == 0 else text for row, text in enumerate(texts)], labels


@pytest.mark.parametrize(
    ("change", "settings", "pipeline"),
    [
        (tokenizer(lowercase=False), "tokenizer lowercase False instead of True", "10 of 40 examples get other tokens"),
        (tokenizer(strip_accents=False), "strip_accents False instead of True", ""),
        (tokenizer(tokenize_chinese_chars=False), "tokenize_chinese_chars False", ""),
        (tokenizer(cls_token="[MASK]"), "cls_token '[MASK]' instead of '[CLS]'", "40 of 40 examples get other tokens"),
        (tokenizer(added_tokens=[{"content": "good", "lstrip": True}]), "added_tokens", ""),
        (tokenizer(kind="sentencepiece"), "no tokenizer", "expected"),
        (tokenizer(surprise=1), "no tokenizer", "received 'surprise'"),
        (field(vocab_size=50), "table vocab_size 50 instead of", ""),
        (field(sequence_length=8, lengths=None), "lengths sequence_length 8 instead of 16", "get other tokens"),
        (field(lengths=[12, 16]), "lengths lengths (12, 16) instead of (8, 16)", "expected a length of 8, 16"),
    ],
)
@pytest.mark.long_cases
def test_other_settings_of_the_tokenizer_fail(tiny, trained, classifier, run, change, settings, pipeline):
    report = run(edited(classifier, change), trained, capitals(tiny))
    reasons = failed(report)
    assert settings in reasons["settings"], report.table()
    assert pipeline in reasons.get("pipeline", ""), report.table()
    assert ("pipeline" in reasons) == bool(pipeline), report.table()


def test_a_file_without_labels_fails(tiny, trained, classifier, run):
    reasons = failed(run(edited(classifier, field(), labels=lambda lines: []), trained, tiny.rows(8)))
    assert "processor labels None instead of ('negative', 'positive')" in reasons["settings"]
    assert "expected a model that names its labels" in reasons["pipeline"]  # labelled rows have no meaning to it


def test_a_file_without_vocabulary_fails(tiny, trained, classifier, run):
    reasons = failed(run(edited(classifier, field(), vocabulary=lambda lines: []), trained, tiny.rows(8)))
    assert "'[PAD]'" in reasons["settings"] or "vocabulary" in reasons["settings"]
    assert "expected a vocabulary in the file" in reasons["pipeline"]


@pytest.mark.parametrize(
    ("vocabulary", "labels", "said"),
    [
        (lambda lines: [*lines[:-1], "other"], None, "same vocabulary"),
        (lambda lines: lines[:-1], None, "same vocabulary"),
        (lambda lines: [*lines[:20], *reversed(lines[20:])], None, "same vocabulary"),
        (None, lambda lines: lines[::-1], "same labels"),
    ],
)
def test_another_vocabulary_or_other_labels_are_refused(tiny, trained, classifier, run, vocabulary, labels, said):
    with pytest.raises(KerasBertError, match=said):
        run(edited(classifier, field(), vocabulary, labels), trained, tiny.rows(8))


@pytest.mark.parametrize(
    "change",
    [
        lambda description: dict(reversed(description.items())),
        tokenizer(strip_accents=True),  # the default under lowercase
        tokenizer(unk_token="[UNK]", added_tokens=[{"content": "[CLS]"}, {"content": "good", "lstrip": False}][:1]),
        lambda description: {**description, "tokenizer": dict(reversed(description["tokenizer"].items()))},
        lambda description: description["tokenizer"].pop("mask_token") and None,
    ],
)
def test_equal_settings_in_another_form_pass(tiny, trained, classifier, run, change):
    report = run(edited(classifier, change), trained, capitals(tiny))
    assert report.ok, report.table()
    assert {check.name: check.status for check in report.checks}["pipeline"] == "passed"


def questions(tiny):
    texts, _ = tiny.rows(40, seed=3)
    return [(first, f"{first} {second}") for first, second in zip(texts[:20], texts[20:], strict=True)]


@pytest.mark.parametrize(
    ("change", "settings", "differ"),
    [
        (processor(longest_answer=1), "longest_answer 1 instead of 30", True),
        (processor(stride=2), "stride 2 instead of None", True),
        (processor(n_best=3), "n_best 3 instead of 20", True),
        (processor(no_answer_threshold=1e6), "no_answer_threshold 1000000.0 instead of 0.5", True),
        (processor(no_answer=False), "no_answer False instead of True", True),
        (processor(unit="character"), "unit 'character' instead of 'word'", False),
    ],
)
def test_other_settings_of_the_processor_fail(tiny, answerer, answerer_file, run, change, settings, differ):
    report = run(edited(answerer_file, change), answerer, questions(tiny))
    reasons = failed(report)
    assert settings in reasons["settings"], report.table()
    assert (
        bool(re.search("predictions differ from the same outputs|other tokens", reasons.get("pipeline", ""))) == differ
    )


@pytest.mark.long
def test_a_setting_without_effect_may_differ(tiny, answerer, run):
    answerer.no_answer = False
    try:
        content = edited(convert(answerer, recipe="float32").content, processor(no_answer_threshold=9.0))
        report = run(content, answerer, questions(tiny))
    finally:
        answerer.no_answer = True
    assert report.ok, report.table()


@pytest.mark.long
def test_collapsed_scores_fail_although_every_prediction_agrees(tiny, static_model, run):
    content = convert(static_model).content
    collapsed = in_graph("", scale_layer(-1, 0.02)).change(content)
    report = run(collapsed, static_model, tiny.rows(120))
    check = report.checks[-1]
    assert check.outputs[0].agreement == 1.0 and check.metrics[0].share == 1.0
    assert check.status == "failed" and "mean score shift" in check.reason and "calibration error" in check.reason
    assert check.calibration.model > check.calibration.reference + 0.05
    assert run(content, static_model, tiny.rows(120)).ok


def test_a_new_setting_is_compared_without_a_change_here(trained):
    """Every constructor argument of a tokenizer, and every field of a processor, is part of the comparison."""
    import dataclasses

    from kerasbert.processors import PROCESSORS
    from kerasbert.processors.few_shot import Linear
    from kerasbert.processors.registry import processor_class

    without_effect = {"embedding": {"width"}, "question_answering": {"no_answer_threshold"}}
    required = {
        "joint": {"heads": {"intent": {"task": "classification", "labels": ["a", "b"]}}},
        "few_shot": {"labels": ("a", "b"), "layer": Linear(np.eye(2, 1), np.zeros(2)).to_text()},
    }
    for name in PROCESSORS:
        kind = processor_class(name)
        named = {field.name for field in dataclasses.fields(kind)} - {"labels"} - without_effect.get(name, set())
        assert named <= kind(**required.get(name, {})).effective_settings().keys()
    compared = trained.tokenizer.effective_config().keys()
    assert trained.tokenizer.get_config().keys() - compared <= {"model_max_length"}


@pytest.mark.long
def test_rows_of_a_resizable_file_are_cut_where_the_reference_cuts(tiny, trained, run):
    content = convert(trained, recipe="float32", length="resizable").content
    long = [" ".join([text] * 3) for text in tiny.rows(12)[0]]
    assert run(content, trained, long).ok
    reasons = failed(run(edited(content, field(row_length=8)), trained, long))
    assert "row_length 8 instead of 16" in reasons["settings"] and "get other tokens" in reasons["pipeline"]


def test_packed_rows_do_not_exercise_the_pipeline(tiny, trained, classifier, run):
    report = run(classifier, trained, trained.pack(tiny.rows(40)[0]))
    checks = {check.name: check for check in report.checks}
    assert checks["settings"].status == "passed"
    assert checks["pipeline"].status == "not run" and "rows are packed" in checks["pipeline"].reason
    assert report.verdict == "passed"  # of outputs; nothing else was asked for


@pytest.mark.long
def test_a_file_is_compared_with_a_file(tiny, classifier, run, tmp_path):
    reference = tmp_path / "reference.tflite"
    reference.write_bytes(classifier)
    assert run(classifier, reference, capitals(tiny)).ok
    reasons = failed(run(edited(classifier, tokenizer(lowercase=False)), reference, capitals(tiny)))
    assert "lowercase False instead of True" in reasons["settings"]
    assert "such as row 0" in reasons["pipeline"]


@pytest.mark.long
def test_masked_words_are_predicted_by_the_file_s_own_processor(tiny, run):
    import tf_keras as keras

    keras.utils.set_random_seed(0)
    task = kb.MaskedLM(tiny.encoder(num_hidden_layers=1, initializer_range=0.5), tiny.tokenizer(), sequence_length=16)
    content = convert(task, recipe="float32").content
    texts = tiny.rows(12)[0]
    assert run(content, task, texts).ok
    reasons = failed(run(edited(content, processor(top=1)), task, texts))
    assert "top 1 instead of 5" in reasons["settings"] and "12 of 12 predictions differ" in reasons["pipeline"]


def test_the_metric_is_that_of_the_file_s_own_pipeline(tiny, trained, classifier, run):
    texts, labels = tiny.rows(40, seed=7)
    report = run(edited(classifier, tokenizer(lowercase=False)), trained, ([text.upper() for text in texts], labels))
    checks = {check.name: check for check in report.checks}
    metric = checks["pipeline"].metrics[0]
    assert metric.name == "accuracy" and metric.model < 0.8 < metric.reference
    assert checks["cpu-xnnpack"].metrics[0].share == pytest.approx(1.0)
