"""`kerasbert show`."""

import json

import numpy as np
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


@pytest.mark.parametrize("model", ["float", "checkpoint"])
def test_layers_of_a_saved_model_and_of_a_checkpoint_are_probed(place, made, run, model, tmp_path):
    folder = made.float if model == "float" else place.checkpoint
    data = ("--train", place.train, "--dev", place.dev, "--max-rows", 48)
    done = run("show", "layers", folder, *data, "--seeds", 1, "--epochs", 2, "--json", "-o", tmp_path / "layers.svg")
    found = json.loads(done.out)
    assert done.code == 0 and found["metric"] == "accuracy" and len(found["layers"]) == 3
    assert (found["head"] is None) == (model == "checkpoint") and (tmp_path / "layers.svg").is_file()


@pytest.mark.long
def test_a_landscape_has_two_lines_and_a_plane(place, made, run):
    arguments = ("landscape", place.checkpoint, made.float, "--data", place.dev, "--rows", 8, "--points", 4)
    done = run(
        "show", *arguments, "--train", place.train, "--max-rows", 32, "--epochs", 1, "--plane-points", 2, "--json"
    )
    found = json.loads(done.out)
    assert done.code == 0 and len(found["lines"]) == 2 and np.shape(found["plane"]["losses"]) == (2, 2)
    both = run("show", *arguments, "--train", place.train, "--other", made.float)
    assert both.code == 2 and "expected --train or --other" in both.err


def test_a_landscape_starts_with_the_head_of_the_training(place, made):
    import tf_keras as keras

    import kerasbert as kb
    from kerasbert.cli.runs.shown_models import landscape_models

    start, tuned, other = landscape_models(place.checkpoint, made.float, None, seed=1)
    keras.utils.set_random_seed(1)
    new = kb.TextClassifier.from_pretrained(place.checkpoint, labels=["neg", "pos"], sequence_length=16)
    assert start.fingerprint() == new.fingerprint() != tuned.fingerprint() and other is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("attention", "MODEL", "--text", ""), "a text with at least one word"),
        (("attention", "MODEL", "--text", "a", "-o", "x.pdf"), "ending in .png or .svg or .html"),
        (("attention", "FILE", "--text", "a"), "holds only its outputs and no hidden states"),
        (("words", "MODEL", "--word", "film"), "expected texts or --file, received neither"),
        (("words", "MODEL", "--word", "film", "so bad"), "sentence 1 without it"),
        (("changes", "MODEL", "FILE"), "whose weights are those of a compiled graph"),
        (("layers", "FILE", "--train", "TRAIN", "--dev", "0.5"), "expected a folder for its layers, received the file"),
        (
            ("landscape", "MODEL", "FILE", "--data", "TRAIN"),
            "expected a folder for its weights to move, received the file",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused(place, made, run, arguments, message):
    names = {"MODEL": made.float, "FILE": made.file, "TRAIN": place.train}
    done = run("show", *(names.get(each, each) for each in arguments))
    assert done.code == 2 and message in done.err and done.err.startswith("error: ")


@pytest.mark.parametrize("command", ["attention", "words", "layers", "changes", "landscape"])
def test_commands_have_help_with_an_example(run, command):
    shown = run("show", command, "--help").out
    assert f"Example: kerasbert show {command} " in shown and max(map(len, shown.splitlines())) <= 80
