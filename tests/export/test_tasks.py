"""Files of every task predict as the task does, and validation separates good files from bad ones."""

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.encoders import BertConfig, BertEncoder
from kerasbert.export.comparison.scoring import Answers
from kerasbert.export.conversion import convert
from kerasbert.export.runtime.opening import open_pipeline
from kerasbert.export.runtime.pipeline import Pipeline
from kerasbert.export.tflite import metadata
from kerasbert.export.validation.data import read_data
from kerasbert.export.validation.examples import packed_examples
from kerasbert.export.validator import validate

pytestmark = pytest.mark.one_layer

TAGS = ("O", "B-X", "I-X")
KINDS = {
    "tagging": ("TokenTagger", {"labels": TAGS}),
    "question_answering": ("QuestionAnswerer", {}),
    "multiple_choice": ("MultipleChoice", {}),
    "masked_lm": ("MaskedLM", {}),
    "single_label": ("NextSentencePredictor", {}),
    "embedding": ("SentenceEncoder", {}),
}
# No emulation precedes the dynamic file, and random weights amplify the difference.
QUANTIZED = {
    "tagging": "static_wi8_ai8",
    "question_answering": "static_wi8_ai8",
    "multiple_choice": "dynamic_wi8_afp32",
    "masked_lm": "static_wi8_ai8",
}


def made(tiny, problem: str, seed: int = 0):
    """A task of one narrow layer, whose weights are random but not small."""
    import tf_keras as keras

    keras.utils.set_random_seed(seed)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    name, settings = KINDS[problem]
    encoder = BertEncoder(BertConfig(**{**tiny.sizes, **sizes, "initializer_range": 0.5}))
    return getattr(kb, name)(encoder, tiny.tokenizer(), sequence_length=tiny.length, **settings)


def data(tiny, problem: str, rows: int = 24):
    """Returns examples as users pass them, with labels that are independent of the model."""
    texts, labels = tiny.rows(2 * rows, seed=4)
    first, second = texts[:rows], texts[rows:]
    if problem == "tagging":
        words = [text.split() for text in first]
        return words, [[TAGS[len(word) % 2] for word in row] for row in words]
    if problem == "question_answering":
        long = [f"{one} {two}" for one, two in zip(first, second, strict=True)]  # some need windows
        answers = [{"text": text.split()[0], "answer_start": 0} for text in long]
        return [(text.split()[-1], whole) for text, whole in zip(first, long, strict=True)], answers
    if problem == "multiple_choice":
        return [
            (one, (two, "bad film", "a good book")[: 2 + i % 2])
            for i, (one, two) in enumerate(zip(first, second, strict=True))
        ], [i % 2 for i in range(rows)]
    if problem == "masked_lm":
        return first, None
    if problem == "embedding":
        return (first, second), [float(i) for i in range(rows)]
    return (first, second), ["next" if label == "positive" else "not next" for label in labels[:rows]]


def asked(problem: str, x):
    """Returns the examples for `predictions`, where they differ from those for `score`: texts with masks."""
    return [f"{text} [MASK]" for text in x] if problem == "masked_lm" else x


@pytest.fixture(scope="module")
def tasks(tiny):
    return {problem: made(tiny, problem) for problem in KINDS}


@pytest.fixture(scope="module")
def files(tasks, tmp_path_factory):
    """Returns paths of float files by task and length, each converted once."""
    found, folder = {}, tmp_path_factory.mktemp("files")

    def path(problem: str, length=None):
        if (problem, length) not in found:
            result = convert(tasks[problem], recipe="float32", length=length)
            found[problem, length] = result.save(folder / f"{problem}-{length}.tflite")
        return found[problem, length]

    return path


