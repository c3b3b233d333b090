"""Plots of attention, of words and of changed weights: their numbers, their files, and what they refuse."""

import base64
import json
import re

import numpy as np
import pytest

import kerasbert as kb

TEXT = "the film was so good"


def data_of(page):
    """The data of the script of an attention page."""
    return json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture(scope="module")
def attention(trained):
    return kb.plots.attention(trained, TEXT)


@pytest.fixture(scope="module")
def words(trained):
    return kb.plots.words(trained, "film", ["the film was good", "a film, and a FILM"])


def test_attention_is_that_of_the_encoder(trained, attention):
    encoded = trained.encode([TEXT])
    output = trained.encoder({"input_ids": np.array(encoded.input_ids, np.int32)}, output_attentions=True)
    assert attention.tokens == ("[CLS]", "the", "film", "was", "so", "good", "[SEP]")
    assert attention.layers == (1, 2) and attention.heads == ((1, 2, 3, 4),) * 2
    for found, expected in zip(attention.weights, output.attentions, strict=True):
        np.testing.assert_allclose(found, expected[0], atol=1e-6)


def test_one_layer_and_head_are_chosen(trained, attention):
    plot = kb.plots.attention(trained, TEXT, layer=-2, head=3)
    assert (plot.layers, plot.heads) == ((1,), ((3,),))
    np.testing.assert_allclose(plot.weights[0][0], attention.weights[0][2], atol=1e-6)


def test_an_attention_page_has_the_weights_in_bytes(attention):
    data = data_of(attention.page())
    assert data["tokens"] == list(attention.tokens)
    found = np.frombuffer(base64.b64decode(data["weights"][1]), np.uint8).reshape(4, 7, 7) / 255
    np.testing.assert_allclose(found, attention.weights[1], atol=0.5 / 255 + 1e-6)


def test_text_cannot_end_the_script_of_a_page(attention):
    plot = kb.plots.AttentionPlot(("</script><b>", "$x$"), (1,), ((1,),), (np.eye(2, dtype=np.float32)[None],))
    assert data_of(plot.page())["tokens"] == ["</script><b>", "$x$"]
    assert plot.page().count("</script>") == 2
    assert plot._repr_png_().startswith(b"\x89PNG")  # dollars are no formula


def test_pages_need_no_network(attention, words):
    for plot in (attention, words):
        assert not re.search(r"https?:|src=|@import|url\(", plot.page())
        assert plot._repr_html_().startswith("<iframe srcdoc=")


def test_a_word_is_found_at_every_place_and_in_any_case(words):
    assert [number for number, _ in words.places] == [0, 1, 1] and words.similarities.shape == (3, 3, 3)
    assert words.numbers() == ["1", "2a", "2b"] and words.names()[0] == "1: the film was good"
    np.testing.assert_allclose(words.similarities[:, [0, 1, 2], [0, 1, 2]], 1, atol=1e-5)


def test_a_word_of_several_tokens_has_their_mean(trained):
    plot = kb.plots.words(trained, "films", ["the films", "so films"])
    tokens = kb.layer_vectors(trained, ["the films", "so films"], 1, "tokens")
    first, second = (tokens.vectors[(tokens.text == number)][2:4].mean(axis=0) for number in (0, 1))
    cosine = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    assert plot.similarities[1, 0, 1] == pytest.approx(cosine, abs=1e-5)


def test_changes_are_relative_distances(trained):
    other = trained.with_dropout(0.0)
    kernel = other.encoder.layers[1].attention.query.kernel
    kernel.assign(kernel * 1.5)
    plot = kb.plots.changes(trained, other)
    bias = trained.encoder.layers[1].attention.query.bias.numpy()
    moved, whole = 0.5 * np.linalg.norm(kernel / 1.5), np.hypot(np.linalg.norm(kernel / 1.5), np.linalg.norm(bias))
    assert plot.parts["layers.1.attention.query"].relative == pytest.approx(moved / whole, rel=1e-5)
    assert plot.of("layers.0").relative == plot.of("embeddings").relative == 0
    name, change, most = plot.rows()[2]
    assert (name, most) == ("layer 2", "attention.query") and change.weights == plot.of("layers.1").weights
    assert sum(each.weights for each in plot.parts.values()) == sum(
        int(np.prod(each.shape)) for each in trained.encoder.variables_by_path().values()
    )


