"""Training runs: resuming to the same numbers, best-epoch selection, early stopping."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tf_keras as keras

from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError
from kerasbert.processors.classification import SingleLabel
from kerasbert.tasks.auto import load_task
from kerasbert.training import RunFolder, TrainConfig, adamw, train
from kerasbert.training.result import format_kept_epoch
from kerasbert.training.run_folder import check_resumable
from tests.kills import KillAfter, Killed

pytestmark = pytest.mark.one_layer

ROWS, BATCH, EPOCHS = 44, 8, 3
STEPS = 6  # an epoch


@pytest.fixture
def parts(tiny, tmp_path):
    """A factory of the same tables, folder and newly compiled task."""

    class Parts:
        folder = RunFolder(tmp_path / "model")
        config = TrainConfig(model="m", epochs=EPOCHS, batch_size=BATCH, seed=5, checkpoint_minutes=0)

        def table(self, name: str, rows: int) -> Dataset:
            texts, labels = tiny.rows(rows, seed=len(name))
            path = tmp_path / f"{name}.tsv"
            path.write_text("".join(f"{a}\t{b}\n" for a, b in zip(texts, labels, strict=True)))
            return Dataset(path, texts, labels)

        def task(self, rate: float = 3e-3):
            task = tiny.narrow(seed=2)
            task.compile(adamw(rate, steps=STEPS * EPOCHS), run_eagerly=True)
            return task

        def run(self, task=None, folder=None, **options):
            folder = folder or self.folder
            if not options.get("resume"):
                folder.begin(TrainConfig(model="m", epochs=2))
            options.setdefault("config", self.config)
            return train(
                task or self.task(), self.table("train", ROWS), self.table("dev", 12), folder=folder, **options
            )

    return Parts()


@pytest.mark.long_cases
@pytest.mark.parametrize("steps", [2, STEPS + 4, 2 * STEPS])
def test_a_resumed_run_equals_an_uninterrupted_one(parts, tmp_path, steps):
    whole, whole_folder = parts.task(), RunFolder(tmp_path / "whole")
    unbroken = parts.run(whole, whole_folder)
    with pytest.raises(Killed):
        parts.run(callbacks=(KillAfter(steps),))
    assert parts.folder.unfinished
    keras.utils.set_random_seed(99)  # a new process has another seed
    resumed = parts.task()
    again = parts.run(resumed, resume=True)
    assert [record["loss"] for record in again.epochs] == [record["loss"] for record in unbroken.epochs]
    assert again.epochs == unbroken.epochs and again.kept_epoch == unbroken.kept_epoch
    for one, other in zip(whole.weights, resumed.weights, strict=True):
        np.testing.assert_array_equal(one, other)
    lines = [[(r["step"], r["loss"]) for r in folder.records()] for folder in (whole_folder, parts.folder)]
    assert lines[0] == lines[1] and len(lines[0]) == EPOCHS
    assert not parts.folder.unfinished


@pytest.mark.long
def test_dropout_is_active_in_the_resumed_run(parts):
    """Without randomness the comparison above would show little."""
    task = parts.task()
    before = task.dropout.state.numpy()
    parts.run(task)
    assert task.dropout.rate > 0 and task.dropout.state.numpy()[1] == before[1] + STEPS * EPOCHS


@pytest.mark.long
def test_the_best_epoch_is_kept_and_saved(parts, monkeypatch):
    task = parts.task()
    values = iter([0.5, 0.9, 0.7])
    weights = []

    def metrics(*arguments):
        weights.append(task.classifier.kernel.numpy())
        return {"accuracy": next(values)}

    monkeypatch.setattr(SingleLabel, "metrics", metrics)
    result = parts.run(task)
    assert result.kept_epoch == 2 and result.dev == {"accuracy": 0.9}
    np.testing.assert_array_equal(task.classifier.kernel, weights[1])
    np.testing.assert_array_equal(load_task(parts.folder.model).classifier.kernel, weights[1])
    assert np.abs(weights[2] - weights[1]).max() > 0


@pytest.mark.parametrize(
    ("values", "line_start"),
    [
        ((0.0, 0.0, 0.0), "kept epoch 1 of 3: entity F1 is 0 on dev.tsv after every epoch, so the earliest is kept; train "),
        ((0.2, 0.5, 0.5), "kept epoch 2 of 3, the best by entity F1 on dev.tsv, tied with 1 later epoch"),
        ((0.5, 0.5, 0.5), "kept epoch 1 of 3, the best by entity F1 on dev.tsv, tied with 2 later epochs"),
        ((0.2, 0.5, 0.4), "kept epoch 2 of 3, the best by entity F1 on dev.tsv"),
    ],
)  # fmt: skip
def test_the_kept_epoch_is_explained(values, line_start):
    line = format_kept_epoch([{"entity F1": value} for value in values], values.index(max(values)) + 1, "dev.tsv")
    assert line.startswith(line_start) and (line == line_start or line_start.endswith("train "))


@pytest.mark.long
def test_a_run_without_a_folder_keeps_the_best_epoch_and_writes_nothing(parts, tmp_path, monkeypatch):
    with_folder, without = parts.task(), parts.task()
    scores = iter([0.2, 0.9, 0.4] * 2)
    monkeypatch.setattr(SingleLabel, "metrics", lambda *arguments: {"accuracy": next(scores)})
    config = replace(parts.config, epochs=3)
    kept = parts.run(with_folder, config=config)
    train_data, dev = parts.table("train", ROWS), parts.table("dev", 12)
    before = sorted(tmp_path.rglob("*"))
    result = train(without, train_data, dev, config, validation=dev)
    assert sorted(tmp_path.rglob("*")) == before and result.kept_epoch == kept.kept_epoch == 2
    assert {"val_loss", "val_accuracy"} <= result.epochs[0].keys()
    for one, other in zip(with_folder.get_weights(), without.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(KerasBertError, match="expected a run folder to resume from, received none"):
        train(without, train_data, dev, config, resume=True)


@pytest.mark.long
def test_reported_speed_is_that_of_the_epoch(parts, told):
    """A state saved in the middle of the epoch does not change it."""
    result = parts.run(progress=told, config=replace(parts.config, epochs=1))
    speed = float(
        [figures for *_, figures in told.steps if figures][-1][-1].removesuffix(" examples/s").replace(",", "")
    )
    assert speed == pytest.approx(ROWS / result.seconds, rel=0.5)


@pytest.mark.long
def test_progress_counts_steps_and_the_rows_of_dev(parts, told):
    parts.run(progress=told)
    reports = [step[:3] for step in told.steps]
    training = [(done, total) for stage, done, total in reports if stage == "training"]
    assert training[0] == (0, EPOCHS * STEPS) and training[-1] == (EPOCHS * STEPS, EPOCHS * STEPS)
    assert training == sorted(training)
    assert [(done, total) for stage, done, total in reports if stage == "scoring dev"] == [(0, 0), (12, 12)] * EPOCHS
    ends = [i for i, (stage, done, _) in enumerate(reports) if stage == "training" and done and done % STEPS == 0]
    assert {reports[i + 1][0] for i in ends if i + 1 < len(reports)} <= {"scoring dev", "training"}


@pytest.mark.long
def test_early_stopping(parts, monkeypatch, told):
    task, notes = parts.task(), told.notes
    monkeypatch.setattr(SingleLabel, "metrics", lambda *arguments: {"accuracy": 0.5})
    result = parts.run(
        task, config=replace(parts.config, seed=1, checkpoint_minutes=5.0, early_stopping=1), progress=told
    )
    assert len(result.epochs) == 2 and result.kept_epoch == 1
    assert notes[-1] == "kept epoch 1 of 2, the best by accuracy on dev.tsv, tied with 1 later epoch"


@pytest.mark.long
def test_a_nan_loss_stops_the_run_and_keeps_the_saved_model(parts):
    task = parts.task()

    class Poison(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            if int(task.optimizer.iterations) == STEPS + 2:
                task.classifier.bias.assign([np.nan, 0])

    with pytest.raises(
        KerasBertError, match=rf"nan at step {STEPS + 3} \(batch 3 of epoch 2\).*keeps the model of epoch 1"
    ):
        parts.run(task, callbacks=(Poison(),))
    assert np.isfinite(load_task(parts.folder.model).classifier.bias.numpy()).all()


@pytest.mark.long
def test_weights_that_diverge_in_the_last_step_are_not_saved(parts):
    """No later loss shows it: the loss of a step is that of the weights before it."""
    task = parts.task()

    class Poison(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if int(task.optimizer.iterations) == STEPS * EPOCHS:
                task.classifier.bias.assign([np.inf, 0])

    parts.folder.begin(TrainConfig(model="m", epochs=2))
    message = (
        rf"infinity in the weights at step {STEPS * EPOCHS} .*classifier.bias.*keeps the model of epoch {EPOCHS - 1}"
    )
    with pytest.raises(KerasBertError, match=message):
        train(task, parts.table("train", ROWS), None, parts.config, parts.folder, callbacks=(Poison(),))
    assert np.isfinite(load_task(parts.folder.model).classifier.bias.numpy()).all()


@pytest.mark.long
def test_a_flipped_bit_in_the_state_is_found(parts):
    with pytest.raises(Killed):
        parts.run(callbacks=(KillAfter(STEPS + 2),))
    content = bytearray(parts.folder.state.read_bytes())
    for place in (len(content) - 5, len(content) // 2):
        damaged = bytearray(content)
        damaged[place] ^= 1
        parts.folder.state.write_bytes(damaged)
        with pytest.raises(
            KerasBertError,
            match="state.safetensors: expected a file as it was written, by its checksum, received other",
        ):
            parts.run(resume=True)
    parts.folder.state.write_bytes(content)
    parts.run(resume=True)


@pytest.mark.long
def test_a_state_without_its_settings_is_no_finished_run(parts):
    with pytest.raises(Killed):
        parts.run(callbacks=(KillAfter(STEPS + 2),))
    parts.folder.config.unlink()
    with pytest.raises(KerasBertError, match="received one without config.toml, which holds its settings; restore"):
        check_resumable(parts.folder, TrainConfig(model="m"))


@pytest.mark.long
def test_runs_that_cannot_be_resumed(parts, tiny):
    with pytest.raises(KerasBertError, match="received none; leave out --resume"):
        check_resumable(parts.folder, TrainConfig(model="m"))
    with pytest.raises(Killed):
        parts.run(callbacks=(KillAfter(STEPS + 2),))
    check_resumable(parts.folder, TrainConfig(model="m"))  # epochs as the interrupted run chose
    with pytest.raises(KerasBertError, match="--epochs 9 in place of 2"):
        check_resumable(parts.folder, TrainConfig(model="m", epochs=9))
    other = tiny.classifier(seed=2)
    other.compile(adamw(1e-3), run_eagerly=True)
    with pytest.raises(KerasBertError, match="another's"):
        parts.run(other, resume=True)
    path = parts.table("train", ROWS).path
    edited = Dataset(path, *tiny.rows(ROWS, seed=77))
    path.write_text("edited")
    with pytest.raises(KerasBertError, match="train data.*edited since"):
        train(parts.task(), edited, parts.table("dev", 12), parts.config, parts.folder, resume=True)


@pytest.mark.long
def test_metrics_are_json_lines(parts):
    parts.run()
    lines = [json.loads(line) for line in parts.folder.metrics.read_text().splitlines()]
    assert [line["step"] for line in lines] == [STEPS, 2 * STEPS, 3 * STEPS]
    assert set(lines[0]) == {"step", "epoch", "loss", "accuracy", "dev"}
    assert Path(parts.folder.config).read_text().startswith('model = "m"')
