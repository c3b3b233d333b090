"""The projection of sentence vectors: its numbers, its files in sentence-transformers' form, and files that are refused."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.files.model_folder import OWN_FILE, is_model_file

pytestmark = pytest.mark.one_layer


@pytest.fixture(scope="module")
def texts(tiny):
    return tiny.rows(9, seed=8)[0]


@pytest.fixture(scope="module")
def short(tiny):
    return tiny.sentence_encoder(dimensions=8)


def vectors(model, texts) -> np.ndarray:
    """What `predict` returns, computed eagerly."""
    return model.serve(model.pack(texts))["embedding"].numpy()


@pytest.fixture
def folder(short, tmp_path):
    """The short encoder's folder as another program leaves one."""
    short.save_pretrained(tmp_path / "short")
    (tmp_path / "short" / OWN_FILE).unlink()
    return tmp_path / "short"


def edited(folder, **changes):
    path = folder / "2_Dense" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}), "utf-8")
    return folder


@pytest.mark.long_cases("True-True-mean", "False-False-cls")
@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("tanh", [True, False])
def test_the_pooled_vector_is_projected(tiny, texts, pooling, normalize, tanh):
    options = {"projection_bias": True, "projection_activation": "tanh"} if tanh else {}
    short = tiny.sentence_encoder(dimensions=8, pooling=pooling, normalize=normalize, **options)
    whole = tiny.sentence_encoder(pooling=pooling, normalize=False)
    for path, variable in whole.variables_by_path().items():
        variable.assign(short.variables_by_path()[path])
    expected = vectors(whole, texts) @ short.projection.kernel.numpy()
    if tanh:
        short.projection.bias.assign(np.linspace(-1, 1, 8))
        expected = np.tanh(expected + np.linspace(-1, 1, 8))
    if normalize:
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors(short, texts), expected, atol=1e-5)


@pytest.mark.long
def test_the_width_is_that_of_the_vectors(tiny, short, texts):
    assert short.width == short.processor.width == 8 and tiny.sentence_encoder().width == 32
    single, pairs = short.predict(texts), short.predict((texts, texts[::-1]))
    np.testing.assert_allclose(pairs, np.stack([single, single[::-1]], 1), atol=1e-5)
    np.testing.assert_array_equal(short.predict(texts), single)  # after pairs, which have another rank
    assert short.projection.bias is None and list(short.variables_by_path())[-1] == "projection.kernel"
    assert kb.SentenceEncoder.from_config(short.get_config()).dimensions == 8
    assert "dimensions" not in tiny.sentence_encoder().get_config()
    for wrong in (0, 2.5, True):
        with pytest.raises(KerasBertError, match="`dimensions=` as a positive whole number, received"):
            tiny.sentence_encoder(dimensions=wrong)
    with pytest.raises(KerasBertError, match="a projection_activation of identity, tanh, received 'relu'"):
        tiny.sentence_encoder(dimensions=8, projection_activation="relu")
    with pytest.raises(KerasBertError, match="expected `dimensions=` with a bias or an activation"):
        tiny.sentence_encoder(projection_bias=True)


def test_it_learns_vectors_of_its_width(tiny, texts):
    short = tiny.sentence_encoder(dimensions=4)
    before = short.projection.kernel.numpy()
    short.compile(kb.adamw(1e-2), run_eagerly=True)
    short.fit(texts, np.eye(4, dtype=np.float32)[np.arange(9) % 4], verbose=0)
    assert np.abs(short.projection.kernel.numpy() - before).max() > 1e-3
    with pytest.raises(KerasBertError, match=r"target vectors of shape \(rows, 4\), received \(9, 32\)"):
        short.fit(texts, np.zeros((9, 32), np.float32), verbose=0)
    with pytest.raises(KerasBertError, match="received the label 'good': a sentence encoder has no labels; fine-tune"):
        short.fit(texts, ["good"] * 9, verbose=0)


