"""`kerasbert show`."""

import json

import pytest


def test_attention_is_shown_and_written(place, run, tmp_path):
    out = tmp_path / "attention.html"
    done = run("show", "attention", place.checkpoint, "--text", "a good film", "-o", out)
    assert done.code == 0 and "attention in layer 2, the mean of 2 heads" in done.out and f"wrote {out}" in done.out
    again = run("show", "attention", place.checkpoint, "--text", "a good film", "-o", out)
    assert again.code == 2 and "which exists; name another, or add --overwrite" in again.err
    assert run("show", "attention", place.checkpoint, "--text", "so bad", "-o", out, "--overwrite").code == 0
    out.write_text("of another program")
    assert (
        "neither; name another"
        in run("show", "attention", place.checkpoint, "--text", "a", "-o", out, "--overwrite").err
    )


def test_words_of_a_file_are_compared(place, run, tmp_path):
    (tmp_path / "sentences.txt").write_text("a good film\n\nthe film is bad\n", "utf-8")
    done = run("show", "words", place.checkpoint, "--word", "film", "--file", tmp_path / "sentences.txt", "--json")
    found = json.loads(done.out)
    assert found["occurrences"][1] == {"sentence": 1, "text": "the film is bad"} and len(found["similarities"]) == 3


def test_changes_of_a_quantized_folder_are_those_of_its_float_weights(place, made, run, tmp_path):
    done = run("show", "changes", place.checkpoint, made.int8, "-o", tmp_path / "changes.png")
    assert done.code == 0 and "layer 2" in done.out and (tmp_path / "changes.png").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("attention", "MODEL", "--text", ""), "a text with at least one word"),
        (("attention", "MODEL", "--text", "a", "-o", "x.pdf"), "ending in .png or .svg or .html"),
        (("attention", "FILE", "--text", "a"), "holds only its outputs and no hidden states"),
        (("words", "MODEL", "--word", "film"), "expected texts or --file, received neither"),
        (("words", "MODEL", "--word", "film", "so bad"), "sentence 1 without it"),
        (("changes", "MODEL", "FILE"), "whose weights are those of a compiled graph"),
    ],
)
def test_what_cannot_be_shown_is_refused(made, run, arguments, message):
    names = {"MODEL": made.float, "FILE": made.file}
    done = run("show", *(names.get(each, each) for each in arguments))
    assert done.code == 2 and message in done.err and done.err.startswith("error: ")


@pytest.mark.parametrize("command", ["attention", "words", "changes"])
def test_commands_have_help_with_an_example(run, command):
    shown = run("show", command, "--help").out
    assert f"Example: kerasbert show {command} " in shown and max(map(len, shown.splitlines())) <= 80
