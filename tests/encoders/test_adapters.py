"""Encoders with adapters and a mix of layers: how many weights, what is trained, and what lies on disk."""

import json
from functools import partial

import numpy as np
import pytest
import tf_keras as keras

import kerasbert as kb
from kerasbert.encoders import (
    AlbertConfig,
    BertConfig,
    DistilBertConfig,
    ElectraConfig,
    MobileBertConfig,
    RobertaConfig,
    encoder_class,
)
from kerasbert.encoders.extensions import added_variables
from kerasbert.errors import KerasBertError
from kerasbert.files.model_folder import OWN_FILE
from kerasbert.layers.blocks.adapters import Adapter
from kerasbert.layers.no_norm import NoNorm
from kerasbert.layers.norms import LayerNorm
from kerasbert.layers.traversal import sublayers
from kerasbert.tasks import TextClassifier
from kerasbert.tasks.adapters import load_adapters, save_adapters, train_adapters

SIZE = 3
ARCHITECTURES = {
    "bert": BertConfig,
    "albert": partial(AlbertConfig, embedding_size=4),
    "mobilebert": partial(MobileBertConfig, embedding_size=4, intra_bottleneck_size=4, num_feedforward_networks=2),
    "distilbert": DistilBertConfig,
    "electra": partial(ElectraConfig, embedding_size=4),
    "roberta": RobertaConfig,
}
SIZES = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}


def classifier(tiny, name="bert", seed=0, **options):
    keras.utils.set_random_seed(seed)
    config = ARCHITECTURES[name](**{**tiny.sizes, **SIZES})
    encoder = encoder_class(config.model_type)(config, **options)
    return TextClassifier(encoder, tiny.tokenizer(), labels=tiny.labels, sequence_length=tiny.length)


def moved(model):
    """The model with every weight a little away from where it started."""
    draw = np.random.default_rng(7)
    for variable in model.variables_by_path().values():
        variable.assign(variable + draw.normal(0, 0.2, variable.shape))
    return model


@pytest.fixture(scope="module")
def both(tiny):
    """A classifier with adapters and a mix, its weights away from their first values; not to be changed."""
    return moved(classifier(tiny, adapters=SIZE, layer_mix=True))


@pytest.fixture
def texts(tiny):
    return tiny.rows(6, seed=4)[0]


def values(model) -> dict[str, np.ndarray]:
    return {path: variable.numpy() for path, variable in model.variables_by_path().items()}


def assert_equal_weights(one, other) -> None:
    one, other = values(one), values(other)
    assert one.keys() == other.keys()
    for path in one:
        np.testing.assert_array_equal(one[path], other[path], err_msg=path)


def base(tmp_path, tiny):
    """A folder with a classifier as it was before there were adapters."""
    model = moved(classifier(tiny))
    model.save_pretrained(tmp_path / "base")
    return model, tmp_path / "base"


def edit(path, change) -> None:
    content = json.loads(path.read_text("utf-8"))
    change(content)
    path.write_text(json.dumps(content), "utf-8")


# -- what is added -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.long_cases("albert", "mobilebert")
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_parameters_and_near_identity(tiny, texts, name):
    plain, adapted = classifier(tiny, name), classifier(tiny, name, adapters=SIZE)
    mine, added = plain.variables_by_path(), adapted.variables_by_path()
    assert set(mine) < set(added)
    width = getattr(adapted.config, "true_hidden_size", adapted.config.hidden_size)
    count = sum(added[path].shape.num_elements() for path in added.keys() - mine.keys())
    assert count == len(adapted.encoder.layers) * 2 * (2 * width * SIZE + width + SIZE)
    assert added.keys() - mine.keys() == {f"encoder.{path}" for path in added_variables(adapted.encoder)["adapters"]}
    for path, variable in mine.items():
        added[path].assign(variable)
    packed = plain.pack(texts)
    before, after = (model.encoder(packed).sequence.numpy() for model in (plain, adapted))
    assert 0 < np.abs(after - before).max() < 1e-2


def test_albert_shares_its_adapters_among_its_calls(tiny):
    model = classifier(tiny, "albert", adapters=SIZE)
    found = sublayers(model, Adapter)
    assert len(found) == 2 and all(adapter.input_quantizer.num_calls == 2 for adapter in found)


def test_an_encoder_without_options_has_no_added_variables(tiny, tmp_path):
    model, folder = base(tmp_path, tiny)
    assert model.encoder.options == {} and added_variables(model.encoder) == {}
    assert not {"adapters", "layer_mix"} & model.encoder.get_config().keys()
    assert "encoder" not in json.loads((folder / OWN_FILE).read_text("utf-8"))


