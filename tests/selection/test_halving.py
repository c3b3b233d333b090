"""Successive halving: how many candidates are trained on how many rows, and in which order they are kept."""

from kerasbert.selection.halving import by_cost, by_score, halve, rounds


def test_rounds_grow_by_three_until_all_rows():
    assert rounds(9000, 300, 12, 2) == [1000, 3000, None]
    assert rounds(9000, 300, 3, 2) == [3000, None]
    assert rounds(9000, 300, 2, 2) == [None]  # both are finalists
    assert rounds(500, 300, 12, 2) == [None]  # a third of the rows would say little


def test_the_best_third_goes_on_and_the_best_one_wins():
    trained = []

    def scores(candidates, rows):
        trained.extend((each, rows) for each in candidates)
        return [(each, each / 100) for each in candidates]

    kept = halve(range(9), [100, 300, None], 2, scores, by_score)
    assert kept == [8, 7]
    assert [sum(rows == each for _, rows in trained) for each in (100, 300, None)] == [9, 3, 2]


def test_a_candidate_that_improves_with_more_rows_can_win():
    scores = {("slow", 100): 0.6, ("fast", 100): 0.7, ("slow", None): 0.9, ("fast", None): 0.8}
    found = lambda candidates, rows: [(each, scores[each, rows]) for each in candidates]  # noqa: E731
    assert halve(["slow", "fast"], [100, None], 2, found, by_score)[0] == "slow"


def test_a_candidate_without_a_score_does_not_go_on():
    scores = lambda candidates, rows: [(each, each / 100) for each in candidates if (each, rows) != (5, None)]  # noqa: E731
    assert halve([3, 4, 5], [100, None], 2, scores, by_score) == [4]


def test_the_cheapest_that_keep_enough_stand_first():
    scored = [("large", 0.9), ("medium", 0.86), ("small", 0.85), ("tiny", 0.5), ("bad", 0.6)]
    costs = {"large": 4.0, "medium": 3.0, "small": 2.0, "tiny": 1.0, "bad": 5.0}
    order = by_cost(scored, costs.__getitem__, lambda score, best: score >= 0.9 * best)
    assert order == ["small", "medium", "large", "bad", "tiny"]
    assert by_score([("first", 0.5), ("second", 0.5)]) == ["first", "second"]
