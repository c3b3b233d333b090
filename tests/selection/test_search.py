"""The search with files that are not made: what is probed, trained and chosen."""

from dataclasses import dataclass, field

import pytest

from kerasbert.console.progress import Progress
from kerasbert.errors import KerasBertError
from kerasbert.selection import report
from kerasbert.selection.budget import Budget, Cost
from kerasbert.selection.candidate import Candidate
from kerasbert.selection.search import Space, search

LAYERS = {"large": 6, "small": 4}
RECIPE = "dynamic_wi8_afp32"


@dataclass
class Fake:
    """Costs grow with layers, scores with layers and rows; the rate 1 is the best."""

    probed: list = field(default_factory=list)
    trained: list = field(default_factory=list)
    penalty: float = 0.0

    def cost(self, candidate):
        self.probed.append(candidate)
        return self._cost(candidate)

    def _cost(self, candidate):
        layers = candidate.layers or LAYERS[candidate.model]
        width = 2 if candidate.model == "large" else 1
        part = 0.8 if candidate.feed_forward else 1.0
        table = 1e6 if candidate.vocabulary else 4e6
        return Cost(1e-3 * layers * width * part, int(width * table + 1e6 * layers * width * part))

    def scores(self, candidates, rows):
        for each in candidates:
            self.trained.append((each, rows))
            yield each, self._score(each) - (0.1 if rows else 0.0)

    def _score(self, candidate):
        layers = candidate.layers or LAYERS[candidate.model]
        narrow = 0.03 if candidate.feed_forward else 0.0
        return (
            0.6 + 0.05 * layers + (0.02 if candidate.model == "large" else 0) - 0.1 * abs(candidate.rate - 1) - narrow
        )

    def finals(self, candidates):
        return {each: (self._cost(each), self._score(each) - self.penalty) for each in candidates}


def find(budget, rows=9000, trials=12, **fake):
    workshop = Fake(**fake)
    return search(Space(LAYERS, [RECIPE], rows, trials), Budget.parse(budget), workshop, Progress()), workshop


def test_the_best_score_within_the_budget_is_chosen():
    outcome, workshop = find("8.1 ms")
    assert outcome.chosen == Candidate(
        "large", layers=4
    )  # 8 ms; six layers need 12, and without half of the neurons 9.6
    assert outcome.trials[0].candidate == outcome.chosen and outcome.trials[0].file_score == pytest.approx(0.82)
    assert Candidate("large") in outcome.probes and all(each != Candidate("large") for each, _ in workshop.trained)
    assert Candidate("small", layers=2) not in outcome.probes  # the whole encoder is within the budget


def test_no_candidate_over_the_budget_is_trained():
    _, workshop = find("4.5 ms, 7 MB")
    assert workshop.trained
    for candidate, _ in workshop.trained:
        cost = workshop._cost(candidate)
        assert cost.seconds <= 4.5e-3 and cost.bytes <= 7e6


def test_a_file_that_is_too_large_gets_a_vocabulary_of_its_own():
    outcome, _ = find("100 ms, 5.5 MB")
    assert (
        outcome.chosen is not None
        and outcome.chosen.vocabulary
        and outcome.chosen == Candidate("small", vocabulary=True)
    )


def test_the_fastest_file_is_chosen_where_only_the_loss_is_limited():
    outcome, _ = find("-8 %", trials=30)
    assert outcome.chosen == Candidate("large", feed_forward=0.5)  # 0.89; four layers have 0.82, and 0.92 is the best
    best = max(each.file_score for each in outcome.trials if each.file_score is not None)
    chosen = outcome.trials[0]
    assert chosen.file_score >= 0.92 * best
    faster = [each for each in outcome.trials if each.cost and each.cost.seconds < chosen.cost.seconds]
    assert all(each.file_score < 0.92 * best for each in faster)


def test_few_trials_try_every_encoder():
    _, workshop = find("-8 %", trials=2)
    assert {candidate.model for candidate, _ in workshop.trained} == set(LAYERS)


def test_a_budget_that_no_structure_meets_names_the_nearest_and_trains_nothing():
    workshop = Fake()
    with pytest.raises(KerasBertError, match="the nearest is small, 1 layer") as error:
        search(Space(LAYERS, [RECIPE], 9000, 12), Budget.parse("0.5 ms"), workshop, Progress())
    assert "1 ms" in str(error.value) and not workshop.trained