@pytest.mark.parametrize("name", ["bert", "albert"])
def test_the_mix_is_over_every_hidden_state(tiny, texts, name):
    model = classifier(tiny, name, layer_mix=True)
    packed = model.pack(texts)
    output = model.encoder(packed, output_hidden_states=True)
    assert len(output.hidden_states) == 3
    np.testing.assert_allclose(output.sequence, np.mean(output.hidden_states, axis=0), atol=1e-6)
    model.encoder.layer_mix.scores.assign([0.0, 50.0, 0.0])
    output = model.encoder(packed, output_hidden_states=True)
    np.testing.assert_allclose(output.sequence, output.hidden_states[1], atol=1e-6)
    first = np.tanh(output.hidden_states[1][:, 0] @ model.encoder.pooler.kernel + model.encoder.pooler.bias)
    np.testing.assert_allclose(output.pooled, first, atol=1e-5)


# -- training ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bert", "mobilebert"])
@pytest.mark.long_cases
def test_only_adapters_norms_pooler_and_head_are_trained(tiny, name):
    model = moved(classifier(tiny, name, adapters=SIZE, layer_mix=True))
    train_adapters(model)
    model.compile(keras.optimizers.SGD(0.5), run_eagerly=True)
    before = values(model)
    model.fit(*tiny.rows(8), batch_size=8, verbose=0)
    after = values(model)
    changed = {path for path in before if np.any(before[path] != after[path])}
    ours = {f"encoder.{path}" for paths in added_variables(model.encoder).values() for path in paths}
    others = {path for path in before if path.endswith(("gamma", "beta")) or path.startswith("encoder.pooler")}
    wanted = ours | others | {"classifier.kernel", "classifier.bias"}
    trained = {id(variable) for variable in model.trainable_variables}
    assert {path for path, variable in model.variables_by_path().items() if id(variable) in trained} == wanted
    assert ours <= changed <= wanted  # a gradient can be too small to move a weight
    assert len(others) > 2 * len(sublayers(model.encoder, (LayerNorm, NoNorm)))


def test_a_task_without_adapters_has_none_to_train(tiny, tmp_path):
    model = classifier(tiny)
    for call in (
        train_adapters,
        lambda m: save_adapters(m, tmp_path / "a"),
        lambda m: load_adapters(m, tmp_path / "a"),
    ):
        with pytest.raises(KerasBertError, match="expected a task with adapters, received one without"):
            call(model)
    assert not (tmp_path / "a").exists()


# -- folders -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.long_cases("albert")
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_saved_folder_loads_as_the_same_model(tiny, texts, tmp_path, name):
    model = moved(classifier(tiny, name, adapters=SIZE, layer_mix=True))
    model.save_pretrained(tmp_path / "m")
    for loaded in (kb.load_task(tmp_path / "m"), TextClassifier.from_pretrained(tmp_path / "m")):
        assert loaded.encoder.options == {"adapters": SIZE, "layer_mix": True}
        assert_equal_weights(loaded, model)
        assert (loaded.load_report.missing, loaded.load_report.unused) == ((), ())
    packed = model.pack(texts)
    np.testing.assert_array_equal(
        loaded.serve_numpy(packed)["probabilities"], model.serve_numpy(packed)["probabilities"]
    )


@pytest.mark.long
def test_other_tasks_and_bare_encoders_keep_the_adapters(both, texts, tmp_path):
    both.save_pretrained(tmp_path / "m")
    packed = both.pack(texts)
    expected = both.encoder(packed).sequence
    for encoder in (kb.load_encoder(tmp_path / "m"), kb.SentenceEncoder.from_pretrained(tmp_path / "m").encoder):
        assert encoder.options == both.encoder.options
        np.testing.assert_array_equal(encoder(packed).sequence, expected)


