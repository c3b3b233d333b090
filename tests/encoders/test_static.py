"""Static vectors: the mean of the tokens' vectors, trained, saved, converted, and refused where layers are needed."""

import numpy as np
import pytest
import tf_keras as keras

import kerasbert as kb
from kerasbert.checkpoints.layer_counts import check_layer_count, layer_count
from kerasbert.compression.pruning.structured.layers import drop_layers
from kerasbert.encoders import StaticConfig, StaticEncoder
from kerasbert.errors import KerasBertError


def encoder(tiny, **settings):
    keras.utils.set_random_seed(0)
    return StaticEncoder(StaticConfig(vocab_size=len(tiny.vocabulary), hidden_size=16, **settings))


def test_a_text_is_the_mean_of_its_tokens(tiny):
    model = kb.SentenceEncoder(encoder(tiny), tiny.tokenizer(), sequence_length=tiny.length)
    texts, _ = tiny.rows(6)
    table = model.variables_by_path()["encoder.embeddings.word.table"].numpy()
    for text, vector in zip(texts, model.predict(texts), strict=True):
        ids = model.tokenizer.encode([text], None, max_length=tiny.length).input_ids[0]
        mean = table[ids].mean(axis=0)
        np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-6)
    assert "0 layers" in repr(model.encoder)


def test_a_classifier_learns_is_saved_and_converted(tiny, tmp_path):
    model = kb.TextClassifier(encoder(tiny), tiny.tokenizer(), labels=tiny.labels, sequence_length=tiny.length)
    model.compile(kb.adamw(3e-2))
    texts, labels = tiny.rows(256)
    model.fit(texts, labels, epochs=6, seed=0, verbose=0)
    assert model.score(texts, labels)["accuracy"] > 0.9
    model.save_pretrained(tmp_path / "folder")
    loaded = kb.load_task(tmp_path / "folder")
    np.testing.assert_allclose(loaded.predict(texts[:8]), model.predict(texts[:8]), atol=1e-6)
    with pytest.raises(KerasBertError, match="expected a recipe of weights alone for static vectors"):
        kb.compression.quantize(model, "static_wi8_ai8", calibration=texts[:64])
    path = kb.export.convert(model, length=[8, tiny.length]).save(tmp_path / "static.tflite")
    report = kb.export.validate(path, against=model, data=(texts, labels))
    assert report.verdict in ("passed", "no difference found"), report.table()
    assert path.stat().st_size < 40_000


def test_the_table_of_a_file_is_in_8_bits(tiny, tmp_path):
    model = kb.SentenceEncoder(encoder(tiny), tiny.tokenizer(), sequence_length=tiny.length)
    small, large = (kb.export.convert(model, recipe=recipe) for recipe in ("dynamic_wi8_afp32", "float32"))
    found = [kb.export.inspect(each.save(tmp_path / f"{number}.tflite")) for number, each in enumerate((small, large))]
    assert [each.recipe for each in found] == ["dynamic_wi8_afp32", "float32"]
    rows = len(tiny.vocabulary) * 16
    assert [each.size_by_part["embeddings"] for each in found] == [rows, 4 * rows]
    texts = tiny.rows(8)[0]
    np.testing.assert_allclose(kb.open(tmp_path / "0.tflite")(texts), model.predict(texts), atol=0.02)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            lambda tiny: StaticEncoder(StaticConfig(vocab_size=9), adapters=4),
            "received static vectors; leave adapters out",
        ),
        (lambda tiny: StaticEncoder(StaticConfig(vocab_size=9), layer_mix=True), "leave layer_mix out"),
        (
            lambda tiny: drop_layers(kb.TextClassifier(encoder(tiny), tiny.tokenizer(), labels=tiny.labels), 1),
            "expected a model of at least 2 layers, received one of 0",
        ),
    ],
)
def test_what_needs_layers_is_refused(tiny, use, message):
    with pytest.raises(KerasBertError, match=message):
        use(tiny)


def test_commands_about_layers_say_that_there_are_none():
    assert layer_count({"num_hidden_layers": 4}) == 4 and layer_count({"n_layers": 6}) == 6 and layer_count({}) == 0
    with pytest.raises(
        KerasBertError, match="expected a model with layers for --layers, received static-en, which has none"
    ):
        check_layer_count("static-en", 2)
