"""Texts and targets of the shipped model's distillation, without the training itself."""

import random

import numpy as np

from kerasbert.zoo import build_small


def test_speech_is_text_in_quotation_marks():
    paragraph = '"Bring me the lamp," he said. "Is it late? Nobody told me so." The night was very dark.'
    assert list(build_small._speech([paragraph])) == ["Is it late?", "Nobody told me so."]


def test_sentences_with_markup_or_many_words_are_skipped():
    texts = ["This is fine. " + "word " * 30 + ". The @-@ sign is not. Two words. So is this one!"]
    assert list(build_small._sentences(texts)) == ["This is fine.", "So is this one!"]


def test_variants_are_deterministic_and_use_only_known_words():
    variants = [build_small._variants(["a b c", "d e f"], ["x"], 30, random.Random(1)) for _ in range(2)]
    assert variants[0] == variants[1]
    assert {word for text in variants[0] for word in text.split()} == set("abcdefx")
    assert any("x" in text for text in variants[0]) and any(len(text.split()) == 2 for text in variants[0])


def test_principal_directions_preserve_vectors_in_a_plane():
    draw = np.random.default_rng(0)
    plane = draw.normal(size=(2, 6))
    vectors = draw.normal(size=(50, 2)) @ plane
    directions = build_small.principal_directions(vectors, 2)
    np.testing.assert_allclose(directions.T @ directions, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(vectors @ directions @ directions.T, vectors, atol=1e-9)


def test_teacher_vectors_are_cached(tmp_path, monkeypatch):
    import kerasbert as kb

    calls = []

    class Teacher:
        @staticmethod
        def from_pretrained(folder, sequence_length):
            return Teacher()

        def predict(self, texts, batch_size):
            calls.append(len(texts))
            return np.full((len(texts), 4), 0.5, np.float32)

    monkeypatch.setitem(vars(kb), "SentenceEncoder", Teacher)  # setattr would import the real class
    monkeypatch.setattr(build_small, "SHARD", 2)
    first = build_small.teacher_vectors(tmp_path / "teacher", ["a", "b", "c"], tmp_path / "cache")
    again = build_small.teacher_vectors(tmp_path / "teacher", ["a", "b", "d"], tmp_path / "cache")
    assert first.shape == again.shape == (3, 4)
    assert calls == [2, 1, 1], "the shard that both runs share is computed once"
