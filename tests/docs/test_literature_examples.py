"""Examples of talks and tutorials about BERT, each as short as in a notebook, on tiny models.

Further ones have tests of their own: ids to texts (text/test_decoding.py), heads of the user (heads), frozen parts and rates (training,
optimizers), windows of long contexts (processors), quantization, pruning and distillation (compression, training), adapters and weighted
layers (encoders), masks of words, spans and entities (processors/test_pretraining_batches.py), attention, words and loss (plots).
"""

from itertools import pairwise

import numpy as np
import pytest
import tf_keras as keras

import kerasbert as kb
from kerasbert.encoders import BertConfig, BertEncoder
from kerasbert.text import JapaneseTokenizer, WordPiece
from kerasbert.training import sgd, train_only

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def test_vectors_of_a_sentence(tiny):
    task = tiny.narrow()
    a = task.encoder(task.pack(["we saw a film"]), output_hidden_states=True)
    assert a.sequence[:, 0].shape == (1, 8)  # [CLS]
    assert a.pooled.shape == (1, 8) and len(a.hidden_states) == 2
    assert (a[0] == a[2][-1]).numpy().all()


def test_a_new_model_of_longer_rows():
    config = BertConfig(
        vocab_size=40, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, max_position_embeddings=600
    )
    assert BertEncoder(config)(np.ones((1, 600), np.int32)).sequence.shape == (1, 600, 8)


def test_the_five_most_likely_words(tiny):
    masked = kb.MaskedLM(tiny.encoder(), tiny.tokenizer(), sequence_length=16)
    words = masked.predict(["it was a [MASK] film"])[0]["masks"][0]["words"]
    assert len(words) == 5 and words[0]["probability"] >= words[4]["probability"]
    second = masked.predict([("we saw a film", "it was [MASK]")])[0]["masks"][0]
    assert (second["part"], second["start"]) == (1, 7)


def test_a_masked_word_of_japanese(tiny):
    tokenizer = JapaneseTokenizer([*SPECIAL, "私", "は", "犬", "猫", "が", "好き", "。"])
    masked = kb.MaskedLM(tiny.encoder(vocab_size=12), tokenizer, sequence_length=16, top=1)
    assert tokenizer.tokens("私は[MASK]が好き。") == ["私", "は", "[MASK]", "が", "好き", "。"]
    assert masked.predict(["私は[MASK]が好き。"])[0]["masks"][0]["words"][0]["word"] in tokenizer.vocabulary


@pytest.mark.long
def test_nine_classes(tiny):
    classes = list(tiny.vocabulary[11:20])
    texts = [f"{each} {word}" for each in classes for word in ("good", "dull")]
    labels = [text.split()[0] for text in texts]
    task = tiny.classifier(labels=classes, sizes={"num_hidden_layers": 1})
    task.compile(kb.adamw(0.01, warmup=0, decay="constant"))
    task.fit(texts * 60, labels * 60, batch_size=18, verbose=0, seed=0)
    assert task.score(texts, labels)["accuracy"] > 0.9


def test_gradient_descent_with_a_rate_for_each_part(tiny):
    task = tiny.classifier(sizes={"hidden_size": 8, "intermediate_size": 16, "num_attention_heads": 2})
    before = {path: variable.numpy() for path, variable in task.variables_by_path().items()}
    train_only(task, top=1)
    task.compile(sgd(0.01, rates={"layers.-1": 0.02, "pooler": 0, "head": 0.1}), run_eagerly=True)
    task.fit(*tiny.rows(16), verbose=0)
    moved = {path for path, variable in task.variables_by_path().items() if (variable.numpy() != before[path]).any()}
    assert {path.partition(".")[0] for path in moved} == {"encoder", "classifier"}
    assert all(path.startswith(("encoder.layers.1.", "classifier")) for path in moved)


def test_a_checkpoint_every_second_epoch(tiny, tmp_path):
    task = tiny.narrow()
    task.compile(kb.adamw(1e-3), run_eagerly=True)
    save = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda i, _: i % 2 and task.save_pretrained(tmp_path / f"{i + 1}")
    )
    task.fit(*tiny.rows(4), epochs=3, verbose=0, callbacks=[save])
    assert [path.name for path in tmp_path.iterdir()] == ["2"]


def test_questions_in_korean_are_scored_by_characters(tiny):
    tokenizer = WordPiece([*SPECIAL, "서울", "한국", "수도", "##은", "##는", "##의", "##이다", ".", "?"])
    answerer = kb.QuestionAnswerer(
        tiny.encoder(vocab_size=14), tokenizer, sequence_length=32, unit="character", n_best=3
    )
    asked = [("한국의 수도는?", "서울은 한국의 수도이다.")]
    (found,) = answerer.predict(asked)
    assert len(found["best"]) == 3 and asked[0][1][found["start"] : found["end"]] == found["answer"]
    assert answerer.score(asked, [(found["start"], found["answer"])])["F1"] == 1


@pytest.mark.parametrize("vectors", ["cls", "mean"])
def test_vectors_as_features_of_another_classifier(tiny, vectors):
    texts, labels = tiny.rows(24)
    features = kb.layer_vectors(tiny.narrow(), texts, layer=-1, vectors=vectors)
    scores = features @ np.linalg.lstsq(features, np.where(np.array(labels) == "positive", 1.0, -1.0), rcond=None)[0]
    assert scores.shape == (24,) and features.shape == (24, 8)


@pytest.mark.long
def test_vectors_from_sentences_that_follow_each_other(tiny):
    """Quick Thought (Logeswaran & Lee 2018): the next sentence among those of the batch."""
    sentences = kb.SentenceEncoder(tiny.encoder(), tiny.tokenizer(), sequence_length=16)
    sentences.compile(kb.adamw(1e-3))
    losses = sentences.fit(list(pairwise(tiny.rows(25)[0])), batch_size=8, epochs=3, verbose=0, seed=0).history["loss"]
    assert losses[0] < 2 * np.log(8) and losses[-1] < losses[0]
