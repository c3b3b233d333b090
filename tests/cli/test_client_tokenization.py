"""`--tokenize-as`: folders and files that tokenize as MediaPipe or the Task Library."""

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


def probabilities(run, model):
    done = run("predict", model, *TEXTS, "--json")
    assert done.code == 0
    return [each["probabilities"] for each in json.loads(done.out)["predictions"]]


@pytest.mark.long
def test_folder_and_file_tokenize_as_the_client(trained_for_a_client, run, tmp_path):
    tokenizer = tokenizer_from_folder(trained_for_a_client)
    assert tokenizer.tokenize_as == "task-library"
    ids = tokenizer.encode(TEXTS, max_length=8).input_ids
    assert [row.count(tokenizer.unk_id) for row in ids] == [1, 0, 1, 3]  # accents, no-break space, "[MASK]" as any word
    file = tmp_path / "model.tflite"
    done = run("convert", trained_for_a_client, "--recipe", "float32", "-o", file)
    assert done.code == 0 and "MediaPipe" not in done.err
    of_folder, of_file = probabilities(run, trained_for_a_client), probabilities(run, file)
    assert of_folder == [pytest.approx(each, abs=1e-6) for each in of_file]
    assert of_folder[0] != of_folder[1] and of_file[0] != of_file[1]


def test_quantize_has_the_option(made, place, run, tmp_path):
    out = tmp_path / "out"
    given = ("--recipe", "weight_only_wi8", "--epochs", 0, "--train", place.train, "--out", out)
    assert run("quantize", made.float, *given, "--tokenize-as", "mediapipe").code == 0
    assert tokenizer_from_folder(out).tokenize_as == "mediapipe"
    assert json.loads((out / "training.json").read_text("utf-8"))["settings"]["tokenize_as"] == "mediapipe"


def test_convert_mentions_the_clients_in_one_line(made, run, tmp_path):
    done = run("convert", made.float, "--recipe", "float32", "-o", tmp_path / "model.tflite")
    (line,) = [line for line in done.err.splitlines() if "MediaPipe" in line]
    assert line.startswith("note: MediaPipe and the Task Library tokenize some texts otherwise (accents, ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--tokenize-as", "android"), "expected --tokenize-as as one of mediapipe, task-library, received 'android'"),
        (("--task", "regression", "--tokenize-as", "mediapipe"), "expected a task type that mediapipe has"),
    ],
)
def test_impossible_values_are_rejected(place, run, tmp_path, options, message):
    numbers = tmp_path / "numbers.tsv"
    numbers.write_text("text\tlabel\ngood\t1.5\nbad\t0.5\n", "utf-8")
    done = run("train", "--model", place.checkpoint, "--train", numbers, *options, "--out", tmp_path / "out")
    assert done.code == 2 and message in done.err


def test_clients_of_the_option_and_of_the_rules_agree():
    assert TrainConfig.__dataclass_fields__["tokenize_as"].metadata["choices"] == (*CLIENTS,)
