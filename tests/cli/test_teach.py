"""`kerasbert teach`: from a file of examples to a `.tflite` file."""

import json

import pytest

import kerasbert as kb

ROWS = [
    ("wake me at six", "alarm"), ("set an alarm for noon", "alarm"), ("alarm at seven please", "alarm"),
    ("play some jazz", "music"), ("the next song please", "music"), ("turn the music up", "music"),
]  # fmt: skip


@pytest.fixture
def examples(tmp_path):
    path = tmp_path / "examples.csv"
    path.write_text(
        "\ufefftext,label\r\n" + "".join(f'"{text}",{label}\r\n' for text, label in ROWS)
    )  # as a spreadsheet writes it
    return path


def test_a_file_is_taught(examples, run, tmp_path):
    out = tmp_path / "mine.tflite"
    done = run("teach", examples, "-o", out, "--dev", examples, "--json")
    assert done.code == 0
    result = json.loads(done.out)
    assert result["labels"] == ["alarm", "music"] and result["examples"] == [3, 3] and result["dev"]["accuracy"] == 1.0
    assert kb.open(out)("wake me")["label"] == "alarm"
    shown = run("inspect", out)
    assert shown.code == 0 and max(map(len, shown.out.splitlines())) < 200
    assert run("teach", examples, "-o", out, "--fallback", "oos").code == 0  # the same file again
    evaluated = run("evaluate", out, "--data", examples)
    assert evaluated.code == 0 and "in-scope accuracy" in evaluated.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "mine.onnx"], "expected a file name ending in .tflite as --out"),
        (["-o", "mine.tflite", "--model", "intents"], "expected a sentence encoder to teach, such as search, received"),
        (["-o", "mine.tflite", "--label-column", "no"], "no"),
        (["-o", "mine.tflite", "--fallback-below", "0.5"], "with --fallback"),
        (["-o", "mine.tflite", "--method", "svm"], "expected"),
        (
            ["-o", "mine.tflite", "--method", "trained"],
            "expected the folder of a sentence encoder to train, such as mini-en",
        ),
    ],
)
def test_what_cannot_be_taught_is_refused_in_one_line(examples, run, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    done = run("teach", examples, *options)
    assert done.code == 2 and message in done.err.splitlines()[-1]
    assert not (tmp_path / "mine.tflite").exists()


def test_another_programs_file_is_kept(examples, run, tmp_path):
    out = tmp_path / "mine.tflite"
    out.write_bytes(b"mine")
    assert run("teach", examples, "-o", out).code == 2
    assert out.read_bytes() == b"mine"
