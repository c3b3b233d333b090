"""The methods of a config reach the task: frozen parts, optimizer, loss and callbacks."""

from pathlib import Path

import numpy as np
import pytest

from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError
from kerasbert.losses import ContrastiveLoss, CosineLoss, CrossEntropy, InBatchNegatives
from kerasbert.optimizers.parameter_groups import part_of
from kerasbert.tasks.compiling import frozen_paths
from kerasbert.training import GradualUnfreezing, TrainConfig, WarmupCosineDecay
from kerasbert.training.preparation import is_chief, parse_class_weights, prepare, strategy_named


@pytest.fixture
def table(tiny):
    return Dataset(Path("train.tsv"), *tiny.rows(20))


def prepared(task, table, **settings):
    return prepare(task, TrainConfig(model="m", batch_size=4, epochs=2, **settings), table)


def frozen_parts(task) -> set[str]:
    return {part_of(path) for path in frozen_paths(task)}


@pytest.mark.parametrize(
    ("settings", "frozen"),
    [
        ({}, set()),
        ({"freeze": "encoder"}, {"embeddings", "layers.0", "layers.1"}),
        ({"freeze": "embeddings, layers.0"}, {"embeddings", "layers.0"}),
        ({"top_layers": 1}, {"embeddings", "layers.0"}),
    ],
)
def test_parts_that_are_not_trained_are_frozen(tiny, table, settings, frozen):
    task = tiny.classifier()
    prepared(task, table, **settings)
    assert frozen_parts(task) == frozen


def test_only_adapters_norms_and_head_are_trained(tiny, table):
    from kerasbert.encoders import BertConfig, BertEncoder
    from kerasbert.tasks import TextClassifier

    encoder = BertEncoder(BertConfig(**tiny.sizes), adapters=4)
    task = TextClassifier(encoder, tiny.tokenizer(), labels=tiny.labels, sequence_length=16)
    prepared(task, table, adapters=4)
    frozen = frozen_paths(task)
    assert "encoder.layers.0.attention.query.kernel" in frozen and "classifier.kernel" not in frozen
    assert not [path for path in frozen if "adapter" in path]


def test_optimizer_settings(tiny, table):
    task = tiny.classifier()
    prepared(
        task,
        table,
        schedule="cosine",
        warmup=0.2,
        weight_decay=0.3,
        clip_norm=2.0,
        layer_decay=0.5,
        rates={"head": 0.1},
    )
    schedule = task.optimizer._learning_rate
    assert isinstance(schedule, WarmupCosineDecay) and (schedule.steps, schedule.warmup_steps) == (10, 2)
    assert (task.optimizer.weight_decay, task.optimizer.global_clipnorm) == (0.3, 2.0)
    variables = task.variables_by_path()
    rate = {path: task.optimizer._factor(task.optimizer._var_key(v)) for path, v in variables.items()}
    assert rate["encoder.layers.0.attention.query.kernel"] == 0.25
    assert rate["classifier.kernel"] == pytest.approx(0.1 / 5e-4)  # the rate that is recommended for this size


def test_gradual_unfreezing_is_a_callback(tiny, table):
    (callback,) = prepared(tiny.classifier(), table, unfreeze=True)
    assert isinstance(callback, GradualUnfreezing)


def test_classification_losses(tiny, table):
    task = tiny.narrow()
    prepared(task, table, label_smoothing=0.1)
    assert isinstance(task.loss, CrossEntropy) and task.loss.label_smoothing == 0.1
    prepared(task, table, class_weights="balanced")
    counts = np.bincount(task.encode_labels(table.y))
    np.testing.assert_allclose(task.loss.class_weights, 20 / (2 * counts))
    prepared(task, table)
    assert not isinstance(task.loss, CrossEntropy)
    with pytest.raises(KerasBertError, match="'regression'"):
        prepared(
            tiny.narrow(problem="regression", labels=None),
            Dataset(table.path, table.x, [1.0] * 20),
            label_smoothing=0.1,
        )


def test_class_weights_by_label_name():
    assert parse_class_weights("b=2.5", ("a", "b", "c")) == [1.0, 2.5, 1.0]
    assert parse_class_weights(None, ("a", "b")) is None
    for wrong in ("d=1", "a=x", "a=-1", "a"):
        with pytest.raises(KerasBertError, match=f"received '{wrong}'"):
            parse_class_weights(wrong, ("a", "b"))


@pytest.mark.long
def test_sentence_pair_losses(tiny, table):
    pairs = [(text, text[::-1]) for text in table.x]
    for y, settings, loss in (
        ([0.0, 5.0] * 10, {}, CosineLoss),
        (None, {}, InBatchNegatives),
        ([0, 1] * 10, {"pair_loss": "contrastive"}, ContrastiveLoss),
        (None, {"pair_loss": "in-batch-negatives"}, InBatchNegatives),
    ):
        task = tiny.sentence_encoder()
        prepared(task, Dataset(table.path, pairs, y), **settings)
        assert isinstance(task.loss, loss)
    task = tiny.sentence_encoder()
    prepared(task, Dataset(table.path, pairs, [1.0, 5.0] * 10))
    assert task.loss.scores == (0.0, 5.0)


def test_unknown_parts_are_rejected(tiny, table):
    with pytest.raises(KerasBertError, match="'decoder'"):
        prepared(tiny.classifier(), table, freeze="decoder")
    with pytest.raises(KerasBertError, match="layers.9"):
        prepared(tiny.classifier(), table, rates={"layers.9": 1e-3})
    with pytest.raises(KerasBertError, match="from 0 to 2 layers"):
        prepared(tiny.classifier(), table, top_layers=3)


def test_only_the_chief_writes(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert is_chief()
    for index, writes in ((0, True), (1, False)):
        monkeypatch.setenv("TF_CONFIG", f'{{"task": {{"type": "worker", "index": {index}}}}}')
        assert is_chief() == writes
    cluster = '"cluster": {"chief": ["a:1"], "worker": ["b:1"]}'
    for kind, writes in (("chief", True), ("worker", False)):
        monkeypatch.setenv("TF_CONFIG", f'{{{cluster}, "task": {{"type": "{kind}", "index": 0}}}}')
        assert is_chief() == writes
    with strategy_named(None).scope():
        pass
