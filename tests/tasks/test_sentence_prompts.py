"""Prompts of sentence encoders: in vectors, in folders of sentence-transformers, in files, in training, and in the command."""

import json

import numpy as np
import pytest
import tensorflow as tf

import kerasbert as kb
from kerasbert.checkpoints.sentence_transformers import read_settings
from kerasbert.compression.pruning.structured import trim_vocabulary
from kerasbert.errors import KerasBertError
from kerasbert.export.backends.client_tools.conversion_note import client_note
from kerasbert.export.runtime.opening import open_pipeline
from kerasbert.files.model_folder import OWN_FILE, is_model_file

pytestmark = pytest.mark.one_layer

PROMPTS = {"query": "the film ", "passage": "we saw "}


@pytest.fixture(scope="module")
def texts(tiny):
    return tiny.rows(5, seed=8)[0]


@pytest.fixture(scope="module")
def plain(tiny):
    return tiny.sentence_encoder()


@pytest.fixture(scope="module")
def prompted(tiny):
    """`plain` with a default prompt."""
    return tiny.sentence_encoder(prompts=PROMPTS, default_prompt_name="query")


@pytest.fixture(scope="module")
def file(prompted, tmp_path_factory):
    path = tmp_path_factory.mktemp("file") / "prompted.tflite"
    kb.export.convert(prompted, recipe="float32").save(path)
    return path


def expected(plain, texts, prompt):
    """The vectors of texts that have their prompt in them."""
    return plain.serve(plain.pack([prompt + text for text in texts]))["embedding"].numpy()


def close(vectors, others):
    np.testing.assert_allclose(vectors, others, atol=2e-5)


@pytest.mark.long
def test_predict_puts_the_prompt_before_each_text(plain, prompted, texts):
    close(prompted.predict(texts), expected(plain, texts, "the film "))
    close(prompted.predict(texts, prompt_name="passage"), expected(plain, texts, "we saw "))
    close(prompted.predict(texts, prompt="a "), expected(plain, texts, "a "))
    close(prompted.predict(texts, prompt=""), expected(plain, texts, ""))
    close(plain.predict(texts, prompt="a "), expected(plain, texts, "a "))
    pairs = prompted.predict((texts, texts[::-1]), prompt_name="passage")
    close(pairs[:, 1], expected(plain, texts[::-1], "we saw "))
    with pytest.raises(KerasBertError, match="prompt_name to be one of 'query', 'passage', received 'passages'"):
        prompted.predict(texts, prompt_name="passages")
    with pytest.raises(KerasBertError, match="expected texts for a prompt, received dict"):
        prompted.predict(prompted.pack(texts), prompt="a ")


def test_every_way_to_tokenize_texts_uses_the_default_prompt(plain, prompted, texts):
    ids = plain.pack(["the film " + text for text in texts], length=16)["input_ids"]
    np.testing.assert_array_equal(prompted.pack(texts, length=16)["input_ids"], ids)
    assert prompted.features(texts)[1].token_lists.input_ids[0] == ids[0][ids[0] > 0].tolist()
    dataset = tf.data.Dataset.from_tensor_slices(texts).batch(5)
    close(prompted.predict(dataset), expected(plain, texts, "the film "))
    assert prompted.predictions(texts[:1])[0]["vector"][0] == pytest.approx(
        expected(plain, texts, "the film ")[0, 0], abs=1e-4
    )


def test_prompts_are_saved_with_the_model(plain, prompted, texts, tmp_path):
    prompted.save_pretrained(tmp_path / "m")
    assert json.loads((tmp_path / "m" / "config_sentence_transformers.json").read_text("utf-8")) == {
        "prompts": PROMPTS,
        "default_prompt_name": "query",
    }
    assert is_model_file("config_sentence_transformers.json")
    for own in (True, False):  # as kerasbert and as another program would leave the folder
        loaded = kb.SentenceEncoder.from_pretrained(tmp_path / "m")
        assert (loaded.prompts, loaded.default_prompt_name) == (PROMPTS, "query")
        if own:
            (tmp_path / "m" / OWN_FILE).unlink()
    close(loaded.predict(texts), expected(plain, texts, "the film "))
    other = kb.SentenceEncoder.from_pretrained(tmp_path / "m", default_prompt_name="passage")
    assert other.processor.prefix == "we saw "
    assert kb.SentenceEncoder.from_pretrained(tmp_path / "m", default_prompt_name="").processor.prefix == ""
    plain.save_pretrained(tmp_path / "m2")
    assert not (tmp_path / "m2" / "config_sentence_transformers.json").exists()


