"""SQuAD's exact match and F1."""

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.processors.squad_scores import best_threshold, exact_match, f1, squad_scores, units


@pytest.mark.parametrize(
    ("right", "found", "same"),
    [
        ("The Film.", "film", True),
        ("a  warm   song", "Warm, song!", True),
        ("theatre", "atre", False),  # articles are whole words only
        ("co-op", "coop", True),  # punctuation goes without leaving a space, as in the official script
        ("“film”", "film", False),  # of punctuation only ASCII
        ("an end", "the end", True),
    ],
)
def test_case_punctuation_and_articles_are_ignored(right, found, same):
    assert exact_match([right], found) == float(same)


def test_f1_counts_each_word_as_often_as_it_occurs():
    assert f1(["so very very good"], "very very very") == pytest.approx(2 * 2 / (4 + 3))
    assert f1(["good film"], "bad book") == 0.0
    assert f1(["good film"], "film good") == 1.0


def test_the_best_of_several_answers_counts():
    assert exact_match(["good", "good film"], "the good film") == 1.0
    assert f1(["book", "good film"], "good") == pytest.approx(2 / 3)


def test_an_empty_answer_is_right_for_a_question_without_answer():
    assert (f1([], ""), f1([], "film"), exact_match([], ""), exact_match([], "film")) == (1.0, 0.0, 1.0, 0.0)
    assert f1(["film"], "") == 0.0
    assert exact_match(["the"], "") == 1.0  # a right answer of articles alone is none


def test_metrics_are_means_over_all_questions():
    scores = squad_scores([["film"], ["good book", "book"]], ["film", "good"])
    assert scores == {"F1": pytest.approx((1 + 2 / 3) / 2), "exact match": 0.5}
    assert list(scores) == ["F1", "exact match"]


def test_questions_without_answers_have_metrics_of_their_own():
    scores = squad_scores([["film"], [], [], ["good book"]], ["film", "", "so", "good"])
    assert scores == pytest.approx(
        {
            "F1": (1 + 1 + 0 + 2 / 3) / 4,
            "exact match": 2 / 4,
            "no-answer accuracy": 1 / 2,
            "answerable F1": (1 + 2 / 3) / 2,
            "answerable exact match": 1 / 2,
        }
    )
    assert squad_scores([[]], [""]) == {"F1": 1.0, "exact match": 1.0, "no-answer accuracy": 1.0}


def test_characters_for_languages_without_spaces():
    assert units("「東京 Ｔower」、", "character") == ["東", "京", "ｔ", "o", "w", "e", "r"]
    assert f1(["東京都"], "東京") == 0.0
    assert f1(["東京都"], "東京", "character") == pytest.approx(4 / 5)
    assert exact_match(["서울 시"], "서울시", "character") == 1.0
    with pytest.raises(KerasBertError, match="word or character.*'token'"):
        units("film", "token")


def test_the_best_threshold_has_the_highest_f1():
    right, found = [["film"], ["book"], [], []], ["film", "book", "so", "it"]
    assert best_threshold(right, found, [-3.0, 1.0, 0.5, 2.0]) == (-3.0, 0.75)
    assert best_threshold(right, found, [-3.0, 0.0, 0.5, 2.0]) == (0.0, 1.0)


def test_equal_margins_are_answered_together():
    assert best_threshold([["film"], [], []], ["film", "so", "it"], [1.0, 1.0, 1.0])[1] == pytest.approx(2 / 3)
    threshold, score = best_threshold([[], []], ["so", "it"], [1.0, 2.0])
    assert threshold < 1.0 and score == 1.0


def test_metrics_need_a_question():
    with pytest.raises(KerasBertError, match="received none"):
        squad_scores([], [])


# Question: the right answers, the best answer, the margin of no answer over it; and, by hand, F1 with that answer and without one.
COUNTED = (
    (["film"], "film", -4.0, 1.0, 0.0),
    ([], "so", -3.0, 0.0, 1.0),
    (["a good film"], "film", -2.0, 2 / 3, 0.0),
    (["book"], "book", 0.5, 1.0, 0.0),
    ([], "end", 1.0, 0.0, 1.0),
    (["song"], "book", 2.0, 0.0, 0.0),
)


def test_the_best_threshold_is_that_of_squad_2():
    """SQuAD 2.0's evaluation counts up from no answer at all (2 of 6 right), in the order of the margins: `best_f1_thresh`.

    After each question: 2 + 1 = 3; 3 - 1 = 2; 2 + 2/3 = 2.67; 2.67 + 1 = 3.67, the best; 3.67 - 1 = 2.67; 2.67 + 0 = 2.67.
    """
    right, answers, margins, answered, unanswered = zip(*COUNTED, strict=True)
    assert [f1(*pair) for pair in zip(right, answers, strict=True)] == pytest.approx(answered)
    threshold, best = best_threshold(right, answers, margins)
    assert (threshold, best) == (0.5, pytest.approx((3 + 2 / 3) / 6))
    for other in margins:
        chosen = [a if margin <= other else n for a, n, margin in zip(answered, unanswered, margins, strict=True)]
        assert sum(chosen) / 6 <= best + 1e-12
