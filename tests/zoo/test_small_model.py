"""The BERT that ships with the package: its files, weights and embeddings."""

import json
import subprocess
import sys

import numpy as np
import pytest

from kerasbert.zoo import small_model

FILES = {
    "1_Pooling", "README.md", "config.json", "golden.json", "kerasbert.json", "model.safetensors", "modules.json", "recipe.toml",
    "sentence_bert_config.json", "tokenizer_config.json", "vocab.txt",
}  # fmt: skip


@pytest.fixture(scope="module")
def encoder():
    import kerasbert as kb

    return kb.SentenceEncoder.from_pretrained(small_model(), sequence_length=32)


def test_folder_holds_only_the_model():
    assert {path.name for path in small_model().iterdir()} == FILES
    assert (small_model() / "model.safetensors").stat().st_size <= 8_500_000
    assert sum(path.stat().st_size for path in small_model().rglob("*")) <= 8_700_000


def test_weights_are_finite_float16_of_the_configured_sizes():
    from safetensors.numpy import load_file

    config = json.loads((small_model() / "config.json").read_text("utf-8"))
    tensors = load_file(small_model() / "model.safetensors")
    assert {tensor.dtype for tensor in tensors.values()} == {np.dtype(np.float16)}
    assert all(np.isfinite(tensor).all() for tensor in tensors.values())
    words = (small_model() / "vocab.txt").read_text("utf-8").splitlines()
    assert tensors["embeddings.word_embeddings.weight"].shape == (config["vocab_size"], config["hidden_size"])
    assert len(set(words)) == len(words) == config["vocab_size"]
    assert config["max_position_embeddings"] == 128


@pytest.mark.long
def test_similar_sentences_have_similar_embeddings(encoder):
    vectors = encoder.predict(["he opened the window", "she closed a door", "the king lost the war"])
    assert vectors.shape == (3, 192)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.1


def test_pooler_output_is_similar_to_the_mean_of_the_tokens(encoder):
    packed = encoder.pack(["wake me at six", "it was a dark and stormy night", "turn the music down"], length=16)
    pooled = encoder.encoder(packed).pooled.numpy()
    cosines = (pooled * encoder(packed).numpy()).sum(axis=1) / np.linalg.norm(pooled, axis=1)
    assert cosines.min() > 0.8, "a classifier on the pooler would start from nothing"


def test_vocabulary_has_whole_words_for_the_training_data(encoder):
    from kerasbert.data import assistant

    train = assistant.load("train")
    ids = encoder.tokenizer.encode(list(train.texts), max_length=64).input_ids
    words = sum(len(row) for row in train.tokens)
    assert sum(len(row) - 2 for row in ids) < 1.15 * words
    assert encoder.tokenizer.unk_id not in {token for row in ids for token in row}


def test_importing_the_zoo_does_not_import_tensorflow():
    code = "import sys, kerasbert.zoo as z; assert z.small_model().is_dir(); sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
