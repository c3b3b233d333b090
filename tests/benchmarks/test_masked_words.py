"""The masks and the scores of the measurements of masked words and of `sentiment`."""

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.training import masked_words
from benchmarks.zoo import sentiment_reviews

ARGUMENTS = SimpleNamespace(seed=1, sentences=5)


def test_a_mask_hides_a_word_of_the_vocabulary_that_is_not_the_first():
    sentences = ["Warm soup, 20 warm plates", "Nothing here", "warm"]
    found = masked_words._masked(sentences, {"warm", "plates"}, "[MASK]", ARGUMENTS)
    assert [(text.replace("[MASK]", word), word) for text, word in found] in (
        [("Warm soup, 20 warm plates", "warm")],
        [("Warm soup, 20 warm plates", "plates")],
    )
    assert found[0][0].startswith("Warm soup, 20 ")


def test_scores_count_the_first_and_all_listed_words():
    lists = [["the", "a"], ["cat", "house"], ["dog", "house"]]
    scores = masked_words._scores(lists, ["the", "house", "tree"])
    assert scores["all words"] == {"first": pytest.approx(1 / 3), "among five": pytest.approx(2 / 3)}
    assert scores["four letters or more"] == {"first": 0.0, "among five": 0.5}


def test_lines_without_a_label_are_left_out(tmp_path):
    path = tmp_path / "reviews.txt"
    path.write_text("Good case.\t1\nNo label.\t\nNo tab\nToo slow  \t0\n", "utf-8")
    texts, truth = sentiment_reviews._reviews(path)
    assert (texts, truth.tolist()) == (["Good case.", "Too slow"], [1, 0])


def test_decided_texts_are_those_from_the_threshold():
    right, scores = np.array([True, False, True, True]), np.array([0.9, 0.6, 0.8, 0.7])
    assert sentiment_reviews._decided(right, scores >= 0.7) == {"share": 0.75, "accuracy": 1.0}
