"""Pruning by magnitude: schedule, patterns, masks that hold, and what a file gets of them."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

from kerasbert.compression import quantize
from kerasbert.compression.pruning.magnitude import Sparsity, prunable_kernels
from kerasbert.compression.pruning.masks import MagnitudePruning, PreserveSparsity
from kerasbert.compression.pruning.sparsity_report import gzip_size, pruned_kernels, sparsity_report
from kerasbert.errors import KerasBertError
from kerasbert.layers.traversal import dense_layers
from kerasbert.training import RunFolder, TrainConfig, adamw, freeze, train as train_task
from tests.kills import KillAfter, Killed

BATCH, STEPS = 8, 6  # steps an epoch
SHORT = ["good film", "fine book"] * 4  # of one length: a graph is traced once


def compiled(task, **options):
    task.compile(adamw(3e-3), **{"run_eagerly": True, **options})
    return task


def fit(task, tiny, *callbacks, epochs: int = 1, **options):
    texts, labels = tiny.rows(BATCH * STEPS)
    return task.fit(
        texts, labels, batch_size=BATCH, epochs=epochs, seed=0, verbose=0, callbacks=list(callbacks), **options
    )


def shares(task) -> dict[str, float]:
    return {path: float(np.mean(kernel.numpy() == 0)) for path, kernel in prunable_kernels(task).items()}


class Watch(keras.callbacks.Callback):
    """The zeros of one kernel behind every step."""

    def __init__(self, kernel):
        super().__init__()
        self.kernel, self.zeros = kernel, []

    def on_train_batch_end(self, batch, logs=None):
        self.zeros.append(self.kernel.numpy() == 0)


@pytest.fixture(scope="module")
def pruned(tiny):
    """A narrow classifier with half of every encoder kernel zero, one channel of the pooler all of it; not to be changed."""
    task = compiled(tiny.narrow(seed=3))
    fit(task, tiny, MagnitudePruning(Sparsity(0.5, updates=2)))
    task.encoder.pooler.kernel[:, 1].assign(tf.zeros(8))
    return task


@pytest.mark.long
def test_sparsity_follows_the_schedule(tiny):
    task = compiled(tiny.narrow())
    kernel = task.encoder.layers[0].attention.query.kernel
    watch = Watch(kernel)
    sparsity = Sparsity(0.75, begin=1 / 6, end=5 / 6, updates=4, parts={"*.output_dense": 0.5, "pooler": 0})
    fit(task, tiny, MagnitudePruning(sparsity), watch, epochs=2)
    found = [float(zeros.mean()) for zeros in watch.zeros]
    wanted = [0.75 * (1 - (1 - turn / 4) ** 3) for turn in range(5)]
    assert found[:2] == [0, 0] and found[-1] == 0.75
    # 12 steps: updates behind the second, fourth, sixth, eighth and tenth.
    np.testing.assert_allclose(found[1::2], [*wanted, 0.75], atol=1 / 64)
    assert found[2::2] == found[1:-1:2]
    after = shares(task)
    assert after["layers.0.feed_forward.output_dense"] == 0.5
    assert after["pooler"] == after["classifier"] == after["embeddings.word"] == 0


@pytest.mark.long
def test_compiled_steps_are_pruned_too(tiny):
    task = compiled(tiny.narrow(), run_eagerly=False, jit_compile=True)
    watch = Watch(task.encoder.pooler.kernel)
    callbacks = [MagnitudePruning(Sparsity(0.5, updates=1)), watch]
    task.fit(SHORT, ["positive"] * 8, batch_size=2, verbose=0, callbacks=callbacks)
    assert [zeros.mean() for zeros in watch.zeros] == [0, 0.5, 0.5, 0.5]
    np.testing.assert_array_equal(watch.zeros[1], watch.zeros[3])


@pytest.mark.long
def test_smallest_weights_are_pruned_and_may_return_until_the_end(tiny):
    task = compiled(tiny.narrow())
    kernel = task.encoder.layers[0].attention.value.kernel
    before = np.abs(kernel.numpy())
    watch = Watch(kernel)
    fit(task, tiny, MagnitudePruning(Sparsity(0.5, end=4 / 6, updates=4)), watch)
    first = watch.zeros[0]  # 0.5 * (1 - 0.75 ** 3) of 64 weights, after one small step
    assert first.sum() in (18, 19) and before[first].max() < np.sort(before.ravel())[30]
    came_back = [bool((one & ~other).any()) for one, other in zip(watch.zeros, watch.zeros[1:], strict=False)]
    assert not any(came_back[3:])  # the masks of the fourth step are the last
    np.testing.assert_array_equal(watch.zeros[3], watch.zeros[5])


@pytest.mark.long
def test_large_masked_weight_returns_at_an_update(tiny):
    """Masks are made of what the optimizer gave, not of the zeros put there before."""
    task = compiled(tiny.narrow())
    kernel = task.encoder.pooler.kernel
    watch = Watch(kernel)

    class Push(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 1:
                kernel.assign(tf.where(watch.zeros[0], 9.0, kernel))

    fit(task, tiny, Push(), MagnitudePruning(Sparsity(0.5, end=0.5, updates=3)), watch)
    assert watch.zeros[0].any() and not (watch.zeros[1] & watch.zeros[0]).any()


@pytest.mark.long
def test_two_of_four_pattern_runs_along_inputs_from_the_first_step(tiny):
    task = compiled(tiny.narrow())
    kernel = task.encoder.layers[0].feed_forward.intermediate.kernel  # (8, 16)
    before, watch = np.abs(kernel.numpy()), Watch(kernel)
    fit(task, tiny, MagnitudePruning(Sparsity(0.5, "2:4")), watch)
    np.testing.assert_array_equal(watch.zeros[0], watch.zeros[-1])
    stored = watch.zeros[-1].T.reshape(16, 2, 4)  # (out, in) as a file has it
    assert (stored.sum(-1) == 2).all()
    assert (watch.zeros[-1].reshape(8, 4, 4).sum(-1) != 2).any()
    groups = before.T.reshape(16, 2, 4)
    assert (np.where(stored, groups, 0).max(-1) <= np.where(stored, np.inf, groups).min(-1)).all()


@pytest.mark.long
def test_blocks_are_pruned_as_a_whole(tiny):
    task = compiled(tiny.narrow())
    fit(task, tiny, MagnitudePruning(Sparsity(0.5, "4x1", updates=1)))
    for path in ("layers.0.attention.key", "layers.0.feed_forward.output_dense"):
        zeros = prunable_kernels(task)[path].numpy() == 0
        blocks = zeros.reshape(len(zeros) // 4, 4, 8)
        assert (blocks.all(1) == blocks.any(1)).all() and blocks.mean() == 0.5


@pytest.mark.long
def test_frozen_kernels_stay_and_heads_and_tables_need_a_part(tiny):
    task = tiny.narrow()
    freeze(task, "layers.*")
    compiled(task)
    fit(task, tiny, MagnitudePruning(Sparsity(0.5, updates=1, parts={"classifier": 0.25, "embeddings.word": 0.75})))
    found = shares(task)
    assert {path: share for path, share in found.items() if share} == {
        "pooler": 0.5, "classifier": 0.25, "embeddings.word": 0.75,
    }  # fmt: skip


@pytest.mark.long
def test_a_later_fit_counts_its_own_steps(tiny):
    task = compiled(tiny.narrow())
    fit(task, tiny)
    fit(task, tiny, MagnitudePruning(Sparsity(0.5, updates=2)))
    assert shares(task)["pooler"] == 0.5


@pytest.mark.long
def test_student_of_a_distiller_is_pruned(tiny):
    class Distiller(keras.Model):
        def __init__(self, student, teacher):
            super().__init__()
            self.student, self.teacher = student, teacher
            self.teacher.trainable = False

        def train_step(self, data):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self.student(data, training=True) - self.teacher(data)) ** 2)
            variables = self.student.trainable_variables
            self.optimizer.minimize(loss, variables, tape=tape)
            return {"loss": loss}

    student, teacher = tiny.narrow(seed=1), tiny.narrow(seed=2)
    distiller = Distiller(student, teacher)
    distiller.compile(keras.optimizers.Adam(1e-3), run_eagerly=True)
    data = student.dataset(tiny.rows(BATCH * 4)[0], batch_size=BATCH)
    for given in (None, student):
        sparsity = Sparsity(0.5 if given is None else 0.75, updates=1)
        distiller.fit(data, verbose=0, callbacks=[MagnitudePruning(sparsity, given)])
        assert shares(student)["pooler"] == sparsity.target and shares(teacher)["pooler"] == 0


@pytest.mark.long_cases
@pytest.mark.parametrize("pattern", ["unstructured", "2:4"])
def test_a_resumed_run_has_the_masks_of_the_unbroken_one(tiny, tmp_path, pattern):
    from kerasbert.data.dataset import Dataset

    path = tmp_path / "train.tsv"
    texts, labels = tiny.rows(BATCH * STEPS)
    path.write_text("".join(f"{a}\t{b}\n" for a, b in zip(texts, labels, strict=True)))
    train, settings = (
        Dataset(path, texts, labels),
        TrainConfig(epochs=1, batch_size=BATCH, seed=5, checkpoint_minutes=0),
    )

    def go(task, name, *further, resume=False):
        folder = RunFolder(tmp_path / name)
        if not resume:
            folder.begin(TrainConfig(model="m"))
        callbacks = (*further, MagnitudePruning(Sparsity(0.5, pattern, begin=0.2, end=1.0, updates=2)))
        train_task(task, train, None, settings, folder, resume=resume, callbacks=callbacks)

    whole, resumed = compiled(tiny.narrow(seed=2)), compiled(tiny.narrow(seed=2))
    go(whole, "whole")
    with pytest.raises(Killed):
        go(compiled(tiny.narrow(seed=2)), "parts", KillAfter(4))
    go(resumed, "parts", resume=True)
    for one, other in zip(whole.weights, resumed.weights, strict=True):
        np.testing.assert_array_equal(one, other)
    assert shares(whole)["pooler"] == 0.5


@pytest.mark.long
def test_zeros_are_kept_while_a_model_is_quantized(tiny, pruned):
    texts, _ = tiny.rows(16)
    model = compiled(quantize(pruned, "static_wi8_ai8", calibration=texts))
    before = {path: kernel.numpy() for path, kernel in prunable_kernels(model).items()}
    fit(model, tiny, PreserveSparsity())
    for path, kernel in prunable_kernels(model).items():
        assert (kernel.numpy()[before[path] == 0] == 0).all()
        assert not np.array_equal(kernel, before[path])
    assert shares(model).keys() - pruned_kernels(model).keys() == {"classifier", "embeddings.word"}


@pytest.mark.long
def test_an_int8_file_has_the_zeros(tiny, pruned):
    """The query's kernel is stored scaled, the first feed-forward one with equalized rows: zeros are zeros."""
    from kerasbert.export.conversion import convert
    from kerasbert.export.tflite.model import decode, operator_kinds

    model = quantize(pruned, "static_wi8_ai8", calibration=tiny.rows(16)[0])
    point = model.encoder.layers[0].feed_forward.input_quantizer
    point.equalizer.assign(np.linspace(0.3, 1, 8).astype(np.float32))
    content = decode(convert(model, recipe="static_wi8_ai8").content)
    kinds, graph = operator_kinds(content), content.subgraphs[0]
    files = []
    for operator in graph.operators:
        if kinds[operator.opcodeIndex] == "FULLY_CONNECTED":
            tensor = graph.tensors[operator.inputs[1]]
            data = np.asarray(content.buffers[tensor.buffer].data, np.uint8).tobytes()
            files.append(np.frombuffer(data, np.int8).reshape(tensor.shape))
    wanted = [dense.kernel.numpy().T == 0 for dense in dense_layers(model)]
    assert len(files) == len(wanted) == 8
    for zeros in wanted:
        assert any(zeros.shape == stored.shape and (stored[zeros] == 0).all() for stored in files)
    assert sum(bool((stored == 0).mean() >= 0.5) for stored in files) == 7


