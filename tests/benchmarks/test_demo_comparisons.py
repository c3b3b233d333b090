"""Comparisons of the demos' programs with Python see every difference."""

import copy
import json

import numpy as np
import pytest

from benchmarks.parity.demo_predictions import Comparison
from benchmarks.parity.demo_search import compare, quantized

ANSWER = {
    "question": "who ?",
    "answer": "she",
    "start": 3,
    "score": 1.5,
    "best": [{"answer": "she", "start": 3, "score": 1.5}, {"answer": "he", "start": 9, "score": 1.25}],
}
MASK = {
    "text": "a [MASK]",
    "masks": [{"start": 2, "words": [{"word": "b", "probability": 0.5}, {"word": "c", "probability": 0.25}]}],
}


def _compare(expected: dict, received: dict) -> Comparison:
    comparison = Comparison()
    comparison.add(copy.deepcopy(expected), json.loads(json.dumps(received)))
    return comparison


def test_equal_records_and_numbers_that_differ():
    comparison = _compare(ANSWER, ANSWER | {"score": 1.625})
    assert (comparison.unequal, comparison.reordered) == (0, 0)
    assert comparison.largest["score"] == 0.125


@pytest.mark.parametrize("change", [{"answer": "he"}, {"start": 4}, {"score": None}, {"score": 1}, {"more": 1}])
def test_another_text_position_type_or_field_is_unequal(change):
    comparison = _compare(ANSWER, ANSWER | change)
    assert (comparison.unequal, comparison.reordered) == (1, 0)
    assert next(iter(change)) in comparison.first


def test_further_answers_and_words_in_another_order_are_counted_apart():
    comparison = _compare(ANSWER, ANSWER | {"best": ANSWER["best"][::-1]})
    assert (comparison.unequal, comparison.reordered) == (0, 1)
    other = copy.deepcopy(MASK)
    other["masks"][0]["words"][1]["word"] = "d"
    comparison = _compare(MASK, other)
    assert (comparison.unequal, comparison.reordered) == (0, 1)
    other["masks"][0]["words"].reverse()
    assert _compare(MASK, other).unequal == 1


def _found(vectors: np.ndarray, query: np.ndarray, top: int) -> list[dict]:
    (values, scales), (query_values, query_scales) = quantized(vectors), quantized(query)
    scores = values.astype(int) @ query_values[0].astype(int) * scales.astype(float)
    best = np.argsort(-scores, kind="stable")[:top]
    return [{"index": int(index), "score": float(np.float32(scores[index] * query_scales[0]))} for index in best]


def test_a_search_with_the_same_results_another_order_and_another_sentence():
    draw = np.random.default_rng(0)
    vectors, query = draw.normal(size=(50, 8)).astype(np.float32), draw.normal(size=(1, 8)).astype(np.float32)
    results = _found(vectors, query, 10)
    same = compare([{"results": results}], vectors, query)
    assert (same["same_as_int8"], same["same_sentences"], same["margin"]) == (1, 1, 0.0)
    swapped = compare([{"results": [results[1], results[0], *results[2:]]}], vectors, query)
    assert (swapped["same_as_int8"], swapped["same_sentences"]) == (0, 1)
    eleventh = _found(vectors, query, 11)[-1]
    other = compare([{"results": [*results[:9], eleventh]}], vectors, query)
    assert (other["same_as_int8"], other["same_sentences"]) == (0, 0)
    assert other["margin"] == pytest.approx(results[-1]["score"] - eleventh["score"], abs=1e-6)