def test_the_file_of_model_settings_is_read_or_refused(plain, tmp_path):
    plain.save_pretrained(tmp_path)
    path = tmp_path / "config_sentence_transformers.json"

    def settings(**content):
        path.write_text(json.dumps(content), "utf-8")
        with kb.strict():
            return read_settings(tmp_path, 32, 32)

    without = settings(__version__={"sentence_transformers": "2.2.2"})
    new = {
        "model_type": "SentenceTransformer",
        "similarity_fn_name": "cosine",
        "truncate_dim": None,
        "requirements": [],
    }
    assert settings(prompts={"query": "", "document": ""}, default_prompt_name="query", **new) == without
    assert settings(prompts={"query": None, "sts": "s: "}, default_prompt_name=None)["prompts"] == {
        "query": "",
        "sts": "s: ",
    }
    for content, message in (
        ({"prompts": {"query": "q: "}, "default_prompt_name": "other"}, "default_prompt_name to be one of 'query'"),
        ({"prompts": ["q: "]}, "expected prompts as texts by name"),
        ({"truncate_dim": 8}, "expected truncate_dim None, the only supported value, received 8"),
        ({"model_type": "SparseEncoder"}, "expected model_type 'SentenceTransformer'"),
        (
            {"similarity_fn_name": "euclidean"},
            "the similarity function cosine, received similarity_fn_name 'euclidean'",
        ),
        ({"rotation": 3}, r"received 1 unknown key \(rotation\)"),
    ):
        with pytest.raises(KerasBertError, match=message):
            settings(**content)


def test_a_file_applies_the_prompts_of_its_metadata(plain, file, texts):
    model = kb.open(file)
    close(model(texts), expected(plain, texts, "the film "))
    close(model(texts[0], prompt_name="passage"), expected(plain, texts[:1], "we saw ")[0])
    close(model(texts, prompt=""), expected(plain, texts, ""))
    with pytest.raises(KerasBertError, match="received 'x'"):
        model(texts, prompt_name="x")
    assert kb.open(file, isolated=True)(texts[0]).shape == (32,)
    metadata = open_pipeline(file).metadata
    assert metadata.as_dict()["settings"] == {"width": 32, "prompts": PROMPTS, "default_prompt_name": "query"}
    assert "do not put the default prompt 'the film ' before texts" in client_note(metadata)


def test_search_uses_the_prompts_of_query_and_passage(plain, file, texts):
    found = kb.open(file).search(texts[0], texts, top_k=5)
    query, passages = expected(plain, texts[:1], "the film "), expected(plain, texts, "we saw ")
    scores = (query @ passages.T)[0]
    assert [each["index"] for each in found] == np.argsort(-scores).tolist()
    close([each["score"] for each in found], np.sort(scores)[::-1])
    vectors = kb.open(file)(texts, prompt_name="passage")
    assert kb.open(file).search(texts[0], vectors)[0]["score"] == pytest.approx(found[0]["score"], abs=1e-5)


@pytest.mark.long
def test_training_sees_the_prompt(tiny, texts):
    """A run with a default prompt is the run without on texts that have it."""
    weights = []
    for settings, prompt in (({"prompts": PROMPTS, "default_prompt_name": "query"}, ""), ({}, "the film ")):
        model = tiny.sentence_encoder(**settings)
        model.compile(kb.adamw(1e-2), run_eagerly=True)
        model.fit([prompt + text for text in texts], np.eye(32, dtype=np.float32)[:5], seed=0, verbose=0)
        weights.append(model.encoder.embeddings.word.table.numpy())
    np.testing.assert_array_equal(*weights)


def test_trimming_keeps_the_tokens_of_every_prompt(prompted):
    trimmed = trim_vocabulary(prompted, ["good book"], characters=False)
    assert {"the", "film", "we", "saw", "good", "book"} <= set(trimmed.tokenizer.vocabulary)
    assert trimmed.prompts == PROMPTS and "song" not in trimmed.tokenizer.vocabulary


def test_files_of_texts_have_no_default_prompt(prompted):
    with pytest.raises(
        KerasBertError, match="without default prompt for a file that takes texts, received 'the film '"
    ):
        kb.export.convert(prompted, inputs="text")


def test_other_models_have_no_prompts(tiny, texts, tmp_path):
    tiny.narrow().save_pretrained(tmp_path / "m")
    with pytest.raises(
        KerasBertError, match="a sentence encoder for a prompt, received a model of the task type 'single_"
    ):
        kb.open(tmp_path / "m")(texts, prompt="a ")
