"""Freezing: frozen parts do not change, a frozen task works as any other, and gradual unfreezing keeps its order."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.optimizers.parameter_groups import part_of
from kerasbert.training import GradualUnfreezing, freeze, train_only, unfreeze

LOW = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 16}


def narrow(tiny, layers=2, **settings):
    return tiny.classifier(sizes={**LOW, "num_hidden_layers": layers}, **settings)


def values(model):
    return {path: variable.numpy() for path, variable in model.variables_by_path().items()}


def moved(model, before):
    """Return the parts with a changed variable."""
    return {part_of(path) for path, value in values(model).items() if not np.array_equal(value, before[path])}


def trained(model):
    ids = {id(variable) for variable in model.trainable_variables}
    return {part_of(path) for path, variable in model.variables_by_path().items() if id(variable) in ids}


@pytest.mark.parametrize(
    ("parts", "left"),
    [
        (("encoder",), {"pooler", "head"}),
        (("embeddings",), {"layers.0", "layers.1", "pooler", "head"}),
        (("layers.-2", "pooler"), {"embeddings", "layers.1", "head"}),
        (("head", "layers.*"), {"embeddings", "pooler"}),
    ],
)
@pytest.mark.long_cases
def test_frozen_parts_do_not_change(tiny, parts, left):
    model = narrow(tiny)
    freeze(model, *parts)
    model.compile(kb.adamw(0.1, weight_decay=0.5), run_eagerly=True)
    before = values(model)
    model.fit(*tiny.rows(8), verbose=0)
    assert moved(model, before) == trained(model) == left


def test_train_only_and_unfreeze(tiny):
    model = narrow(tiny, layers=3)
    for top, layers in ((0, set()), (2, {"layers.1", "layers.2"}), (1, {"layers.2"})):
        train_only(model, top)
        assert trained(model) == {"pooler", "head"} | layers
    unfreeze(model, "layers.0")
    assert trained(model) == {"pooler", "head", "layers.0", "layers.2"}
    model.encoder.trainable = False  # Keras' own way
    unfreeze(model, "layers.-1")
    assert trained(model) == {"head", "layers.2"}
    unfreeze(model)
    assert len(model.trainable_variables) == len(model.variables_by_path())
    with pytest.raises(KerasBertError, match="from 0 to 3 layers to train from the top, received 4"):
        train_only(model, 4)
    with pytest.raises(KerasBertError, match="encoder, embeddings, layers.0.*received 'body'"):
        freeze(model, "body")


@pytest.mark.long
def test_a_task_is_trained_again_after_unfreezing(tiny):
    """Two fits of one task, compiled again between them."""
    model = tiny.narrow()
    freeze(model, "encoder")
    for parts in ({"pooler", "head"}, {"embeddings", "layers.0", "pooler", "head"}):
        model.compile(kb.adamw(0.1), run_eagerly=True)
        before = values(model)
        model.fit(*tiny.rows(4), verbose=0)
        assert moved(model, before) == parts
        unfreeze(model)


@pytest.mark.long
def test_a_frozen_task_saves_and_quantizes_like_any_other(tiny, tmp_path):
    model, texts = tiny.narrow(), tiny.rows(6)[0]
    whole, fingerprint, predicted = values(model), model.fingerprint(), model.predict(texts)
    freeze(model, "encoder")
    assert values(model).keys() == whole.keys() and model.fingerprint() == fingerprint
    model.save_pretrained(tmp_path / "model")
    loaded = kb.load_task(tmp_path / "model")
    assert loaded.fingerprint() == fingerprint
    np.testing.assert_allclose(loaded.predict(texts), predicted, atol=1e-6)
    quantized = kb.compression.quantize(model, "dynamic_wi8_afp32")
    assert quantized.fingerprint() == fingerprint
    assert len(quantized.trainable_variables) == len(whole)  # a new task


@pytest.mark.long
def test_a_frozen_task_converts_the_same(tiny):
    from kerasbert.export import convert

    model = tiny.narrow()
    content = convert(model).content
    freeze(model, "encoder")
    assert convert(model).content == content


@pytest.mark.long
def test_a_saved_model_keeps_its_frozen_parts(tiny, tmp_path):
    model = tiny.narrow()
    freeze(model, "encoder")
    model.compile(kb.adamw(0.1), run_eagerly=True)
    model.fit(*tiny.rows(8), verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert trained(loaded) == {"pooler", "head"}
    for mine, theirs in zip(model.optimizer.variables, loaded.optimizer.variables, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    before = values(loaded)
    loaded.fit(*tiny.rows(8), verbose=0)
    assert moved(loaded, before) == {"pooler", "head"}


class Record(keras.callbacks.Callback):
    """The parts that moved in each epoch."""

    def __init__(self):
        super().__init__()
        self.epochs = []

    def on_epoch_begin(self, epoch, logs=None):
        self.before = values(self.model)

    def on_epoch_end(self, epoch, logs=None):
        self.epochs.append(moved(self.model, self.before))


STAGES = [{"pooler", "head"}, {"layers.1"}, {"layers.0"}, {"embeddings"}]


@pytest.mark.long_cases("[2")
@pytest.mark.parametrize("every", [1, 2])
def test_layers_unfreeze_from_the_top(tiny, every):
    """In a compiled train function, also one that was traced before."""
    model, record = narrow(tiny), Record()
    model.compile(kb.adamw(0.05, weight_decay=0.5), run_eagerly=every == 2)
    texts, labels = tiny.rows(8)
    if every == 1:
        model.fit(texts, labels, verbose=0)
    unfreezing = GradualUnfreezing(model, every)
    model.fit(texts, labels, epochs=5, verbose=0, callbacks=[unfreezing, record])
    wanted = [set().union(*STAGES[: epoch // every + 1]) for epoch in range(5)]
    assert record.epochs == wanted
    assert set(unfreezing.open_parts) == set().union(*STAGES)  # when it is over


@pytest.mark.long
def test_unfreezing_continues_in_a_later_fit(tiny):
    model, record = narrow(tiny), Record()
    model.compile(kb.adamw(0.05), run_eagerly=True)
    callbacks = [GradualUnfreezing(model), record]
    model.fit(*tiny.rows(8), epochs=2, initial_epoch=1, verbose=0, callbacks=callbacks)
    assert record.epochs == [STAGES[0] | STAGES[1]]


@pytest.mark.long
def test_parts_that_a_run_is_too_short_for_are_noted(tiny, capsys):
    model = narrow(tiny)
    model.compile(kb.adamw(0.05), run_eagerly=True)
    rows = tiny.rows(8)
    model.fit(*rows, epochs=3, verbose=0, callbacks=[GradualUnfreezing(model, every=2)])
    error = capsys.readouterr().err
    assert "note: gradual unfreezing leaves layers.0, embeddings untrained in 3 epochs; with 7 or more" in error
    model.fit(*rows, epochs=4, initial_epoch=3, verbose=0, callbacks=[GradualUnfreezing(model)])
    assert "unfreezing" not in capsys.readouterr().err


@pytest.mark.long
def test_unfreezing_starts_with_the_trained_parts(tiny):
    model = tiny.sentence_encoder(sizes=LOW)
    model.compile(kb.adamw(0.1))
    assert GradualUnfreezing(model).stages == [["layers.1"], ["layers.0"], ["embeddings"]]
    model = narrow(tiny)
    freeze(model, "embeddings", "layers.0")
    model.compile(kb.adamw(0.1))
    assert GradualUnfreezing(model).stages == [["pooler", "head"], ["layers.1"]]


def test_unfreezing_needs_fused_adamw(tiny):
    model = tiny.narrow()
    with pytest.raises(KerasBertError, match="compiled with kb.adamw, received none"):
        GradualUnfreezing(model)
    model.compile("adam")
    with pytest.raises(KerasBertError, match="received Adam"):
        GradualUnfreezing(model)
    with pytest.raises(KerasBertError, match="as 1 or more epochs, received 0"):
        GradualUnfreezing(model, 0)


def needed(tensors):
    """The operations that some tensors of a graph are computed from: TensorFlow runs no others."""
    found, left = set(), [tensor.op for tensor in tensors]
    while left:
        operation = left.pop()
        if operation not in found:
            found.add(operation)
            left += [tensor.op for tensor in operation.inputs]
    return found


@pytest.mark.long
def test_no_gradients_are_computed_for_frozen_parts(tiny):
    """The point of the feature-based way: its training step is a fraction of the whole one's."""
    operations = {}
    for parts in ((), ("encoder",)):
        model = tiny.narrow()
        if parts:
            freeze(model, *parts)
        inputs = {name: tf.constant(ids) for name, ids in model.pack(["a film"], length=8).items()}

        @tf.function
        def gradients(inputs, model=model):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(model(inputs, training=True))
            return tape.gradient(loss, model.trainable_variables)

        graph = gradients.get_concrete_function(inputs)
        operations[parts] = sum(operation.type == "MatMul" for operation in needed(graph.outputs))
    assert operations[("encoder",)] < operations[()] / 1.5