@pytest.mark.long
def test_a_keras_file_and_another_policy_keep_them(both, texts, tmp_path):
    both.save(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras")
    assert again.encoder.options == both.encoder.options
    assert_equal_weights(again, both)
    assert_equal_weights(both.with_policy(kb.compression.POLICIES["dynamic_wi8_afp32"]), both)


def test_hugging_face_tensors_stay_what_they_were(both, tmp_path):
    from safetensors.numpy import load_file

    both.save_pretrained(tmp_path / "m")
    tensors = load_file(tmp_path / "m" / "model.safetensors")
    ours = {f"kerasbert.{path}" for paths in added_variables(both.encoder).values() for path in paths}
    assert {name for name in tensors if name.startswith("kerasbert.")} == ours
    assert not {"adapters", "layer_mix"} & json.loads((tmp_path / "m" / "config.json").read_text("utf-8")).keys()


@pytest.mark.long
def test_a_plain_checkpoint_gets_new_ones(tiny, tmp_path):
    model, folder = base(tmp_path, tiny)
    encoder = kb.load_encoder(folder, adapters=SIZE, layer_mix=True)
    assert encoder.options == {"adapters": SIZE, "layer_mix": True}
    task = TextClassifier.from_pretrained(folder, adapters=SIZE)
    assert task.encoder.options == {"adapters": SIZE}
    with pytest.raises(KerasBertError, match="adapters of at least 1, received 0; pass a whole number, such as 64"):
        kb.load_encoder(folder, adapters=0)
    loaded = values(task)
    for path, value in values(model).items():
        np.testing.assert_array_equal(loaded[path], value)
    task.save_pretrained(tmp_path / "adapted")
    further = TextClassifier.from_pretrained(tmp_path / "adapted", layer_mix=True)
    assert further.encoder.options == {"adapters": SIZE, "layer_mix": True}
    assert set(further.load_report.missing) == {"kerasbert.layer_mix.scores", "kerasbert.layer_mix.gamma"}


def test_contradicting_folders_are_refused(both, tmp_path):
    both.save_pretrained(tmp_path / "m")
    with pytest.raises(KerasBertError, match="expected adapters=3, as it was saved, received 4"):
        TextClassifier.from_pretrained(tmp_path / "m", adapters=4)
    edit(tmp_path / "m" / OWN_FILE, lambda own: own["encoder"].update(adapters=4))
    for load in (kb.load_task, kb.load_encoder):
        with pytest.raises(KerasBertError, match="expected shape"):
            load(tmp_path / "m")
    edit(tmp_path / "m" / OWN_FILE, lambda own: own["encoder"].update(adapter=4))
    with pytest.raises(
        KerasBertError, match="encoder: expected the name of a setting, received 'adapter'; did you mean adapters"
    ):
        kb.load_task(tmp_path / "m")


def test_a_folder_without_its_adapters_is_refused(tiny, tmp_path):
    _, folder = base(tmp_path, tiny)
    edit(folder / OWN_FILE, lambda own: own.update(encoder={"adapters": SIZE}))
    for load in (kb.load_task, kb.load_encoder):
        with pytest.raises(KerasBertError, match="missing: kerasbert.layers.0.attention_adapter"):
            load(folder)


# -- adapters alone ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_file_of_adapters_onto_their_base(tiny, tmp_path):
    _, folder = base(tmp_path, tiny)
    options = {"adapters": SIZE, "layer_mix": True}
    trained, other = (TextClassifier.from_pretrained(folder, **options) for _ in range(2))
    train_adapters(trained)
    trained.compile(keras.optimizers.SGD(0.5), run_eagerly=True)
    trained.fit(*tiny.rows(8), verbose=0)
    save_adapters(trained, tmp_path / "a.safetensors")
    load_adapters(other, tmp_path / "a.safetensors")
    assert_equal_weights(other, trained)
    from safetensors.numpy import load_file

    found = load_file(tmp_path / "a.safetensors")
    assert set(found) < set(values(trained)) and "encoder.embeddings.word.table" not in found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("labels", "adapters whose labels is"),
        ("size", "adapters whose adapters is 4"),
        ("base", "adapters whose base is"),
        ("mix", "adapters whose layer_mix is True"),
        ("file", "without their description"),
    ],
)
@pytest.mark.long_cases
def test_adapters_of_another_model_are_refused(tiny, tmp_path, change, message):
    from safetensors.numpy import save_file

    path = tmp_path / "a.safetensors"
    save_adapters(classifier(tiny, adapters=SIZE), path)
    other = classifier(tiny, adapters=4 if change == "size" else SIZE, layer_mix=change == "mix")
    if change == "labels":
        other.labels = ("no", "yes")
    elif change == "base":
        kernel = other.encoder.layers[0].attention.query.kernel
        kernel.assign(2.0 * kernel)
    elif change == "file":
        save_file({"a": np.zeros(2, np.float32)}, path)
    before = values(other)
    with pytest.raises(KerasBertError, match=message):
        load_adapters(other, path)
    for name, value in values(other).items():
        np.testing.assert_array_equal(value, before[name])