def close(found, expected, at: str = "") -> None:
    """Asserts that predictions are equal, numbers within rounding."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), at
        for key, value in expected.items():
            close(found[key], value, f"{at}.{key}")
    elif isinstance(expected, list | tuple) and not isinstance(expected, str):
        assert len(found) == len(expected), at
        for i, (one, two) in enumerate(zip(found, expected, strict=True)):
            close(one, two, f"{at}[{i}]")
    elif isinstance(expected, float | np.ndarray):
        np.testing.assert_allclose(found, expected, atol=1e-4, rtol=1e-4, err_msg=at)
    else:
        assert found == expected, at


@pytest.mark.long_cases("question_answering", "single_label", "embedding")
@pytest.mark.parametrize("problem", KINDS)
def test_a_file_predicts_and_scores_as_its_task(tiny, tasks, files, problem):
    task, predictor = tasks[problem], open_pipeline(files(problem))
    x, y = data(tiny, problem)
    assert predictor.processor == task.processor
    steps = []
    found = predictor.predictions(asked(problem, x), report=lambda *step: steps.append(step))
    close(found, task.predictions(asked(problem, x)))
    assert steps[-1][0] == steps[-1][1] == len(steps)
    close(predictor.score(x, y), task.score(x, y))
    sides = [
        Answers.of(each, predictor.processor.examples(x), y, None)
        for each in (Pipeline("", task.processor, task), predictor)
    ]
    kept, agreement = sides[1].kept(sides[0]), sides[1].agreement(sides[0])
    assert kept is None or kept.value == pytest.approx(1, abs=1e-4)  # None: the reference knows nothing
    assert agreement is None if problem == "masked_lm" else agreement.value == pytest.approx(1, abs=1e-6)


def test_a_resizable_file_predicts_as_its_task(tiny, tasks, files):
    x, _ = data(tiny, "question_answering", 8)
    predictor = open_pipeline(files("question_answering", "resizable"))
    assert predictor.length == tiny.length
    close(predictor.predictions(x), tasks["question_answering"].predictions(x))


@pytest.mark.parametrize("problem", KINDS)
@pytest.mark.long_cases
def test_a_good_file_passes_validation(tiny, tasks, files, problem, tmp_path):
    page = tmp_path / "report.html" if problem == "question_answering" else None
    report = validate(files(problem), against=tasks[problem], data=data(tiny, problem), reference_rows=4, report=page)
    assert report.ok, report.table()
    check = report.checks[1]
    assert [each.name for each in check.outputs] == sorted(tasks[problem].processor.outputs)
    assert all(each.agreement == 1 or problem == "embedding" for each in check.outputs) and check.metrics
    assert all(each.model == pytest.approx(each.reference, abs=1e-3) for each in check.metrics)
    if page:
        assert all(name in page.read_text() for name in tasks[problem].processor.outputs)
        assert all(metric.name in report.table() for metric in check.metrics)


@pytest.mark.long_cases("tagging", "embedding")
@pytest.mark.parametrize("problem", KINDS)
def test_a_file_with_another_head_fails_validation(tiny, tasks, files, problem):
    other = made(tiny, problem)
    head = next((getattr(other, name) for name in other.heads), other.encoder)
    draw = np.random.default_rng(1)
    for variable in head.trainable_variables:
        variable.assign(draw.normal(0, 0.5, variable.shape))
    report = validate(files(problem), against=other, data=data(tiny, problem, 80), reference_rows=2)
    assert report.verdict == "failed" and report.checks[1].status == "failed"
    assert any(word in report.checks[1].reason for word in ("agreement", "cosine")), report.table()


@pytest.mark.long_cases("question_answering")
@pytest.mark.parametrize(("problem", "recipe"), QUANTIZED.items())
def test_quantized_files_pass_validation(tiny, tasks, tmp_path, problem, recipe):
    x, y = data(tiny, problem)
    model = kb.compression.quantize(tasks[problem], recipe, calibration=x)
    path = convert(model, recipe=recipe).save(tmp_path / "model.tflite")
    tolerance = kb.export.Tolerance(agreement=0.85)
    report = validate(path, against=model, data=(x, y) if y else x, reference_rows=24, tolerance=tolerance)
    assert report.ok and report.checks[1].partitions == 1, report.table()
    assert report.recipe == recipe and 0 < report.checks[1].outputs[0].max_error


def test_metadata_has_the_settings_of_the_processor(tiny, files, tasks):
    path = files("embedding")
    card = metadata.read(path)
    assert card.processor.width == 16 and card.row_length == tiny.length
    assert card.processor == tasks["embedding"].processor


@pytest.mark.parametrize("problem", ["tagging", "question_answering", "masked_lm", "multiple_choice"])
def test_packed_rows_pass_validation(tiny, tasks, files, problem):
    task, packed = tasks[problem], tasks[problem].pack(tiny.rows(12, seed=6)[0])
    if problem == "multiple_choice":
        packed = {name: values.reshape(4, 3, -1) for name, values in packed.items()}
    report = validate(files(problem), against=task, data=packed, reference_rows=2)
    assert report.ok and report.rows == (4 if problem == "multiple_choice" else 12), report.table()
    if problem in ("tagging", "masked_lm"):
        assert report.checks[1].outputs[0].lines == packed["attention_mask"].sum()  # padded places are not compared
    assert "no labels" in report.notes[-1]


def test_a_wide_distribution_is_compared_by_its_best_words():
    """The arg-max is that of the whole distribution, also if the other side has another word."""
    from kerasbert.processors import make_processor

    draw = np.random.default_rng(0)
    packed = {name: np.ones((1, 4), np.int32) for name in ("input_ids", "attention_mask", "token_type_ids")}
    examples = packed_examples(read_data(packed, None), make_processor("masked_lm"), None)
    reference, model = draw.normal(size=(2, 1, 4, 5000)).astype(np.float32)
    model[0, :3] = reference[0, :3]
    # A word that is unlikely in the reference, before one that is likely in both.
    model[0, 2, reference[0, 2].argmin()] = 9
    one = examples.extract({"logits": reference}, 0)
    two = examples.extract({"logits": model}, 0, reference=one)
    assert one.compared["logits"].shape == two.compared["logits"].shape == (4, 17)
    same = one.compared["logits"].argmax(1) == two.compared["logits"].argmax(1)
    assert same.tolist() == (reference[0].argmax(1) == model[0].argmax(1)).tolist() == [True, True, False, False]
    np.testing.assert_array_equal(one.compared["logits"][:2], two.compared["logits"][:2])
