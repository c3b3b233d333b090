"""Budgets as text, and what they say of a file."""

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.selection.budget import Budget, Cost


def test_a_budget_has_limits_of_three_kinds():
    budget = Budget.parse("2 ms, 8 MB, -1 %")
    assert (budget.seconds, budget.bytes, budget.loss) == (0.002, 8e6, 0.01)
    assert Budget.parse(" 500us ") == Budget(seconds=5e-4) and Budget.parse("0.5 ms") == Budget(seconds=5e-4)
    assert Budget.parse("1 %") == Budget(loss=0.01) and Budget.parse("900 kB").bytes == 9e5
    assert str(budget) == "2 ms, 8 MB, -1 %" and Budget.parse(str(budget)) == budget
    assert budget.limits_cost and not Budget(loss=0.1).limits_cost


@pytest.mark.parametrize(
    ("text", "named"),
    [("", "''"), ("2", "'2'"), ("2 ms 8 MB", "'2 ms 8 MB'"), ("fast", "'fast'"), ("0 ms", "'0 ms'"), ("-2 ms", "'-2 ms'"),
     ("-100 %", "'-100 %'"), ("2 ms, 1 s", "once")],
)  # fmt: skip
def test_a_text_that_is_no_budget_is_refused(text, named):
    with pytest.raises(KerasBertError, match="expected") as error:
        Budget.parse(text)
    assert named in str(error.value)


def test_the_limit_that_is_exceeded_most_counts():
    budget = Budget.parse("2 ms, 8 MB")
    assert budget.excess(Cost(0.001, 8_000_000)) == 1.0
    assert budget.excess(Cost(0.003, 16_000_000)) == 2.0
    assert Budget(loss=0.01).excess(Cost(9.0, 10**9)) == 0.0


def test_a_loss_is_a_share_of_the_best_score():
    budget = Budget(loss=0.01)
    assert budget.keeps(0.891, 0.9) and not budget.keeps(0.89, 0.9)
    assert Budget(seconds=1.0).keeps(0.1, 0.9)


def test_the_best_score_is_kept_where_it_is_negative():
    budget = Budget(loss=0.01)  # a correlation, such as that of regression, may be
    assert budget.keeps(-0.5, -0.5) and budget.keeps(-0.505, -0.5) and not budget.keeps(-0.51, -0.5)
    assert budget.keeps(0.0, 0.0) and not budget.keeps(-0.01, 0.0)
