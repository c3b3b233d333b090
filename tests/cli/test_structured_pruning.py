"""`kerasbert prune` of layers, heads, neurons and vocabulary: output, errors, and use of the pruned folder."""

import json

import numpy as np
import pytest


@pytest.fixture(scope="module")
def folder(place):
    """A classifier with four heads and 32 neurons in each of three layers."""
    import tf_keras as keras

    from kerasbert.encoders.bert import BertConfig, BertEncoder
    from kerasbert.tasks import TextClassifier
    from kerasbert.text import tokenizer_from_folder

    keras.utils.set_random_seed(0)
    tokenizer = tokenizer_from_folder(place.checkpoint)
    sizes = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 32}
    config = BertConfig(vocab_size=tokenizer.vocabulary_size, max_position_embeddings=64, **sizes)
    task = TextClassifier(BertEncoder(config), tokenizer, labels=["neg", "pos"], sequence_length=16)
    task.save_pretrained(place.folder / "whole")
    return place.folder / "whole"


@pytest.fixture(scope="module")
def pruned(place, folder):
    """The folder with every kind of part removed."""
    from kerasbert.cli import main

    words = place.folder / "corpus.txt"
    words.write_text("a good plot\nthe film is so bad\ngreat fun\n\nboring\n", "utf-8")
    out = place.folder / "cut"
    ways = ["--layers", "2", "--heads", "0.25", "--feed-forward", "0.4", "--vocabulary", str(words)]
    data = ["--data", place.train, "--dev", place.dev, "--max-rows", "24"]
    assert main(["prune", str(folder), *ways, *data, "--out", str(out)]) == 0
    return out


def test_all_parts_in_one_command(pruned):
    from kerasbert.tasks.auto import load_task

    task = load_task(pruned)
    assert task.config.num_hidden_layers == 2 and task.config.intermediate_size == 24
    assert sum(task.encoder.cut.heads) == 6 and min(task.encoder.cut.heads) >= 1
    assert (
        task.config.vocab_size == 16 and "awful" not in task.tokenizer.vocabulary
    )  # the corpus and five special tokens
    assert task.predict(["a good film"]).shape == (1, 2)


def test_json_has_sizes_and_metrics(run, place, folder):
    done = run("prune", folder, "--layers", 1, "--strategy", "symmetric", "--dev", place.dev, "--max-rows", 16,
               "--out", place.folder / "one", "--json")  # fmt: skip
    found = json.loads(done.out)
    assert done.code == 0 and (found["before"]["layers"], found["after"]["layers"]) == (3, 1)
    assert found["after"]["heads"] == [4] and found["after"]["feed_forward"] == [32]
    assert found["after"]["bytes"] == 4 * found["after"]["parameters"] < found["before"]["bytes"]
    assert set(found["dev_before"]) == set(found["dev_after"]) == {"accuracy", "F1", "MCC"}


def test_sizes_are_printed_as_a_table(run, place, folder):
    done = run("prune", folder, "--heads", 0.5, "--heads-per-layer", "--data", place.train, "--max-rows", 16,
               "--out", place.folder / "heads")  # fmt: skip
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert done.code == 0 and lines[0] == f"saved {place.folder / 'heads'}"
    assert {"layers 3 3", "heads 4 2", "feed-forward 32 32"} <= set(lines)


def test_a_pruned_model_is_trained_and_converted(run, place, pruned):
    trained, file = place.folder / "trained", place.folder / "cut.tflite"
    learn = ["--epochs", 1, "--learning-rate", "1e-3", "--max-rows", 16, "--batch-size", 16]
    done = run("train", "--task", "classification", "--model", pruned, "--train", place.train, *learn, "--out", trained)
    assert done.code == 0
    own = [json.loads((path / "kerasbert.json").read_text("utf-8"))["encoder"] for path in (pruned, trained)]
    assert own[0] == own[1]
    assert run("convert", trained, "--recipe", "dynamic_wi8_afp32", "-o", file).code == 0
    from kerasbert.export.runtime.predictor import open_predictor
    from kerasbert.tasks.auto import load_task

    texts = ["a good film", "so bad", "boring plot"]
    of_file = [each["probabilities"] for each in open_predictor(str(file), 1).predictions(texts)]
    of_folder = [each["probabilities"] for each in load_task(trained).predictions(texts)]
    for one, other in zip(of_file, of_folder, strict=True):
        np.testing.assert_allclose(list(one.values()), list(other.values()), atol=0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [],
            "expected --sparsity, --keep-zeros, --layers, --heads, --feed-forward or --vocabulary, received none",
        ),
        (["--heads", "1"], "expected --heads as a fraction above 0 and below 1, received 1"),
        (["--feed-forward", "0"], "expected --feed-forward as a fraction above 0 and below 1, received 0"),
        (["--heads", "0.5"], "expected --data for --heads, which measures importance, received none"),
        (
            ["--layers", "1", "--strategy", "contribution"],
            "expected --data for --strategy contribution, which measures importance",
        ),
        (["--layers", "1", "--heads-per-layer"], "expected --heads with --heads-per-layer, received none"),
        (["--layers", "1", "--no-characters"], "expected --vocabulary with --no-characters, received none"),
        (["--heads", "0.5", "--strategy", "bottom"], "expected --layers with --strategy bottom, received none"),
        (
            ["--layers", "1", "--sparsity", "0.5"],
            "expected either --sparsity or parts to remove, received both with --layers",
        ),
        (["--layers", "1", "--train", "x.tsv"], "expected no training for --layers, received --train"),
        (["--layers", "1", "--resume"], "expected no training for --layers, received --resume"),
        (["--sparsity", "0.5"], "expected --train for --sparsity and --keep-zeros, received none"),
    ],
)
def test_options_are_checked_before_the_model_is_loaded(run, place, arguments, message):
    done = run("prune", "no such folder", *arguments, "--out", place.folder / "never")
    assert done.code == 2 and message in done.err and not (place.folder / "never").exists()


def test_too_many_layers_are_rejected(run, place, folder):
    done = run("prune", folder, "--layers", 3, "--out", place.folder / "never")
    assert done.code == 2
    message = f"expected --layers from 1 to 2, received 3; {folder} has 3 layers, and pruning must leave fewer"
    assert done.err == f"error: {message}\n"  # nothing was loaded
    assert not (place.folder / "never").exists()


def test_importance_needs_texts_with_known_tokens(run, place, folder, tmp_path):
    blank = tmp_path / "blank.tsv"
    blank.write_text("text\tlabel\n \tpos\n \tneg\n", "utf-8")
    for arguments in (["--heads", "0.5"], ["--layers", "1", "--strategy", "contribution"]):
        done = run("prune", folder, *arguments, "--data", blank, "--out", tmp_path / "never")
        assert done.code == 2 and "2 rows without one" in done.err and not (tmp_path / "never").exists()
