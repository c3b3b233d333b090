import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.compression.pruning.structured import prune_feed_forward, prune_heads
from kerasbert.encoders import BiLstmConfig, BiLstmEncoder
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.training.distillation import Distiller, HiddenStates, Logits, bilstm_student
from kerasbert.training.distillation.bilstm import principal_components

SIZES = {"vocab_size": 40, "embedding_size": 8, "hidden_size": 12, "max_position_embeddings": 32}


def encoder(**sizes):
    keras.utils.set_random_seed(0)
    return BiLstmEncoder(BiLstmConfig(**SIZES, initializer_range=0.5, **sizes))


@pytest.fixture(scope="module")
def student(trained, tiny):
    """A BiLSTM that has learned the rule from a BERT's outputs alone."""
    keras.utils.set_random_seed(0)
    student = bilstm_student(trained, units=8, embedding_size=8)
    distiller = Distiller(student, trained, [Logits()], label_weight=0)
    distiller.compile(kb.adamw(2e-2, warmup=0, decay="constant"))
    distiller.fit(tiny.rows(256)[0], epochs=3, seed=0, verbose=0)
    return student


def test_states_are_those_of_keras_lstm(tiny):
    model = encoder()
    ids = np.random.default_rng(0).integers(5, 40, (2, 7))
    output = model(tf.constant(ids), output_hidden_states=True)
    lstm = keras.layers.Bidirectional(keras.layers.LSTM(6, return_sequences=True))
    lstm.build((None, None, 8))
    (layer,) = model.layers
    weights = []
    for direction in (layer.forward, layer.backward):
        weights += [direction.projection.kernel, direction.recurrent.kernel, direction.projection.bias]
    lstm.set_weights(weights)
    np.testing.assert_allclose(output.sequence, lstm(output.hidden_states[0]), atol=1e-6)


def test_padding_does_not_change_outputs():
    model, ids = encoder(), np.array([[6, 7, 8, 9]])
    padded = {"input_ids": np.pad(ids, ((0, 0), (0, 3))), "attention_mask": np.array([[1, 1, 1, 1, 0, 0, 0]])}
    plain, padded = model(tf.constant(ids)), model({name: tf.constant(value) for name, value in padded.items()})
    np.testing.assert_allclose(padded.pooled, plain.pooled, atol=1e-6)
    np.testing.assert_allclose(padded.sequence[:, :4], plain.sequence, atol=1e-6)


def test_siamese_encoder_reads_both_texts_apart():
    model = encoder(siamese=True)
    ids, types = tf.constant([[2, 7, 8, 3, 9, 10, 3, 0]]), tf.constant([[0, 0, 0, 0, 1, 1, 1, 0]])
    pair = model({"input_ids": ids, "attention_mask": tf.constant([[1] * 7 + [0]]), "token_type_ids": types})
    first, second = model(ids[:, :4]), model(ids[:, 4:7])
    np.testing.assert_allclose(pair.sequence[:, :4], first.sequence, atol=1e-6)
    np.testing.assert_allclose(pair.sequence[:, 4:7], second.sequence, atol=1e-6)
    a, b = (tf.concat([each.sequence[:, -1, :6], each.sequence[:, 0, 6:]], -1) for each in (first, second))
    compared = model.pooler(tf.concat([a, b, a * b, abs(a - b)], -1))
    np.testing.assert_allclose(pair.pooled, compared, atol=1e-6)


@pytest.mark.long
def test_student_of_a_teacher_of_pairs_is_siamese(tiny):
    teacher = tiny.narrow(paired=True)
    student = bilstm_student(teacher, units=4)
    assert student.config.siamese
    pair, swapped = student.predict([("good film", "bad song"), ("bad song", "good film")])
    assert not np.allclose(pair, swapped)


def test_student_learns_from_outputs_alone(student, trained, tiny):
    texts, labels = tiny.rows(128, seed=1)
    assert student.score(texts, labels)["accuracy"] > 0.8


@pytest.mark.long
def test_folder_and_keras_file_keep_the_student(student, tiny, tmp_path):
    texts, _ = tiny.rows(8, seed=1)
    student.save_pretrained(tmp_path / "folder")
    student.save(tmp_path / "model.keras")
    for loaded in (kb.load_task(tmp_path / "folder"), keras.models.load_model(tmp_path / "model.keras")):
        np.testing.assert_allclose(loaded.predict(texts), student.predict(texts), atol=1e-6)


