"""How the shipped model's texts and targets are made; the training itself is not repeated here."""

import random

import numpy as np

from kerasbert.zoo import build_small


def test_speech_is_what_stands_in_quotation_marks():
    paragraph = '"Bring me the lamp," he said. "Is it late? Nobody told me so." The night was very dark.'
    assert list(build_small._speech([paragraph])) == ["Is it late?", "Nobody told me so."]


def test_sentences_of_markup_or_of_many_words_are_left_out():
    texts = ["This is fine. " + "word " * 30 + ". The @-@ sign is not. Two words. So is this one!"]
    assert list(build_small._sentences(texts)) == ["This is fine.", "So is this one!"]


def test_variants_are_made_of_the_texts_and_the_words_alone_and_the_same_each_time():
    made = [build_small._variants(["a b c", "d e f"], ["x"], 30, random.Random(1)) for _ in range(2)]
    assert made[0] == made[1]
    assert {word for text in made[0] for word in text.split()} == set("abcdefx")
    assert any("x" in text for text in made[0]) and any(len(text.split()) == 2 for text in made[0])


def test_principal_directions_keep_a_plane_that_the_vectors_lie_in():
    draw = np.random.default_rng(0)
    plane = draw.normal(size=(2, 6))
    vectors = draw.normal(size=(50, 2)) @ plane
    directions = build_small.principal_directions(vectors, 2)
    np.testing.assert_allclose(directions.T @ directions, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(vectors @ directions @ directions.T, vectors, atol=1e-9)


def test_teacher_vectors_are_read_from_the_cache_the_second_time(tmp_path, monkeypatch):
    import kerasbert as kb

    calls = []

    class Teacher:
        @staticmethod
        def from_pretrained(folder, sequence_length):
            return Teacher()

        def predict(self, texts, batch_size):
            calls.append(len(texts))
            return np.full((len(texts), 4), 0.5, np.float32)

    monkeypatch.setitem(vars(kb), "SentenceEncoder", Teacher)  # not setattr: it would look up the real one
    monkeypatch.setattr(build_small, "SHARD", 2)
    first = build_small.teacher_vectors(tmp_path / "teacher", ["a", "b", "c"], tmp_path / "cache")
    again = build_small.teacher_vectors(tmp_path / "teacher", ["a", "b", "d"], tmp_path / "cache")
    assert first.shape == again.shape == (3, 4)
    assert calls == [2, 1, 1], "the shard that both runs share is computed once"
