"""Models on disk and back: `.keras` files, Hugging Face folders, configs."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.files.model_folder import OWN_FILE, RANGES_FILE, is_model_file
from kerasbert.tasks.quantization_ranges import collect_ranges

GOLDEN = Path(__file__).parents[1] / "golden"
MODELS = ("trained", "static_model", "dynamic_model", "vectors", "static_vectors")


@pytest.fixture
def texts(tiny):
    return tiny.rows(9, seed=8)[0]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Each model saved once: name -> folder."""
    return {"root": tmp_path_factory.mktemp("models")}


@pytest.fixture
def saved(folders, request):
    def save(name: str) -> Path:
        folder = folders["root"] / name
        if not folder.exists():
            request.getfixturevalue(name).save_pretrained(folder)
        return folder

    return save


@pytest.fixture
def copied(saved, tmp_path):
    """A folder to damage."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(saved(name), tmp_path / name))

    return copy


def assert_same_ranges(one, other) -> None:
    one, other = collect_ranges(one), collect_ranges(other)
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def edit(path: Path, change) -> None:
    content = json.loads(path.read_text("utf-8"))
    change(content)
    path.write_text(json.dumps(content), "utf-8")


@pytest.mark.long_cases("static_model", "[vectors")
@pytest.mark.parametrize("name", MODELS)
def test_keras_file_round_trip(request, tmp_path, texts, name):
    model = request.getfixturevalue(name)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert type(loaded) is type(model) and loaded.policy == model.policy
    assert loaded.get_config() == model.get_config()
    assert_same_ranges(loaded, model)
    np.testing.assert_allclose(loaded.predict(texts), model.predict(texts), atol=1e-6)


def test_an_exported_model_takes_any_number_of_texts_of_any_length(tiny, tmp_path):
    model = tiny.narrow()
    model.export(str(tmp_path / "exported"))
    loaded = tf.saved_model.load(str(tmp_path / "exported"))
    for texts, length in ((["good film"], 5), (["good film", "bad book", "so so"], 16)):
        packed = {name: tf.constant(ids) for name, ids in model.pack(texts, length=length).items()}
        np.testing.assert_allclose(loaded.serve(packed), model(packed), atol=1e-6)


@pytest.mark.parametrize("quantized", [False, True])
@pytest.mark.long_cases
def test_a_compiled_model_continues_training_after_loading(tiny, tmp_path, texts, quantized):
    rows, labels = tiny.rows(8)
    model = tiny.narrow()
    model = kb.compression.quantize(model, calibration=rows) if quantized else model
    model.compile(kb.adamw(0.01, steps=20), run_eagerly=True)
    model.fit(rows, labels, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert int(loaded.optimizer.iterations) == int(model.optimizer.iterations) == 1
    before = loaded.classifier.kernel.numpy().copy()
    history = loaded.fit(rows, labels, verbose=0).history
    assert set(history) == {"loss", "accuracy"} and np.isfinite(history["loss"][0])
    assert np.abs(loaded.classifier.kernel - before).max() > 0
    assert int(loaded.optimizer.iterations) == 2


@pytest.mark.parametrize("name", MODELS)
def test_saving_replaces_all_files_of_an_earlier_model(saved, name):
    files = [path for path in saved(name).rglob("*") if path.is_file()]
    assert all(is_model_file(path.relative_to(saved(name)).as_posix()) for path in files)


def test_saving_keeps_other_files(tiny, copied, static_model):
    folder = copied("vectors")
    (folder / "my_notes.txt").write_text("mine")
    (folder / "1_Pooling" / "my_notes.txt").write_text("mine")
    static_model.save_pretrained(folder)
    assert (folder / "my_notes.txt").read_text() == (folder / "1_Pooling" / "my_notes.txt").read_text() == "mine"
    assert [path.name for path in (folder / "1_Pooling").iterdir()] == ["my_notes.txt"]
    assert not (folder / "modules.json").exists() and kb.load_task(folder).policy == static_model.policy
    (folder / OWN_FILE).unlink()
    with pytest.raises(KerasBertError, match="a new or empty folder, or one of kerasbert's"):
        static_model.save_pretrained(folder)


@pytest.mark.long_cases("static_model", "[vectors")
@pytest.mark.parametrize("name", MODELS)
def test_folder_round_trip(request, saved, texts, name):
    model = request.getfixturevalue(name)
    folder = saved(name)
    for loaded in (kb.load_task(folder), type(model).from_pretrained(folder)):
        assert type(loaded) is type(model) and loaded.policy == model.policy
        assert loaded.labels == model.labels and loaded.sequence_length == model.sequence_length
        assert_same_ranges(loaded, model)
        ours = model.variables_by_path()
        for path, variable in loaded.variables_by_path().items():
            np.testing.assert_array_equal(variable, ours[path], err_msg=path)
    np.testing.assert_allclose(loaded.predict(texts), model.predict(texts), atol=1e-6)


def test_a_folder_is_one_of_hugging_face(saved, static_model):
    from safetensors.numpy import load_file

    folder = saved("static_model")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    assert config["architectures"] == ["BertForSequenceClassification"] and config["model_type"] == "bert"
    assert config["id2label"] == {"0": "negative", "1": "positive"}
    assert config["problem_type"] == "single_label_classification"
    tensors = load_file(folder / "model.safetensors")
    kernel = static_model.encoder.layers[1].attention.key.kernel.numpy()
    np.testing.assert_array_equal(tensors["bert.encoder.layer.1.attention.self.key.weight"], kernel.T)
    assert "classifier.weight" in tensors and len(tensors) == len(static_model.variables_by_path())
    assert {path.name for path in folder.iterdir()} == {
        "config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json", OWN_FILE, RANGES_FILE,
    }  # fmt: skip


def test_labels_that_differ_between_two_files_are_rejected(saved, tmp_path):
    folder = shutil.copytree(saved("trained"), tmp_path / "edited")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["id2label"] = {"0": "bad", "1": "good"}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    with pytest.raises(KerasBertError, match="received bad, good and negative, positive; one was edited"):
        kb.load_task(folder)
    assert kb.TextClassifier.from_pretrained(folder, labels=["no", "yes"]).labels == ("no", "yes")


def test_the_encoder_of_a_task_folder(saved, trained):
    encoder = kb.load_encoder(saved("trained"))
    ids = np.array([[2, 6, 20, 3]], np.int32)
    np.testing.assert_allclose(encoder(ids).pooled, trained.encoder(ids).pooled, atol=1e-6)


def test_classification_checkpoint_of_pytorch(tmp_path):
    folder = with_vocabulary("bert-sequence-classification", tmp_path)
    model = kb.TextClassifier.from_pretrained(folder, sequence_length=24)
    reference = dict(np.load(GOLDEN / "bert-sequence-classification" / "reference.npz"))
    logits = model({name: reference[name] for name in ("input_ids", "attention_mask", "token_type_ids")})
    np.testing.assert_allclose(logits, reference["logits"], atol=1e-5, rtol=0)
    assert type(model) is kb.TextClassifier and model.labels == ("LABEL_0", "LABEL_1", "LABEL_2")


def with_vocabulary(name: str, tmp_path: Path, words: int = 211) -> Path:
    """A golden folder, which has no vocabulary, with a made-up one."""
    folder = Path(shutil.copytree(GOLDEN / name, tmp_path / name))
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    (folder / "vocab.txt").write_text("\n".join(special + [f"w{i}" for i in range(words - 5)]) + "\n", "utf-8")
    return folder


@pytest.mark.long
def test_a_checkpoint_without_a_classifier_gets_a_new_one(tmp_path):
    folder = with_vocabulary("bert-pretraining", tmp_path)
    model = kb.TextClassifier.from_pretrained(folder, labels=["a", "b"], sequence_length=16)
    assert set(model.load_report.missing) == {"classifier.weight", "classifier.bias"}
    assert model.predict(["w1 w2"]).shape == (1, 2)
    with pytest.raises(KerasBertError, match="labels"):
        kb.TextClassifier.from_pretrained(folder, sequence_length=16)


def test_a_trained_head_needs_its_pooler(copied):
    from safetensors.numpy import load_file, save_file

    folder = copied("trained")
    tensors = load_file(folder / "model.safetensors")
    save_file({k: v for k, v in tensors.items() if "pooler" not in k}, folder / "model.safetensors")
    with pytest.raises(KerasBertError, match="missing: bert.pooler.dense.weight, bert.pooler.dense.bias"):
        kb.load_task(folder)
    save_file({k: v for k, v in tensors.items() if "layer.1.output.dense" not in k}, folder / "model.safetensors")
    with pytest.raises(KerasBertError, match="layer.1.output.dense"):
        kb.load_task(folder)


@pytest.mark.long
def test_a_sentence_encoder_without_a_pooler_can_be_saved(tiny, tmp_path, texts):
    model = kb.SentenceEncoder(tiny.encoder(pooler=False), tiny.tokenizer(), sequence_length=16)
    model.save_pretrained(tmp_path / "saved")
    loaded = kb.load_task(tmp_path / "saved")
    np.testing.assert_allclose(loaded.predict(texts), model.predict(texts), atol=1e-6)


def test_a_folder_of_one_task_starts_another(saved):
    classifier = kb.TextClassifier.from_pretrained(saved("vectors"), labels=["a", "b", "c"])
    assert classifier.labels == ("a", "b", "c")
    encoder = kb.SentenceEncoder.from_pretrained(saved("trained"))
    assert encoder.pooling == "mean"


def test_arguments_override_the_folder(saved):
    model = kb.TextClassifier.from_pretrained(saved("trained"), labels=["no", "yes"], sequence_length=8)
    assert model.labels == ("no", "yes") and model.sequence_length == 8
    vectors = kb.SentenceEncoder.from_pretrained(saved("vectors"), pooling="max", normalize=False)
    assert vectors.pooling == "max" and vectors.normalize is False


def test_sentence_transformers_settings_are_read_and_written(tiny, tmp_path):
    model = tiny.sentence_encoder(pooling="cls", normalize=False, sequence_length=20)
    folder = tmp_path / "saved"
    model.save_pretrained(folder)
    (folder / OWN_FILE).unlink()  # what another program knows of the folder
    loaded = kb.SentenceEncoder.from_pretrained(folder)
    assert (loaded.pooling, loaded.normalize, loaded.sequence_length) == ("cls", False, 20)


@pytest.mark.parametrize("labels", [["a"], ["a", "b", "c"]])
def test_labels_that_do_not_fit_the_head_are_rejected(saved, labels):
    with pytest.raises(KerasBertError, match=r"with a head of 2 \(negative, positive\)|two or more") as error:
        kb.TextClassifier.from_pretrained(saved("trained"), labels=labels)
    assert "\n" not in str(error.value)


def test_a_vocabulary_larger_than_the_table_is_rejected(tmp_path):
    folder = with_vocabulary("bert-sequence-classification", tmp_path, words=212)
    with pytest.raises(KerasBertError, match="211.*212"):
        kb.TextClassifier.from_pretrained(folder, sequence_length=24)


def test_a_smaller_vocabulary_is_accepted(tmp_path):
    folder = with_vocabulary("bert-sequence-classification", tmp_path, words=200)
    assert kb.TextClassifier.from_pretrained(folder, sequence_length=24).tokenizer.vocabulary_size == 200


def test_the_default_length_is_no_longer_than_the_checkpoint(tmp_path):
    """A checkpoint of 40 positions has no 128 tokens; a user who names no length gets what there is."""
    folder = with_vocabulary("bert-sequence-classification", tmp_path)
    model = kb.load_task(folder)
    assert type(model) is kb.TextClassifier and model.sequence_length == 40


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"hidden_size": 30}, "hidden_size"),
        ({"hidden_size": "32"}, "hidden_size"),
        ({"num_hidden_layers": 3}, "layer.2"),
        ({"intermediate_size": 48}, "intermediate"),
        ({"hidden_act": "swish"}, "swish"),
        ({"hidden_act": ["gelu"]}, "hidden_act"),
        ({"model_type": "llama"}, "llama"),
        ({"model_type": None}, "model_type"),
        ({"max_position_embeddings": 0}, "max_position_embeddings"),
        ({"type_vocab_size": 0}, "type_vocab_size"),
        ({"layer_norm_eps": "small"}, "layer_norm_eps"),
        ({"hidden_dropout_prob": 2.0}, "hidden_dropout_prob"),
    ],
)
def test_a_config_with_wrong_values_is_rejected(copied, change, told):
    folder = copied("trained")
    edit(folder / "config.json", lambda config: config.update(change))
    with pytest.raises(KerasBertError, match=told) as error:
        kb.load_task(folder)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "content",
    [
        "{", "[]", '"text"', "\udcff",
        '{"task": "TextRanker"}',
        '{"task": ["TextClassifier"]}',
        '{"task": "TextClassifier", "settings": []}',
        '{"task": "TextClassifier", "settings": {"colour": "red"}}',
        '{"task": "TextClassifier", "settings": {"labels": 3}}',
        '{"task": "TextClassifier", "settings": {"sequence_length": "long", "labels": ["a", "b"]}}',
        '{"task": "TextClassifier", "settings": {"labels": ["a", "b"]}, "quantization": "int8"}',
        '{"task": "TextClassifier", "settings": {"labels": ["a", "b"]}, "quantization": {"colour": 1}}',
        '{"task": "TextClassifier", "settings": {"labels": ["a", "b"]}, "quantization": {"recipe": "r", "activations": [["*", "int4"]]}}',
    ],
)  # fmt: skip
def test_a_damaged_settings_file_is_rejected(copied, content):
    folder = copied("trained")
    (folder / OWN_FILE).write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(KerasBertError) as error:
        kb.load_task(folder)
    assert "\n" not in str(error.value)


def test_missing_ranges_are_reported(copied):
    from safetensors.numpy import load_file, save_file

    folder = copied("static_model")
    saved = load_file(folder / RANGES_FILE)
    name = sorted(saved)[0]
    save_file({k: v for k, v in saved.items() if k != name}, folder / RANGES_FILE)
    with pytest.raises(KerasBertError, match=name):
        kb.load_task(folder)
    (folder / RANGES_FILE).unlink()
    with pytest.raises(KerasBertError, match=f"expected {RANGES_FILE}"):
        kb.load_task(folder)


@pytest.mark.parametrize("value", [np.float32(np.nan), np.zeros(3, np.float32)])
def test_damaged_ranges_are_rejected(copied, value):
    from safetensors.numpy import load_file, save_file

    folder = copied("static_model")
    saved = load_file(folder / RANGES_FILE)
    save_file({**saved, sorted(saved)[0]: np.asarray(value)}, folder / RANGES_FILE)
    with pytest.raises(KerasBertError):
        kb.load_task(folder)


def test_a_foreign_folder_is_not_overwritten(tiny, tmp_path):
    model = tiny.narrow()
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    with pytest.raises(KerasBertError, match="thesis"):
        model.save_pretrained(tmp_path / "thesis")
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"
    (tmp_path / "file").write_text("text")
    with pytest.raises(KerasBertError, match="file"):
        model.save_pretrained(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    model.save_pretrained(tmp_path / "empty")
    model.save_pretrained(tmp_path / "empty")  # now it is one of ours
    assert {path.name for path in tmp_path.iterdir()} == {"thesis", "file", "empty"}


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_interrupted_save_leaves_the_old_folder(tiny, tmp_path, monkeypatch, failure):
    old, new = tiny.narrow(seed=1), tiny.narrow(seed=2)
    old.save_pretrained(tmp_path / "model")
    before = {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}

    def fail(self, folder):
        raise failure

    monkeypatch.setattr(type(new.tokenizer), "save", fail)
    with pytest.raises((OSError, KeyboardInterrupt, KerasBertError)):
        new.save_pretrained(tmp_path / "model")
    assert {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.long
def test_saving_after_serving_and_predicting(tiny, tmp_path, texts):
    model = tiny.narrow()
    served = model.serve_numpy(model.pack(texts))["probabilities"]
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded.predict(texts), served, atol=1e-6)


@pytest.mark.long
def test_config_round_trip_is_json(tiny):
    for model in (tiny.narrow(problem="multi_label"), tiny.sentence_encoder(pooling="max")):
        config = json.loads(json.dumps(model.get_config()))
        other = type(model).from_config(config)
        assert other.get_config() == model.get_config()
        assert [v.shape for v in other.variables] == [v.shape for v in model.variables]