def test_the_report_counts(tiny, pruned, tmp_path):
    report = sparsity_report(pruned)
    assert report.kernels["layers.0.attention.query"] == 0.5 and report.kernels["classifier"] == 0
    assert 0 < report.total < report.dense < 0.55
    pruned.save_pretrained(tmp_path / "saved")
    assert sparsity_report(tmp_path / "saved") == report
    kernel = np.random.default_rng(0).integers(1, 127, 40000).astype(np.int8)
    for name, values in (("dense", kernel), ("sparse", np.where(np.arange(40000) % 5, 0, kernel))):
        (tmp_path / name).write_bytes(values.tobytes())
    assert gzip_size(tmp_path / "dense") > 30000 > 20000 > gzip_size(tmp_path / "sparse")
    with pytest.raises(KerasBertError, match="no such file"):
        gzip_size(tmp_path / "none")


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"target": 0}, "above 0 and below 1, received 0"),
        ({"target": 1.0}, "above 0 and below 1"),
        ({"target": -0.5}, "above 0 and below 1"),
        ({"target": float("nan")}, "above 0 and below 1"),
        ({"target": 0.5, "parts": {"pooler": 1.0}}, "'pooler' from 0 to below 1"),
        ({"target": 0.5, "begin": 0.5, "end": 0.5}, "begin before it ends"),
        ({"target": 0.5, "updates": 0}, "at least 1 update"),
        ({"target": 0.8, "pattern": "2:4"}, "0.5 for the pattern 2:4, received 0.8"),
        ({"target": 0.5, "pattern": "4x"}, "received '4x'"),
        ({"target": 0.5, "pattern": "0x4"}, "received '0x4'"),
    ],
)
def test_invalid_settings_are_refused(settings, expected):
    with pytest.raises(KerasBertError, match=expected):
        Sparsity(**settings)


