"""Parts of every architecture, and rates of their own."""

import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.encoders import encoder_class
from kerasbert.errors import KerasBertError
from kerasbert.optimizers.adamw import FusedAdamW
from kerasbert.optimizers.parameter_groups import group_names, lr_multipliers, part_of, paths_named

NARROW = {
    "vocab_size": 40, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16,
    "max_position_embeddings": 32,
}  # fmt: skip
FURTHER = {
    "albert": {"embedding_size": 4},
    "mobilebert": {"embedding_size": 8, "intra_bottleneck_size": 8},
}
ALONE = ("bert", "distilbert", "electra", "roberta", "mobilebert")


def model_of(tiny, model_type="bert", **options):
    kind = encoder_class(model_type)
    further = {name: options.pop(name) for name in ("num_hidden_groups", "num_hidden_layers") if name in options}
    config = kind.config_class(**{**NARROW, **FURTHER.get(model_type, {}), **further})
    return kb.TextClassifier(kind(config, **options), tiny.tokenizer(), labels=tiny.labels, sequence_length=16)


@pytest.fixture(scope="module")
def bert(tiny):
    """For tests that do not train it."""
    return model_of(tiny)


@pytest.fixture
def step():
    """Runs one step with gradients of ones; how far each variable went."""

    def run(model):
        before = {path: v.numpy() for path, v in model.variables_by_path().items()}
        trained = model.trainable_variables
        model.optimizer.apply_gradients([(tf.ones_like(v), v) for v in trained])
        return {path: np.abs(v.numpy() - before[path]).max() for path, v in model.variables_by_path().items()}

    return run


@pytest.mark.parametrize("model_type", [*ALONE, "albert"])
@pytest.mark.long_cases
def test_parts_of_every_architecture(tiny, model_type):
    """Parts, their rates, and that biases and norms are what does not decay."""
    model = model_of(tiny, model_type, layer_mix=True, adapters=2)
    paths = model.variables_by_path()
    if model_type != "albert":
        assert group_names(model) == ["embeddings", "layers.0", "layers.1", "layer_mix", "pooler", "head"]
        wanted = {"embeddings": 0.125, "layers.0": 0.25, "layers.1": 0.5, "layer_mix": 1, "pooler": 1, "head": 1}
        for path, factor in lr_multipliers(model, 0.5, {}).items():
            assert factor == wanted[part_of(path)], path
    optimizer = kb.adamw(1e-3)
    decaying = {path for path, variable in paths.items() if optimizer._use_weight_decay(variable)}
    assert {path.rsplit(".", 1)[1] for path in decaying} == {"kernel", "table", "scores"}
    assert {path.rsplit(".", 1)[1] for path in paths.keys() - decaying} == {"bias", "gamma", "beta"}


def test_rates_of_parts(tiny, step):
    model = model_of(tiny)
    optimizer = kb.adamw(
        1e-2, weight_decay=0, clip_norm=None, rates={"layers.-2": 5e-3, "*.query.*": 1e-3, "head": 0.1}
    )
    model.compile(optimizer)
    moved = step(model)  # Adam's first step is as long as the rate
    for path, distance in moved.items():
        wanted = {"layers.0": 5e-3, "head": 0.1}.get(part_of(path), 1e-2)
        np.testing.assert_allclose(distance, 1e-3 if ".query." in path else wanted, rtol=1e-2, err_msg=path)


def test_a_rate_of_zero_moves_nothing(tiny, step):
    model = model_of(tiny)
    model.compile(kb.adamw(0.1, weight_decay=0.5, layer_decay=0.9, rates={"*": 0, "layers.-1": 0.1, "head": 0.2}))
    for path, distance in step(model).items():
        assert (distance > 0) == (part_of(path) in ("layers.1", "head")), path


def test_weight_decay_goes_with_the_rate_of_the_part(tiny):
    model = model_of(tiny)
    model.compile(kb.adamw(0.1, weight_decay=0.5, layer_decay=0.5))
    kernels = [layer.attention.query.kernel for layer in model.encoder.layers]
    before = [kernel.numpy() for kernel in kernels]
    model.optimizer.apply_gradients([(tf.zeros_like(v), v) for v in model.trainable_variables])
    for kernel, old, factor in zip(kernels, before, (0.25, 0.5), strict=True):
        np.testing.assert_allclose(kernel, old * (1 - 0.1 * 0.5 * factor), rtol=1e-5)


