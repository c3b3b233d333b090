"""`kerasbert prune --sparsity`: saved model, output and errors."""

import json

import numpy as np
import pytest

from kerasbert.checkpoints.safetensors_file import read_tensors


def kernels(folder) -> dict[str, np.ndarray]:
    """Return the kernels (out, in) of the encoder's layers."""
    return {name: values for name, values in read_tensors(folder).items() if ".layer." in name and values.ndim == 2}


@pytest.fixture
def refused(run, place, tmp_path):
    def check(expected, *arguments):
        done = run("prune", *arguments, "--train", place.train, "--out", tmp_path / "out")
        assert done.code == 2 and expected in done.err.splitlines()[-1], done.err
        assert done.out == "" and not (tmp_path / "out").exists()

    return check


@pytest.mark.long
def test_a_pruned_model_and_its_record(made, place, run, tmp_path):
    data = ["--train", place.train, "--dev", place.dev, "--epochs", "2", "--learning-rate", "1e-3"]
    first, second = tmp_path / "first", tmp_path / "second"
    options = ["--sparsity", "0.75", "--part", "*.feed_forward.*=0.5", "--updates", "4", "--dropout", "0.05"]
    done = run("prune", made.float, *options, *data, "--out", first)
    assert done.code == 0, done.err
    assert "of the kernels' weights are 0" in done.out and "before pruning" in done.out
    record = json.loads((first / "training.json").read_text())
    assert record["sparsity"]["target"] == 0.75 and record["sparsity"]["parts"] == {"*.feed_forward.*": 0.5}
    assert set(record["dev_before"]) == set(record["dev_after"]) and record["kept_epoch"] == 2
    assert record["zeros"]["kernels"]["layers.1.attention.query"] == 0.75
    assert json.loads((first / "config.json").read_text())["attention_probs_dropout_prob"] == 0.05
    found = {name: float(np.mean(values == 0)) for name, values in kernels(first).items()}
    assert {share for name, share in found.items() if "attention" in name} == {0.75}
    assert {share for name, share in found.items() if "attention" not in name} == {0.5}

    done = run("prune", first, "--keep-zeros", *data, "--out", second, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["zeros"] == record["zeros"]
    before, after = kernels(first), kernels(second)
    assert all((after[name][before[name] == 0] == 0).all() for name in before)
    assert any(not np.array_equal(after[name], before[name]) for name in before)


@pytest.mark.long
def test_pruning_with_distillation_from_the_original_model(made, place, run, tmp_path):
    learning = ["--objectives", "soft-labels=1", "--label-weight", "0", "--updates", "2"]
    done = run(
        "prune",
        made.float,
        "--sparsity",
        "0.5",
        *learning,
        "--train",
        place.train,
        "--epochs",
        "1",
        "--out",
        tmp_path / "out",
        "--json",
    )
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["zeros"]["kernels"]["layers.0.attention.key"] == 0.5 and found["objectives"] == "soft-labels=1"
    assert found["epochs"][0]["soft_labels"] > 0 and "label_loss" not in found["epochs"][0]


@pytest.mark.long
def test_impossible_options_are_rejected_before_training(made, refused):
    refused("received none", made.float)
    refused("expected --sparsity with --part", made.float, "--keep-zeros", "--part", "pooler=0.5")
    refused("received 'pooler'", made.float, "--sparsity", "0.5", "--part", "pooler")
    refused("above 0 and below 1, received 1.0", made.float, "--sparsity", "1")
    refused("above 0 and below 1, received 0.0", made.float, "--sparsity", "0")
    refused("0.5 for the pattern 2:4", made.float, "--sparsity", "0.8", "--pattern", "2:4")
    refused("that 3x1 divides, received layers.0", made.float, "--sparsity", "0.8", "--pattern", "3x1")
    refused("received 'decoder.*'", made.float, "--sparsity", "0.5", "--part", "decoder.*=0.5")
    refused("which is quantized", made.int8, "--sparsity", "0.5")
    refused("which has no zeros", made.float, "--keep-zeros")