@pytest.mark.long_cases("dynamic")
@pytest.mark.parametrize("recipe", ["dynamic_wi8_afp32", "static_wi8_ai8"])
def test_the_int8_file_computes_what_the_model_computes(recipe, student, tiny, tmp_path):
    texts, labels = tiny.rows(256, seed=1)
    model = kb.compression.quantize(student, recipe, calibration=texts[:64] if "static" in recipe else None)
    path = kb.export.convert(model, recipe=recipe, length=[8, 16]).save(tmp_path / "bilstm.tflite")
    report = kb.export.validate(path, against=model, data=(texts, labels))
    assert report.verdict == "passed", report.table()
    opened = kb.open(path)
    assert opened(texts[0]) == opened(texts[0])  # no state is left from the first call
    kernels = [
        (number, graph.tensors[operator.inputs[1]].dtype)
        for number, graph in enumerate(ModelFile.read(path).subgraphs)
        for operator in graph.operators
        if operator.name == "FULLY_CONNECTED"
    ]
    assert {dtype for _, dtype in kernels} == {"int8"}
    assert len({number for number, _ in kernels}) == 4  # two lengths, and the loop of each


@pytest.mark.long
def test_a_file_of_any_length(student, tiny, tmp_path):
    texts, _ = tiny.rows(4, seed=1)
    opened = kb.open(kb.export.convert(student, recipe="float32", length="resizable").save(tmp_path / "any.tflite"))
    for text, expected in zip(texts, student.predict(texts), strict=True):
        np.testing.assert_allclose(list(opened(text)["probabilities"].values()), expected, atol=1e-5)


@pytest.mark.parametrize("target", ["gpu", "web", "edge-tpu"])
def test_targets_without_loops_are_refused(target, student):
    with pytest.raises(kb.KerasBertError, match=f"target 'cpu' for a bilstm, .*received '{target}'"):
        kb.export.convert(student, target=target)


def test_what_a_bilstm_lacks_is_refused(student, trained, tiny):
    with pytest.raises(kb.KerasBertError, match="two transformers for HiddenStates, received a BiLstmEncoder"):
        Distiller(student, trained, [HiddenStates()])
    with pytest.raises(kb.KerasBertError, match="the loop of a BiLSTM|for integers only, received a BiLSTM"):
        kb.compression.quantize(student, "static_wi8_ai8", calibration=tiny.rows(8)[0], integer_only=True)
    with pytest.raises(kb.KerasBertError, match="a transformer for adapters, received a BiLSTM"):
        BiLstmEncoder(BiLstmConfig(**SIZES), adapters=4)
    for cut in (prune_heads, prune_feed_forward):
        with pytest.raises(kb.KerasBertError, match="a transformer to cut, received a bilstm"):
            cut(student, share=0.5, data=tiny.rows(8))
    answers = kb.QuestionAnswerer(tiny.encoder(pooler=False), tiny.tokenizer(), sequence_length=16)
    with pytest.raises(kb.KerasBertError, match="a head of bilstm, .*received 'qa_outputs'"):
        bilstm_student(answers)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"units": 0}, "units from 1 to 4096, received 0"),
        ({"embedding_size": 33}, "an embedding_size from 1 to 32, received 33"),
        ({"embedding_size": "8"}, "an embedding_size"),
        ({"siamese": "yes"}, "siamese as True or False"),
    ],
)
def test_sizes_out_of_range_are_refused(options, message, trained):
    with pytest.raises(kb.KerasBertError, match=message):
        bilstm_student(trained, **options)


def test_principal_components_keep_distances():
    draw = np.random.default_rng(0)
    vectors = draw.normal(size=(50, 2)) @ draw.normal(size=(2, 6)) + 3.0  # a plane
    reduced = principal_components(vectors.astype(np.float32), 2)
    distances = [np.linalg.norm(each[:, None] - each, axis=-1) for each in (vectors, reduced)]
    scale = distances[0][0, 1] / distances[1][0, 1]
    np.testing.assert_allclose(distances[1] * scale, distances[0], rtol=1e-3, atol=1e-3)
    assert reduced.std() == pytest.approx(1.0, abs=1e-3)
