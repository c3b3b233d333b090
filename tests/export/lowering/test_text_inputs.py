"""Files that take texts, with the tokenizer in their graph."""

import pytest

import kerasbert as kb
from kerasbert.cli import main
from kerasbert.errors import KerasBertError
from kerasbert.export import benchmark, validate
from kerasbert.export.conversion import convert
from kerasbert.export.lowering.text_inputs import check_text_inputs
from kerasbert.export.runtime.opening import open_pipeline
from kerasbert.export.tflite import metadata

pytestmark = pytest.mark.one_layer

TEXTS = ["good film", "Bad film, bad!", "", "a very good film and a bad one " * 9]


@pytest.fixture(scope="module")
def files(trained, tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    return {name: convert(trained, inputs=name).save(folder / f"{name}.tflite") for name in ("ids", "text")}


def test_it_predicts_as_the_file_of_ids(files, tiny):
    assert metadata.read(files["text"]).inputs == "text" and metadata.read(files["ids"]).inputs == "ids"
    texts = [*TEXTS, *tiny.rows(12, seed=2)[0]]
    ours, theirs = (open_pipeline(files[name]).predictions(texts) for name in ("text", "ids"))
    for one, other in zip(ours, theirs, strict=True):
        assert one["probabilities"] == pytest.approx(other["probabilities"], abs=1e-5)
    assert len({answer["label"] for answer in ours}) == 2


@pytest.mark.long
def test_it_is_scored_and_encodes_texts(files, tiny, tmp_path, capsys):
    texts, labels = tiny.rows(24, seed=2)
    assert open_pipeline(files["text"]).score(texts, labels) == open_pipeline(files["ids"]).score(texts, labels)
    assert main(["predict", str(files["text"]), "good film"]) == 0
    encoder = tiny.sentence_encoder()
    file = convert(encoder, recipe="float32", inputs="text").save(tmp_path / "vectors.tflite")
    (found,) = open_pipeline(file).predictions(["good film"])
    assert found["vector"] == pytest.approx(encoder.predict(["good film"])[0], abs=1e-5)


def test_a_file_that_takes_texts_is_validated_through_its_pipeline(files, trained, tiny):
    report = validate(files["text"], against=trained, data=tiny.rows(160), on=["cpu", "web"])
    statuses = {check.name: check.status for check in report.checks}
    assert statuses == {"signature": "passed", "web": "not run", "settings": "passed", "pipeline": "passed"}, (
        report.table()
    )
    assert report.checks[-1].outputs[0].max_error < 0.01 and report.checks[-1].rows == 160
    assert validate(files["text"], against=trained, data=tiny.rows(160)).ok
    with pytest.raises(KerasBertError, match="takes texts"):
        validate(files["text"], against=trained, data=trained.pack(tiny.rows(4)[0]))


@pytest.mark.long
def test_the_command_validates_a_file_that_takes_texts(files, capsys):
    assert main(["validate", str(files["text"]), "--against", str(files["ids"]), "--rows", "160"]) == 0
    output = capsys.readouterr()
    assert "160 of 430 English sentences" in output.out + output.err and "pipeline" in output.out


def test_pairs_and_benchmarks_are_refused(files):
    with pytest.raises(KerasBertError, match="received a pair"):
        open_pipeline(files["text"]).predictions([("good", "film")])
    with pytest.raises(KerasBertError, match="takes texts"):
        benchmark(files["text"])


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"inputs": "words"}, "expected inputs of ids or text"),
        ({"inputs": "text", "target": "gpu"}, "operators run on a CPU"),
        ({"inputs": "text", "length": [8, 16]}, "one length"),
        ({"inputs": "text", "length": "resizable"}, "one length"),
    ],
)
def test_unsupported_options_are_refused(trained, settings, message):
    with pytest.raises(KerasBertError, match=message):
        convert(trained, **settings)


def test_unsupported_tasks_and_tokenizers_are_refused(tiny):
    tagger = kb.TokenTagger(tiny.encoder(), tiny.tokenizer(), labels=["O", "X"], sequence_length=8)
    with pytest.raises(KerasBertError, match="received a TokenTagger"):
        convert(tagger, inputs="text")
    model = tiny.classifier()
    model.tokenizer.strip_accents = False
    with pytest.raises(KerasBertError, match="does half"):
        convert(model, inputs="text")


def test_metadata_with_unknown_inputs_is_refused(files):
    data = files["ids"].read_bytes()
    card = metadata.read(data)
    object.__setattr__(card, "inputs", "pixels")
    with pytest.raises(KerasBertError, match="inputs as one of ids, text, received 'pixels'"):
        metadata.read(metadata.append(data, card))


def test_a_subclass_of_a_task_converts(tiny):
    class Mine(kb.TextClassifier):
        pass

    check_text_inputs(Mine(tiny.encoder(), tiny.tokenizer(), labels=tiny.labels, sequence_length=8))