@pytest.mark.long
def test_settings_that_do_not_fit_a_task_are_refused_before_training(tiny):
    task = compiled(tiny.narrow())
    before = task.fingerprint()
    for sparsity, expected in (
        (Sparsity(0.5, "3x1"), r"3x1 divides, received layers\.0\.attention\.query of shape \(8, 8\)"),
        (Sparsity(0.5, "8x1"), r"8x1 divides"),
        (Sparsity(0.5, parts={"layers.7.*": 0.5}), r"received 'layers\.7\.\*'"),
        (Sparsity(0.5, parts={"*": 0}), "received none"),
        (Sparsity(0.5, "4x1", parts={"embeddings.word": 0.5}), "unstructured"),
        (Sparsity(0.5, begin=0.5, end=0.55), "expected steps to prune in between 0.5 and 0.55 .*, received 6 in all"),
    ):
        with pytest.raises(KerasBertError, match=expected):
            fit(task, tiny, MagnitudePruning(sparsity))
    with pytest.raises(KerasBertError, match="without; prune it first"):
        fit(task, tiny, PreserveSparsity())
    assert task.fingerprint() == before
    freeze(task, "*")
    with pytest.raises(KerasBertError, match="frozen"):
        Sparsity(0.5).check(task, 100)


@pytest.mark.long
def test_few_steps_have_fewer_updates_and_reach_the_target(tiny, capsys):
    task = compiled(tiny.narrow())
    fit(task, tiny, MagnitudePruning(Sparsity(0.5)))
    told = "note: the masks are made anew 3 times, not 20: pruning has 3 of the 6 steps"
    assert told in capsys.readouterr().err
    assert sparsity_report(task).kernels["layers.0.attention.query"] == 0.5
    assert [Sparsity(0.5).updates_in(steps) for steps in (2, 6, 1000)] == [1, 3, 20]


@pytest.mark.long
def test_unknown_or_merged_steps_are_refused(tiny):
    callback = MagnitudePruning(Sparsity(0.5, updates=1), tiny.narrow())
    callback.set_params({"steps": 8, "epochs": 1})
    callback.on_train_begin()
    callback.on_train_batch_begin(0)
    with pytest.raises(KerasBertError, match="received 4; compile with steps_per_execution=1"):
        callback.on_train_batch_end(3)  # as Keras says it of four steps in one call
    task = compiled(tiny.narrow())
    texts, labels = tiny.rows(BATCH)
    endless = (
        task.dataset(texts, labels).filter(lambda *row: True)  # of unknown size
    )
    with pytest.raises(KerasBertError, match="known number of batches"):
        task.fit(endless, verbose=0, callbacks=[MagnitudePruning(Sparsity(0.5))])
