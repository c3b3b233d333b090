"""`--tokenize-as`: a model that tokenizes as MediaPipe or the Task Library does, in its folder and in its file."""

import json

import pytest

from kerasbert.text import tokenizer_from_folder
from kerasbert.text.client_rules import CLIENTS
from kerasbert.training import TrainConfig

TEXTS = ["the g\u00f3od film", "the good film", "bad\u00a0plot", "[MASK] good"]


@pytest.fixture(scope="module")
def trained_for_a_client(place, tmp_path_factory):
    from kerasbert.cli import main

    folder = tmp_path_factory.mktemp("client") / "model"
    given = [
        "--train",
        place.train,
        "--epochs",
        "1",
        "--max-rows",
        "16",
        "--learning-rate",
        "1e-2",
        "--tokenize-as",
        "task-library",
    ]
    assert main(["train", "--model", place.checkpoint, *given, "--out", str(folder)]) == 0
    return folder


def answers(run, model):
    done = run("predict", model, *TEXTS, "--json")
    assert done.code == 0
    return [each["probabilities"] for each in json.loads(done.out)["predictions"]]


def test_folder_and_file_tokenize_as_the_client(trained_for_a_client, run, tmp_path):
    tokenizer = tokenizer_from_folder(trained_for_a_client)
    assert tokenizer.tokenize_as == "task-library"
    ids = tokenizer.encode(TEXTS, max_length=8).input_ids
    assert [row.count(tokenizer.unk_id) for row in ids] == [1, 0, 1, 3]  # accents, no-break space, "[MASK]" as any word
    file = tmp_path / "model.tflite"
    done = run("convert", trained_for_a_client, "--recipe", "float32", "-o", file)
    assert done.code == 0 and "MediaPipe" not in done.err
    ours, filed = answers(run, trained_for_a_client), answers(run, file)
    assert ours == [pytest.approx(each, abs=1e-6) for each in filed]
    assert ours[0] != ours[1] and filed[0] != filed[1]


def test_quantization_takes_it_too(made, place, run, tmp_path):
    out = tmp_path / "out"
    given = ("--recipe", "weight_only_wi8", "--epochs", 0, "--train", place.train, "--out", out)
    assert run("quantize", made.float, *given, "--tokenize-as", "mediapipe").code == 0
    assert tokenizer_from_folder(out).tokenize_as == "mediapipe"
    assert json.loads((out / "training.json").read_text("utf-8"))["settings"]["tokenize_as"] == "mediapipe"


def test_converting_tells_of_the_clients_in_one_line(made, run, tmp_path):
    done = run("convert", made.float, "--recipe", "float32", "-o", tmp_path / "model.tflite")
    (line,) = [line for line in done.err.splitlines() if "MediaPipe" in line]
    assert line.startswith("note: MediaPipe and the Task Library tokenize some texts otherwise (accents, ")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--tokenize-as", "android"), "expected --tokenize-as of mediapipe, task-library, received 'android'"),
        (("--task", "regression", "--tokenize-as", "mediapipe"), "expected a task type that mediapipe has"),
    ],
)
def test_what_cannot_be(place, run, tmp_path, options, told):
    numbers = tmp_path / "numbers.tsv"
    numbers.write_text("text\tlabel\ngood\t1.5\nbad\t0.5\n", "utf-8")
    done = run("train", "--model", place.checkpoint, "--train", numbers, *options, "--out", tmp_path / "out")
    assert done.code == 2 and told in done.err


def test_the_clients_are_the_same_everywhere():
    assert TrainConfig.__dataclass_fields__["tokenize_as"].metadata["choices"] == (*CLIENTS,)
