"""Rows of two texts for students: kinds of second texts, their cosines, joint tokens, and the loss."""

import numpy as np
import pytest
import tensorflow as tf

from kerasbert.errors import KerasBertError
from kerasbert.text import WordPiece
from kerasbert.zoo.building import pairs
from kerasbert.zoo.building.pairs import SINGLE, JointEmbedding, alter, make_rows, single_rows
from kerasbert.zoo.building.students import EACH_NUMBER, POOLED_SCALE, VectorLoss, mean_cosine, pair_error

WORDS = "a b c d e f g h".split()


def unit(count: int, width: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def encode(texts):
    return unit(len(texts), 4, 9)


def test_share_of_texts_gets_a_second_one_with_the_cosine_of_both(monkeypatch):
    monkeypatch.setattr(pairs, "KINDS", (0.5, 0.5, 0.0))
    texts, vectors = [f"text {number}" for number in range(400)], unit(400, 4, 1)
    examples, cosines = make_rows(texts, vectors, 0.5, 3, encode)
    paired = [row for row, example in enumerate(examples) if isinstance(example, tuple)]
    assert 150 < len(paired) < 250
    assert all(cosines[row] == SINGLE and examples[row] == texts[row] for row in set(range(400)) - set(paired))
    first = 0
    for row in paired:
        both = [texts.index(text) for text in examples[row]]
        assert row in both
        first += both[0] == row
        assert cosines[row] == pytest.approx(vectors[both[0]] @ vectors[both[1]], abs=1e-5)
    assert 0.3 < first / len(paired) < 0.7, "either text comes first"


def test_similar_texts_are_among_the_nearest_of_their_block(monkeypatch):
    monkeypatch.setattr(pairs, "KINDS", (1.0, 0.0, 0.0))
    monkeypatch.setattr(pairs, "BLOCK", 50)
    monkeypatch.setattr(pairs, "SLICE", 16)
    texts, vectors = [str(number) for number in range(100)], unit(100, 4, 1)
    examples, _ = make_rows(texts, vectors, 1.0, 3, encode)
    for row, example in enumerate(examples):
        other = next((int(text) for text in example if int(text) != row), None)
        block = range(0, 50) if row < 50 else range(50, 100)
        best = sorted((each for each in block if each != row), key=lambda each: -(vectors[each] @ vectors[row]))
        assert other in best[: pairs.NEAREST]


def test_altered_texts_are_encoded_again(monkeypatch):
    monkeypatch.setattr(pairs, "KINDS", (0.0, 0.0, 1.0))
    monkeypatch.setattr(pairs, "MOST_EDITS", 0.9)
    texts, vectors = ["a b c d e f g h", "i j k l m n o p"], unit(2, 4, 1)
    seen = []
    examples, cosines = make_rows(texts, vectors, 1.0, 5, lambda batch: seen.extend(batch) or encode(batch))
    assert [set(example) - {texts[row]} for row, example in enumerate(examples)] == [{text} for text in seen]
    np.testing.assert_allclose(cosines, (vectors * encode(seen)).sum(axis=1), rtol=1e-5)


def test_altered_text_has_words_of_both_and_is_never_empty():
    generator = np.random.default_rng(0)
    changed = [alter("a b c d", "x y", generator).split() for _ in range(200)]
    assert all(0 < len(words) <= 4 and set(words) <= set("abcdxy") for words in changed)
    assert any("x" in words or "y" in words for words in changed)
    assert any(words == list("abcd") for words in changed) and any(len(words) < 4 for words in changed)
    assert any(words[0] != "a" and words[-1] == "a" for words in changed), "some begin in the middle"


def test_a_single_text_has_no_similar_one():
    examples, cosines = make_rows(["a b"], unit(1, 4, 1), 1.0, 1, lambda batch: unit(len(batch), 4, 2))
    assert examples[0][0].split() and cosines[0] <= 1.0001


def test_texts_and_pairs_share_a_batch():
    tokenizer = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])
    features = JointEmbedding(width=2).features(["a b", ("c", "d e"), "f"], tokenizer, 16)
    a = 5
    assert [list(ids) for ids in features.token_lists.input_ids] == [
        [2, a, a + 1, 3], [2, a + 2, 3, a + 3, a + 4, 3], [2, a + 5, 3]
    ]  # fmt: skip
    assert [list(types) for types in features.token_lists.token_type_ids] == [[0] * 4, [0, 0, 0, 1, 1, 1], [0] * 3]
    assert features.group == 1 and list(features.example) == [0, 1, 2]


def test_labels_of_another_width_have_cosines_alone():
    processor = JointEmbedding(width=4)
    wide, found = single_rows(unit(6, 9, 1)), [{"embedding": each[None]} for each in unit(6, 4, 2)]
    assert processor.encode_labels(wide, list("abcdef"), None).shape == (6, 10)  # type: ignore[arg-type]
    scores = processor.metrics(wide, list("abcdef"), None, found)  # type: ignore[arg-type]
    assert scores.keys() == {"correlation"}
    same = processor.metrics(single_rows(unit(6, 4, 1)), list("abcdef"), None, found)  # type: ignore[arg-type]
    assert same.keys() == {"correlation", "cosine"}
    with pytest.raises(KerasBertError, match=r"shape \(rows, width \+ 1\), received \(4,\)"):
        processor.encode_labels(np.zeros(4), list("abcd"), None)  # type: ignore[arg-type]


def test_loss_of_singles_and_pairs_matches_the_formula():
    width, vectors = 4, unit(3, 4, 1)
    labels = single_rows(vectors)
    labels[1, -1] = 0.3
    draw = np.random.default_rng(2)
    mean, pooled = unit(3, 4, 3), draw.normal(size=(3, width)).astype(np.float32)
    found = (
        VectorLoss(0.5, 2.0, pairs=7.0).call(tf.constant(labels), tf.constant(np.stack([mean, pooled], axis=1))).numpy()
    )
    scale, singles = POOLED_SCALE * width**0.5, [0, 2]
    for row in singles:
        differences = [(mean[row] @ mean[each] - vectors[row] @ vectors[each]) ** 2 for each in singles]
        error = ((pooled[row] / scale - vectors[row]) ** 2).sum()
        assert found[row] == pytest.approx(
            1 - mean[row] @ vectors[row] + 0.5 * error + 2.0 * np.mean(differences), rel=1e-4
        )
    each = ((pooled[1] - 0.3) ** 2).mean()
    assert found[1] == pytest.approx(7.0 * ((pooled[1].mean() - 0.3) ** 2 + EACH_NUMBER * each), rel=1e-4)


def test_metrics_of_singles_and_pairs():
    labels = single_rows(unit(2, 4, 1))
    labels[1, -1] = 0.25
    output = np.stack([unit(2, 4, 1), np.full((2, 4), 0.75, np.float32)], axis=1)
    np.testing.assert_allclose(pair_error(labels, output), [0.0, 0.5], atol=1e-6)
    np.testing.assert_allclose(mean_cosine(labels, output), [1.0, 1.0], atol=1e-5)