def test_folders_are_sentence_transformers(short, texts, tmp_path):
    short.save_pretrained(tmp_path / "m")
    modules = json.loads((tmp_path / "m" / "modules.json").read_text("utf-8"))
    assert [(module["path"], module["type"].rpartition(".")[2]) for module in modules] == [
        ("", "Transformer"),
        ("1_Pooling", "Pooling"),
        ("2_Dense", "Dense"),
        ("3_Normalize", "Normalize"),
    ]
    assert json.loads((tmp_path / "m" / "2_Dense" / "config.json").read_text("utf-8")) == {
        "in_features": 32,
        "out_features": 8,
        "bias": False,
        "activation_function": "torch.nn.modules.linear.Identity",
    }
    tensors = load_file(tmp_path / "m" / "2_Dense" / "model.safetensors")
    np.testing.assert_array_equal(tensors.pop("linear.weight"), short.projection.kernel.numpy().T)
    assert not tensors
    names = load_file(tmp_path / "m" / "model.safetensors").keys()
    assert "embeddings.word_embeddings.weight" in names and not any("rojection" in name for name in names)
    loaded = kb.load_task(tmp_path / "m")
    np.testing.assert_array_equal(vectors(loaded, texts), vectors(short, texts))
    files = [path for path in (tmp_path / "m").rglob("*") if path.is_file()]
    assert all(is_model_file(path.relative_to(tmp_path / "m").as_posix()) for path in files)


def test_the_projection_has_the_dtype_of_the_other_weights(short, texts, tmp_path):
    short.save_pretrained(tmp_path / "half", dtype="float16")
    assert load_file(tmp_path / "half" / "2_Dense" / "model.safetensors")["linear.weight"].dtype == np.float16
    np.testing.assert_allclose(vectors(kb.load_task(tmp_path / "half"), texts), vectors(short, texts), atol=1e-2)


def test_a_folder_of_another_program_is_read(folder, short, texts):
    loaded = kb.SentenceEncoder.from_pretrained(folder)
    np.testing.assert_array_equal(vectors(loaded, texts), vectors(short, texts))
    modules = (folder / "modules.json").read_text("utf-8")
    (folder / "modules.json").write_text(modules.replace("2_Dense", "last"), "utf-8")
    (folder / "2_Dense").rename(folder / "last")
    np.testing.assert_array_equal(vectors(kb.SentenceEncoder.from_pretrained(folder), texts), vectors(short, texts))


def test_a_folder_without_projection_has_none_of_its_files(tiny, folder, tmp_path):
    tiny.sentence_encoder().save_pretrained(tmp_path / "whole")
    modules = json.loads((tmp_path / "whole" / "modules.json").read_text("utf-8"))
    assert [module["path"] for module in modules] == ["", "1_Pooling", "2_Normalize"]
    settings = json.loads((tmp_path / "whole" / OWN_FILE).read_text("utf-8"))["settings"]
    assert settings == {"sequence_length": 16, "pooling": "mean", "normalize": True}
    kb.SentenceEncoder.from_pretrained(folder).save_pretrained(tmp_path / "replaced")
    assert (tmp_path / "replaced" / "2_Dense").is_dir()
    tiny.sentence_encoder().save_pretrained(tmp_path / "replaced")
    assert not (tmp_path / "replaced" / "2_Dense").exists()
    assert kb.load_task(tmp_path / "replaced").dimensions is None


def test_a_new_projection_is_made_on_request(tiny, folder, tmp_path):
    tiny.sentence_encoder().save_pretrained(tmp_path / "whole")
    loaded = kb.SentenceEncoder.from_pretrained(tmp_path / "whole", dimensions=4)
    assert loaded.width == 4 and loaded.load_report.missing == ("2_Dense.linear.weight",)
    with pytest.raises(KerasBertError, match=r"2_Dense.linear.weight: expected shape \(4, 32\), received \(8, 32\)"):
        kb.SentenceEncoder.from_pretrained(folder, dimensions=4)


def test_other_tasks_leave_the_projection_out(folder):
    classifier = kb.TextClassifier.from_pretrained(folder, labels=["a", "b"])
    assert classifier.load_report.ignored == (("2_Dense.linear.weight", "projection of sentence vectors"),)
    assert not kb.load_encoder(folder).load_report.unused


