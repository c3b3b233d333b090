"""Splitting off a dev set from the training data."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np

from kerasbert.arguments import argument
from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError

DatasetT = TypeVar("DatasetT", bound=Dataset)


def parse_fraction(text: str) -> float | None:
    """Return the fraction that a text such as `0.1` denotes, or None for any other text, such as a file name."""
    try:
        fraction = float(text)
    except ValueError:
        return None
    return fraction if 0 < fraction < 1 else None


def split(table: DatasetT, fraction: float, seed: int, stratify: bool = False) -> tuple[DatasetT, DatasetT]:
    """Split a table in a training set and a dev set. The same seed and file give the same split.

    Equal texts stay together, and so do questions about one context. More equal texts than the dev set has rows stay in the training set.

    Args:
        table: The labelled examples.
        fraction: The fraction of the examples that become the dev set.
        seed: Random seed of the split.
        stratify: Give the dev set the same fraction of the examples of each label.

    Returns:
        The training set and the dev set.

    Raises:
        KerasBertError: When one of the two would be empty.
    """
    groups, labels = table.groups(), table.y
    strata = [""] * len(groups) if labels is None or not stratify else [labels[rows[0]] for rows in groups]
    dev_size = round(fraction * len(table))
    if len(groups) < 2 or not 0 < dev_size < len(table):
        raise KerasBertError(
            f"{table.path}: expected enough rows to split off {fraction:g} of them, received {len(groups):,} that may be separated; "
            f"name a file as {argument('dev')}"
        )
    weights = list(map(len, groups))
    dev_groups = _sample(strata, weights, dev_size, np.random.default_rng(seed), keep_one=stratify)
    dev_groups = dev_groups or {weights.index(min(weights))}
    train: list[int] = []
    dev: list[int] = []
    for number, rows in enumerate(groups):
        (dev if number in dev_groups else train).extend(rows)
    return table.select(sorted(train)), table.select(sorted(dev))


def _sample(
    strata: Sequence[Hashable], weights: Sequence[int], size: int, random: np.random.Generator, keep_one: bool
) -> set[int]:
    """Draw indices of a total weight of at most `size`, from each stratum in proportion to its weight, rounded by largest remainders.

    With `keep_one`, rounding never takes the last index of a stratum. An index that is heavier than the rest of its stratum's part is left.
    """
    members: dict[Hashable, list[int]] = defaultdict(list)
    for number, stratum in enumerate(strata):
        members[stratum].append(number)
    totals = np.array([sum(weights[number] for number in numbers) for numbers in members.values()])
    exact = totals * size / sum(weights)
    counts = np.floor(exact).astype(int)
    # A random order breaks ties between equal remainders.
    order = random.permutation(len(exact))
    largest = order[np.argsort(-(exact - counts)[order], kind="stable")]
    if keep_one:
        largest = largest[(counts + 1 < totals)[largest]]
    counts[largest[: size - counts.sum()]] += 1
    drawn: set[int] = set()
    for numbers, count in zip(members.values(), counts.tolist(), strict=True):
        for number in random.permutation(numbers).tolist():
            if weights[number] <= count:
                drawn.add(number)
                count -= weights[number]
    return drawn
