"""`kerasbert predict --layer`."""

import json

import numpy as np


def test_vectors_of_a_layer_are_written(place, made, run, tmp_path):
    out = tmp_path / "states.npy"
    done = run("predict", made.float, "--layer", -2, "a good film", "so bad", "-o", out, "--json")
    assert done.code == 0 and json.loads(done.out)["layer"] == 1 and np.load(out).shape == (2, 16)
    assert run("predict", made.float, "--layer", -2, "good", "-o", out).err.startswith("error: expected a new file")
    assert run("predict", made.float, "--layer", 0, "--file", place.dev, "-o", out, "--overwrite").code == 0
    assert np.load(out).shape == (64, 16)


def test_vectors_of_tokens_are_written(place, run, tmp_path):
    out = tmp_path / "tokens.npz"
    done = run("predict", place.checkpoint, "--layer", 2, "--vectors", "tokens", "a good film", "-o", out)
    with np.load(out) as arrays:
        assert arrays["tokens"].tolist() == ["[CLS]", "a", "good", "film", "[SEP]"]
        assert {name: len(arrays[name]) for name in arrays} == dict.fromkeys(
            ("vectors", "tokens", "offsets", "text", "part"), 5
        )
    assert done.out == f"wrote {out}: float32, 5 x 16; vectors, tokens, offsets, text, part\n"


def test_impossible_layers_are_refused(made, run, tmp_path):
    out = tmp_path / "states.npy"
    for arguments, message in (
        ((made.float, "--layer", 3, "-o", out), "from -1 (the last) to -3, received 3"),
        ((made.file, "--layer", 1, "-o", out), "holds only its outputs and no hidden states"),
        ((made.float, "--layer", 1), "expected --out with --layer"),
        ((made.float, "--vectors", "cls"), "expected --layer with --vectors"),
        ((made.float, "--layer", 1, "--vectors", "sum", "-o", out), "--vectors as one of mean, cls, tokens"),
        ((made.float, "--layer", 1, "--vectors", "tokens", "-o", out), "ending in .npz"),
    ):
        done = run("predict", *arguments, "good")
        assert done.code == 2 and message in done.err, done.err
    assert not out.exists()