def test_names_and_patterns_select_parts(bert):
    model = bert
    whole = set(model.variables_by_path())
    assert set(paths_named(model, "*")) == whole
    assert {part_of(path) for path in paths_named(model, "encoder")} == {"embeddings", "layers.0", "layers.1"}
    assert paths_named(model, "layers.-1") == paths_named(model, "layers.1") != paths_named(model, "layers.0")
    assert {path.split(".")[3] for path in paths_named(model, "encoder.layers.0.attention.*")} == {"attention"}


@pytest.mark.parametrize("name", ["layers.2", "layers.-3", "heads", "encoder.layers.9.*", "layers.-x"])
def test_an_unknown_part_is_refused(bert, name):
    with pytest.raises(KerasBertError, match="encoder, embeddings, layers.0, layers.1, pooler, head.*received"):
        bert.compile(kb.adamw(0.1, rates={name: 0.1}))


def test_shared_layers_have_no_depth(tiny):
    with pytest.raises(KerasBertError, match="layer_decay, received AlbertEncoder, which calls 1 of them 2 times"):
        model_of(tiny, "albert").compile(kb.adamw(0.1, layer_decay=0.9))
    model_of(tiny, "albert").compile(kb.adamw(0.1, rates={"layers.0": 0.2}))
    model_of(tiny, "albert", num_hidden_groups=2).compile(kb.adamw(0.1, layer_decay=0.9))


def test_an_optimizer_with_parts_needs_a_task():
    with pytest.raises(KerasBertError, match="compiled with this optimizer"):
        kb.adamw(0.1, rates={"head": 1}).apply_gradients([(tf.ones(2), tf.Variable([1.0, 2.0]))])


def test_settings_survive_a_saved_model(tiny, tmp_path, step):
    model = tiny.narrow()
    settings = {
        "steps": 20,
        "warmup": 0.0,
        "decay": "cosine",
        "layer_decay": 0.9,
        "rates": {"head": 0.3, "*.bias": 0.01},
    }
    model.compile(kb.adamw(0.1, weight_decay=0.0, clip_norm=None, **settings))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert isinstance(loaded.optimizer, FusedAdamW)
    assert loaded.optimizer.get_config() == model.optimizer.get_config()
    mine, theirs = step(model), step(loaded)
    np.testing.assert_allclose(list(theirs.values()), list(mine.values()), rtol=1e-5)
    assert mine["classifier.kernel"] == pytest.approx(0.3, rel=1e-2)
    assert mine["classifier.bias"] == pytest.approx(0.01, rel=1e-2)


@pytest.mark.long
def test_a_new_process_loads_what_a_model_was_compiled_with(tiny, tmp_path):
    from kerasbert.training import CosineLoss

    model = tiny.sentence_encoder(sizes={"hidden_size": 8, "num_hidden_layers": 1, "intermediate_size": 16})
    model.compile(kb.adamw(0.1, steps=20, decay="cosine", layer_decay=0.9), loss=CosineLoss(scores=(0, 5)))
    model.save(tmp_path / "model.keras")
    code = (
        "import sys, tf_keras, kerasbert.tasks; model = tf_keras.models.load_model(sys.argv[1]); "
        "print(model.optimizer.layer_decay, type(model.optimizer._learning_rate).__name__, model.loss.scores)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "model.keras")]
    told = subprocess.run(command, capture_output=True, text=True)
    assert told.stdout.split("\n")[0] == "0.9 WarmupCosineDecay (0.0, 5.0)", told.stderr


def test_parts_under_mixed_precision(tiny, step):
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        model = tiny.narrow()
        model.compile(kb.adamw(0.1, weight_decay=0.0, rates={"*": 0, "head": 0.2}), run_eagerly=True)
        texts, labels = tiny.rows(8)
        before = {path: v.numpy() for path, v in model.variables_by_path().items()}
        model.fit(texts, labels, verbose=0)
        for path, variable in model.variables_by_path().items():
            assert np.array_equal(before[path], variable) == path.startswith("encoder."), path
    finally:
        keras.mixed_precision.set_global_policy("float32")