@pytest.mark.parametrize("name", ["plot.png", "plot.svg", "plot.html"])
def test_a_plot_replaces_its_own_files_only(words, tmp_path, name):
    path = tmp_path / name
    path.write_text("of another program")
    with pytest.raises(kb.KerasBertError, match="or one that kerasbert wrote"):
        words.save(path)
    path.unlink()
    assert words.save(path) == words.save(path) == path and path.stat().st_size > 1000


def test_every_kind_is_drawn(attention, trained, tmp_path):
    for plot in (attention, kb.plots.changes(trained, trained)):
        assert plot._repr_png_().startswith(b"\x89PNG") and "<h1>" in plot.page()
        json.dumps(plot.to_dict())


def test_blocks_of_shared_layers_are_named_so():
    config = kb.encoders.AlbertConfig(
        num_hidden_layers=3, hidden_size=8, num_attention_heads=2, intermediate_size=16, vocab_size=20, embedding_size=4
    )
    encoder = kb.encoders.AlbertEncoder(config)
    encoder({"input_ids": [[0] * 4]})
    names = [name for name, _, _ in kb.plots.changes(encoder, encoder).rows()]
    assert names == ["embeddings", "block 1", "pooler"]


def test_long_texts_are_truncated_with_a_note(trained, capsys):
    assert len(kb.plots.attention(trained, "good " * 40).tokens) == 16
    assert "1 of 1 texts are too long for 16 tokens" in capsys.readouterr().err


def test_characters_without_a_font_become_squares_with_a_note(attention, capsys):
    sign = "\U00012000"  # of cuneiform: in no font of the list
    plot = kb.plots.AttentionPlot((sign, "a"), (1,), ((1,),), (np.eye(2, dtype=np.float32)[None],))
    plot._repr_png_()
    assert "so a picture shows squares" in capsys.readouterr().err and sign in data_of(plot.page())["tokens"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda task: kb.plots.attention(task, "  "), "a text with at least one word, received '  '"),
        (lambda task: kb.plots.attention(task, TEXT, pair=""), "a pair with at least one word"),
        (lambda task: kb.plots.attention(task, ["good"]), "every row of texts to be a string"),
        (lambda task: kb.plots.attention(task, TEXT, layer=0), r"from 1 to 2, or from -1 \(the last\) to -2, received 0"),
        (lambda task: kb.plots.attention(task, TEXT, head=5), "a head from 1 to 4, received 5"),
        (lambda task: kb.plots.words(task, "fil", ["the film", "film"]), "sentence 1 without it as a word of its own"),
        (lambda task: kb.plots.words(task, "film", ["the film"]), "at two or more places, received 1"),
        (lambda task: kb.plots.words(task, " ", ["the film"]), "a word to compare"),
        (lambda task: kb.plots.words(task, "film", "film"), "sentences as a list"),
        (lambda task: kb.plots.changes(task, "x.tflite"), "the file 'x.tflite', whose weights"),
        (lambda task: kb.plots.changes(task, 3), "an encoder or a folder to compare, received 3"),
        (lambda task: kb.plots.attention(task, TEXT).save("x.pdf"), "ending in .png, .svg, .html, received 'x.pdf'"),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_refused(trained, call, message):
    with pytest.raises(kb.KerasBertError, match=message):
        call(trained)


def test_models_of_other_sizes_are_not_compared(trained, tiny):
    with pytest.raises(kb.KerasBertError, match="two models of the same sizes, received layers.0.*32, 64.*32, 48"):
        kb.plots.changes(trained, tiny.classifier(sizes={"intermediate_size": 48}))