def test_a_loss_that_no_file_keeps_within_the_time_has_no_choice():
    outcome, _ = find("2.5 ms, -1 %")
    assert outcome.chosen is None and "the nearest is" in outcome.reason
    assert any(each.candidate == Candidate("large") for each in outcome.trials)  # what the loss is measured against


@dataclass
class Refusing(Fake):
    """Some candidates cannot be made."""

    refused: tuple = ()

    def cost(self, candidate):
        if candidate.feed_forward or candidate.model in self.refused:
            raise KerasBertError(f"expected a transformer to cut, received {candidate.model}")
        return super().cost(candidate)


def test_what_cannot_be_made_is_left_out(capsys):
    outcome = search(Space(LAYERS, [RECIPE], 9000, 12), Budget.parse("8.1 ms"), Refusing(), Progress())
    assert outcome.chosen == Candidate("large", layers=4) and not any(each.feed_forward for each in outcome.probes)
    assert "large, 50% of neurons removed: left out: expected a transformer" in capsys.readouterr().out
    other = search(Space(LAYERS, [RECIPE], 9000, 12), Budget.parse("8.1 ms"), Refusing(refused=("large",)), Progress())
    assert other.chosen is not None and other.chosen.model == "small"
    with pytest.raises(KerasBertError, match="received large"):
        search(Space(LAYERS, [RECIPE], 9000, 12), Budget.parse("8 ms"), Refusing(refused=tuple(LAYERS)), Progress())


@dataclass
class Failing(Fake):
    """The training of some candidates on some numbers of rows fails."""

    fails: frozenset = frozenset()

    def scores(self, candidates, rows):
        for each, score in super().scores(candidates, rows):
            failed = (str(each), rows) in self.fails
            yield each, KerasBertError(f"expected exit code 0, received 1 for {each}") if failed else score


def test_what_cannot_be_trained_is_left_out(capsys):
    budget, space = Budget.parse("8.1 ms"), Space(LAYERS, [RECIPE], 9000, 9)
    workshop = Failing(fails=frozenset({("large, 4 layers", 3000)}))
    outcome = search(space, budget, workshop, Progress())
    assert outcome.chosen == Candidate("small")  # the best one has failed
    assert all(str(each.candidate) != "large, 4 layers" for each in outcome.trials)
    assert "large, 4 layers: left out: expected exit code 0" in capsys.readouterr().out
    late = search(space, budget, Failing(fails=frozenset({("large, 4 layers", None)})), Progress())
    assert late.chosen == Candidate("small") and [each.scores.keys() for each in late.trials[:2]] == [{3000, 0}, {3000}]
    every = frozenset((str(each), 3000) for each, _ in workshop.trained)
    with pytest.raises(KerasBertError, match="received 1 for large, 4 layers"):
        search(space, budget, Failing(fails=every), Progress())


def test_a_loss_against_an_encoder_that_cannot_be_trained_is_an_error():
    workshop = Failing(fails=frozenset({("large", 3000), ("large", None)}))
    with pytest.raises(KerasBertError, match="received 1 for large$"):
        search(Space(LAYERS, [RECIPE], 9000, 12), Budget.parse("-8 %"), workshop, Progress())


def test_rates_are_tried_and_each_round_keeps_a_third():
    outcome, workshop = find("8.1 ms", rows=9000, trials=9)
    assert {each.rate for each, _ in workshop.trained} == {1.0, 0.5, 2.0}
    counts = [sum(rows == each for _, rows in workshop.trained) for each in (1000, 3000, None)]
    assert counts == [0, 6, 2]  # a round before would leave two candidates too


def test_the_outcome_is_shown_as_text_json_and_a_page(tmp_path):
    outcome, _ = find("8.1 ms")
    budget = Budget.parse("8.1 ms")
    text = "\n".join(str(block) for block in report.blocks(outcome, budget, "accuracy"))
    assert "* large, 4 layers" in text and "8.1 ms" in text
    commands = lambda candidate: [["train", "--model", candidate.model, "--train", "my data.csv"]]  # noqa: E731
    found = report.as_dict(outcome, budget, "accuracy", commands)
    assert found["chosen"] == "large, 4 layers"
    assert found["trials"][0]["commands"] == ["kerasbert train --model large --train 'my data.csv'"]
    page = report.write_page(tmp_path / "page.html", outcome, budget, "accuracy", "train.csv", commands, {})
    html = page.read_text("utf-8")
    assert "large, 4 layers" in html and "kerasbert train --model large" in html and "<svg" in html