def test_a_projection_with_bias_and_tanh_is_saved_and_loaded(tiny, texts, tmp_path):
    task = tiny.sentence_encoder(dimensions=8, projection_bias=True, projection_activation="tanh")
    task.projection.bias.assign(np.linspace(-1, 1, 8))
    task.save_pretrained(tmp_path / "m")
    config = json.loads((tmp_path / "m" / "2_Dense" / "config.json").read_text("utf-8"))
    assert config["bias"] is True and config["activation_function"] == "torch.nn.modules.activation.Tanh"
    np.testing.assert_array_equal(vectors(kb.load_task(tmp_path / "m"), texts), vectors(task, texts))
    (tmp_path / "m" / OWN_FILE).unlink()
    loaded = kb.SentenceEncoder.from_pretrained(tmp_path / "m")
    np.testing.assert_array_equal(vectors(loaded, texts), vectors(task, texts))
    assert loaded.get_config()["projection_activation"] == "tanh"
    del config["bias"], config["activation_function"]  # a bias and Tanh are the defaults of the module
    (tmp_path / "m" / "2_Dense" / "config.json").write_text(json.dumps(config), "utf-8")
    loaded = kb.SentenceEncoder.from_pretrained(tmp_path / "m")
    np.testing.assert_array_equal(vectors(loaded, texts), vectors(task, texts))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bias": True}, "expected the tensors linear.bias, linear.weight, received linear.weight"),
        ({"bias": "no"}, "expected (bias as true or false|the tensors)"),
        (
            {"activation_function": "torch.nn.modules.activation.ReLU"},
            "expected activation_function as one of .*received .*ReLU",
        ),
        ({"activation_function": ["tanh"]}, "expected activation_function as .*received "),
        ({"use_residual": True}, "expected use_residual False, the only supported value, received True"),
        ({"module_input_name": "token_embeddings"}, "expected module_input_name 'sentence_embedding', .*token_embe"),
        ({"in_features": 16}, "expected in_features of 32, received 16"),
        ({"out_features": "8"}, "expected out_features as a whole number of at least 1, received '8'"),
        ({"out_features": 7}, r"2_Dense.linear.weight: expected shape \(7, 32\), received \(8, 32\)"),
    ],
)
def test_other_dense_modules_are_refused(folder, changes, message):
    with pytest.raises(KerasBertError, match=message):
        kb.SentenceEncoder.from_pretrained(edited(folder, **changes))


def test_damaged_folders_are_refused(folder):
    weights, modules = folder / "2_Dense" / "model.safetensors", folder / "modules.json"
    tensors, text = load_file(weights), modules.read_text("utf-8")
    for content, message in (
        (text.replace('"2_Dense"', '"../2_Dense"'), "the path of a module as a folder's name, received '../2_Dense'"),
        (
            text.replace("models.Normalize", "models.Dense"),
            "at most one Dense, .*received Transformer, Pooling, Dense, Dense",
        ),
        (
            text.replace("Pooling", "Normalize"),
            "the modules Transformer, Pooling, .*, received Transformer, Normalize, Dense",
        ),
        ('{"modules": 3}', "expected a list of modules"),
    ):
        modules.write_text(content, "utf-8")
        with pytest.raises(KerasBertError, match=message):
            kb.SentenceEncoder.from_pretrained(folder)
    modules.write_text(text, "utf-8")
    save_file({"linear.weight": tensors["linear.weight"] * np.float32(np.nan)}, weights)
    with pytest.raises(KerasBertError, match="finite"):
        kb.SentenceEncoder.from_pretrained(folder)
    weights.unlink()
    with pytest.raises(KerasBertError, match="expected model.safetensors or pytorch_model.bin in it, received neither"):
        kb.SentenceEncoder.from_pretrained(folder)
    (folder / "2_Dense" / "config.json").unlink()
    with pytest.raises(KerasBertError, match=r"expected (config.json|model.safetensors or)"):
        kb.SentenceEncoder.from_pretrained(folder)
