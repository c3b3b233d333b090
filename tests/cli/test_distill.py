"""`kerasbert distill`: students of a trained folder."""

import json

import pytest

from kerasbert.checkpoints.safetensors_file import read_tensors


@pytest.fixture
def command(place, teacher):
    return ["distill", "--teacher", teacher, "--train", place.train]


@pytest.fixture(scope="module")
def teacher(place, tmp_path_factory):
    """A saved classifier with random weights."""
    from kerasbert.tasks import TextClassifier

    out = tmp_path_factory.mktemp("distill") / "teacher"
    TextClassifier.from_pretrained(place.checkpoint, labels=["neg", "pos"], sequence_length=16).save_pretrained(out)
    return out


@pytest.mark.long
def test_a_student_of_the_teachers_layers(place, command, run, tmp_path):
    out = tmp_path / "student"
    small = ["--layers", "1", "--objectives", "soft-labels=1,hidden=0.5", "--temperature", "3", "--max-rows", "64"]
    done = run(*command, *small, "--dropout", "0", "--dev", place.dev, "--epochs", "1", "--out", out, "--json")
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert result == {"out": str(out), "dev": result["dev"], **json.loads((out / "training.json").read_text())}
    assert result["parameters"]["student"] < result["parameters"]["teacher"]
    assert {"loss", "label_loss", "soft_labels", "hidden", "dev"} <= result["epochs"][0].keys()
    assert result["settings"]["temperature"] == 3 and result["dev_teacher"].keys() == result["dev_student"].keys()
    assert "projection" not in " ".join(read_tensors(out))
    assert (out / "run" / "metrics.jsonl").is_file() and not (out / "run" / "state.safetensors").exists()
    assert json.loads((out / "config.json").read_text())["hidden_dropout_prob"] == 0.0
    assert run("predict", out, "a good film").code == 0


@pytest.mark.long
def test_a_student_without_norms(command, run, tmp_path):
    out = tmp_path / "student"
    done = run(*command, "--layers", "1", "--no-norm", "--max-rows", "64", "--epochs", "1", "--out", out)
    assert done.code == 0, done.err
    config = json.loads((out / "config.json").read_text())
    assert (config["model_type"], config["normalization_type"], config["hidden_act"]) == (
        "mobilebert",
        "no_norm",
        "relu",
    )
    assert config["num_hidden_layers"] == 1 and json.loads((out / "training.json").read_text())["no_norm"] is True


@pytest.mark.long
def test_a_student_of_a_checkpoint_without_labels(place, command, run, tmp_path):
    texts = tmp_path / "texts.tsv"
    texts.write_text("text\n" + "a good film\nso bad\n" * 4)
    command[-1] = str(texts)
    alone = [
        "--student",
        place.checkpoint,
        "--cache",
        tmp_path / "cache",
        "--epochs",
        "1",
        "--out",
        tmp_path / "student",
    ]
    refused = run(*command, *alone)
    assert refused.code == 2 and "a column of labels" in refused.err and not (tmp_path / "cache").exists()
    done = run(*command, *alone, "--label-weight", "0", "--text-column", "text")
    assert done.code == 0, done.err
    assert "of the teacher's tensors for 8 rows" in done.err and done.out.startswith("saved ")


@pytest.mark.long
def test_sentence_vectors_with_texts_as_dev_data(place, run, tmp_path):
    from kerasbert.tasks import SentenceEncoder

    teacher, texts = tmp_path / "teacher", tmp_path / "texts.txt"
    SentenceEncoder.from_pretrained(place.checkpoint, sequence_length=16).save_pretrained(teacher)
    texts.write_text("a good film\nso bad\n" * 4)
    command = ["distill", "--teacher", teacher, "--train", texts, "--dev", texts, "--label-weight", "0", "--json"]
    done = run(*command, "--layers", "1", "--out", tmp_path / "student")
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert result["dev_teacher"]["cosine"] == pytest.approx(1, abs=1e-5)
    assert result["dev_student"]["cosine"] < result["dev_teacher"]["cosine"]
    narrow = tmp_path / "narrow"
    SentenceEncoder.from_pretrained(place.checkpoint, sequence_length=16, dimensions=3).save_pretrained(narrow)
    wider = ["--student", narrow, "--objectives", "hidden=1", "--out", tmp_path / "other"]
    refused = run(*command, *wider)
    assert refused.code == 2 and "the student's vectors have 3 numbers" in refused.err, refused.err


@pytest.mark.parametrize(
    "options, expected",
    [
        ([], "either --student or --layers, received neither"),
        (["--layers", "1", "--student", "x"], "received both"),
        (["--layers", "few"], "--layers as a number"),
        (["--layers", "3"], "expected --layers from 1 to 2, received 3; "),
        (["--layers", "0,2"], "expected layer indices from 0 to 1 in --layers, received 2; "),
        (["--layers", "1", "--objectives", "magic"], "received 'magic'"),
        (["--layers", "1", "--temperature", "0"], "a temperature above 0"),
        (["--layers", "1", "--objectives", "soft-labels=0", "--label-weight", "0"], "nothing would be learned"),
        (["--layers", "2", "--objectives", "hidden", "--layer-map", "middle"], "uniform, skip, last"),
        (["--layers", "1", "--layer-map", "skip"], "an objective of layers with the layer map 'skip'"),
        (["--student", "x", "--strategy", "last"], "--layers as a number with --strategy last"),
        (["--layers", "1", "--cache", __file__], "expected a folder as --cache, received the file"),
        (["--method", "theseus"], "--layers with --method theseus, received none"),
        (["--method", "theseus", "--layers", "1", "--replacement-rate", "1.5"], "--replacement-rate from 0 to 1"),
        (["--layers", "1", "--replacement", "constant"], "--method theseus with --replacement, received --method obj"),
        (["--method", "theseus", "--layers", "2"], "fewer layers than the predecessor's 2, received 2"),
        (
            ["--method", "theseus", "--layers", "1", "--epochs", "2", "--fine-tune-epochs", "2"],
            "more epochs than the 2",
        ),
        (["--method", "dual-vocabulary", "--layers", "0,1"], "a number with --method dual-vocabulary, received 0,1"),
        (["--layers", "1", "--resume"], "expected an interrupted training in"),
    ],
)
@pytest.mark.long_cases
def test_bad_options(command, run, tmp_path, options, expected):
    out = tmp_path / "out"
    done = run(*command, *options, "--out", out)
    assert done.code == 2 and done.out == "" and not out.exists()
    assert expected in done.err.splitlines()[-1], done.err


def test_the_teacher_is_not_replaced(command, teacher, run):
    done = run(*command, "--layers", "1", "--out", teacher)
    assert done.code == 2 and "another --out" in done.err


def test_help_has_an_example(run):
    done = run("distill", "--help")
    assert done.code == 0 and "Example: kerasbert distill " in done.out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ada moved to Lima.\nCall Grace!\n", ["Ada moved to Lima.", "Call Grace!"]),
        ("Ada O\nmoved O\n", [["Ada", "moved"]]),
    ],
)
def test_a_tagger_learns_from_texts_or_from_words(tmp_path, text, expected):
    from kerasbert.cli.runs.distillation_data import read_unlabelled
    from kerasbert.processors.tagging import Tagging
    from kerasbert.training.config import TrainConfig

    path = tmp_path / "more.txt"
    path.write_text(text, "utf-8")
    table = read_unlabelled(Tagging, str(path), TrainConfig())
    assert [each if isinstance(each, str) else list(each) for each in table.x] == expected and table.y is None
