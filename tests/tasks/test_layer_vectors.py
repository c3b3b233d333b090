"""Vectors of a layer: of texts and of their tokens."""

import numpy as np
import pytest

import kerasbert as kb

TEXTS = ["the film was good", "so grim", "a lovely song, and warm"]


def states(task, text):
    """The hidden states of one text alone, (layers + 1, tokens, hidden)."""
    encoded = task.encode([text])
    output = task.encoder({"input_ids": np.array(encoded.input_ids, np.int32)}, output_hidden_states=True)
    return np.stack([state.numpy()[0] for state in output.hidden_states])


@pytest.mark.parametrize("layer", [0, 1, -1, -3])
def test_vectors_are_those_of_each_text_alone(trained, layer):
    mean, cls = (kb.layer_vectors(trained, TEXTS, layer, kind) for kind in ("mean", "cls"))
    tokens = kb.layer_vectors(trained, TEXTS, layer, "tokens")
    for number, text in enumerate(TEXTS):
        expected = states(trained, text)[layer]
        np.testing.assert_allclose(mean[number], expected.mean(axis=0), atol=1e-5)
        np.testing.assert_allclose(cls[number], expected[0], atol=1e-5)
        np.testing.assert_allclose(tokens.vectors[tokens.text == number], expected, atol=1e-5)


def test_the_last_layer_is_the_sequence_output(trained):
    sequence = trained.encoder(trained.pack(TEXTS)).sequence.numpy()
    np.testing.assert_allclose(kb.layer_vectors(trained, TEXTS, -1, "cls"), sequence[:, 0], atol=1e-5)


def test_tokens_have_their_characters_and_parts(trained):
    found = kb.layer_vectors(trained, [("the films", "so bad")], 1, "tokens")
    assert found.tokens.tolist() == ["[CLS]", "the", "film", "##s", "[SEP]", "so", "bad", "[SEP]"]
    assert found.part.tolist() == [-1, 0, 0, 0, -1, 1, 1, -1]
    assert found.offsets[2].tolist() == [4, 8] and found.offsets[6].tolist() == [3, 6]


def test_a_folder_gives_the_vectors_of_its_model(static_model, tmp_path):
    static_model.save_pretrained(tmp_path / "int8")
    expected = kb.layer_vectors(static_model, TEXTS, 1)
    np.testing.assert_allclose(kb.layer_vectors(tmp_path / "int8", TEXTS, 1), expected, atol=1e-5)


def test_many_texts_are_computed_in_batches(trained, tiny):
    texts = tiny.rows(100)[0]
    steps = []
    found = kb.layer_vectors(trained, texts, report=lambda done, total: steps.append((done, total)))
    assert steps[-1] == (100, 100) and len(steps) == 4
    np.testing.assert_allclose(found[17], kb.layer_vectors(trained, [texts[17]])[0], atol=1e-5)


def test_a_prompt_stands_before_each_text(vectors):
    plain = kb.layer_vectors(vectors, ["a good film"])
    np.testing.assert_allclose(kb.layer_vectors(vectors, ["film"], prompt="a good "), plain, atol=1e-6)


def test_long_texts_are_truncated_with_a_note(trained, capsys):
    assert kb.layer_vectors(trained, ["good " * 40], vectors="tokens").vectors.shape == (16, 32)
    assert "1 of 1 texts are too long for 16 tokens and were truncated" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((TEXTS, 3), r"from 0 \(the embeddings\) to 2, or from -1 \(the last\) to -3, received 3"),
        ((TEXTS, -4), "received -4"),
        ((TEXTS, True), "received True"),
        ((TEXTS, 1, "sum"), "one of mean, cls, tokens, received 'sum'"),
        (("good",), "list of texts"),
        (([],), "at least one text"),
    ],
)
def test_wrong_arguments_are_errors(trained, arguments, message):
    with pytest.raises(kb.KerasBertError, match=message):
        kb.layer_vectors(trained, *arguments)


def test_files_and_other_objects_are_refused(trained):
    with pytest.raises(kb.KerasBertError, match="'model.tflite', which holds only its outputs"):
        kb.layer_vectors("model.tflite", TEXTS)
    with pytest.raises(kb.KerasBertError, match="received BertEncoder; load a folder with kb.load_task"):
        kb.layer_vectors(trained.encoder, TEXTS)


def test_states_that_are_not_finite_are_refused(tiny):
    task = tiny.narrow()
    task.encoder.layers[0].feed_forward_norm.beta.assign([float("nan")] * 8)
    with pytest.raises(kb.KerasBertError, match="finite hidden states, received NaN or infinity in row 0"):
        kb.layer_vectors(task, TEXTS[:1])
    with pytest.raises(kb.KerasBertError, match="finite hidden states"):
        kb.plots.attention(task, TEXTS[0])
