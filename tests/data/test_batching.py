import numpy as np
import pytest

from kerasbert.data.batching import WINDOW, LengthBatches, padded_length

LENGTHS = np.random.default_rng(0).integers(3, 60, 500)


def test_unshuffled_batches_start_with_the_longest_and_order_maps_back():
    batches = LengthBatches(LENGTHS, 32)
    rows = np.concatenate(list(batches))
    np.testing.assert_array_equal(rows, batches.order)
    assert sorted(rows) == list(range(500))
    assert (np.diff(LENGTHS[rows]) <= 0).all()
    assert len(batches) == len(list(batches)) == 16


def test_equal_lengths_keep_their_order():
    assert list(LengthBatches(np.array([5, 5, 9, 5]), 4).order) == [2, 0, 1, 3]


def test_a_shuffled_epoch_is_a_permutation_and_differs_from_the_next():
    batches = LengthBatches(LENGTHS, 32, shuffle=True, seed=1)
    first, second = np.concatenate(list(batches)), np.concatenate(list(batches))
    assert sorted(first) == sorted(second) == list(range(500))
    assert (first != second).mean() > 0.5
    assert len(list(batches)) == len(batches)


def test_a_seed_fixes_every_epoch():
    one, same, other = (LengthBatches(LENGTHS, 32, shuffle=True, seed=seed) for seed in (4, 4, 5))
    for _ in range(2):
        a, b, c = (np.concatenate(list(batches)) for batches in (one, same, other))
        np.testing.assert_array_equal(a, b)
        assert (a != c).any()


def test_a_shuffled_batch_has_similar_lengths():
    spread = [np.ptp(LENGTHS[batch]) for batch in LengthBatches(LENGTHS, 32, shuffle=True)]
    assert np.mean(spread) < 0.2 * np.ptp(LENGTHS)


def test_shuffled_batches_are_not_sorted_by_length():
    means = [LENGTHS[batch].mean() for batch in LengthBatches(LENGTHS, 16, shuffle=True, seed=2)]
    assert (np.diff(means) > 0).any() and (np.diff(means) < 0).any()


def test_windows_keep_every_sequence():
    lengths = np.random.default_rng(0).integers(3, 9, 2 * WINDOW + 7)
    batches = LengthBatches(lengths, 2, shuffle=True)
    assert sorted(np.concatenate(list(batches))) == list(range(len(lengths)))
    assert len(list(batches)) == len(batches)


@pytest.mark.parametrize(
    ("longest", "limit", "few", "padded"),
    [
        (1, 64, True, 8), (8, 64, True, 8), (9, 64, True, 16), (61, 62, True, 62), (0, 64, True, 8),
        (0, 64, False, 2), (9, 64, False, 10), (32, 64, False, 32), (33, 64, False, 40), (70, 64, False, 64), (9, 9, False, 9),
    ],
)  # fmt: skip
def test_padded_length(longest, limit, few, padded):
    assert padded_length(longest, limit, few=few) == padded


def test_batches_of_topics_are_of_one_topic_and_similar_length():
    topics = np.stack([np.arange(500) % 5, np.arange(500) // 100])
    batches = LengthBatches(LENGTHS, 20, shuffle=True, seed=1, topics=topics)
    for order in (0, 1, 0):  # epochs take the orders in turn
        epoch = list(batches)
        assert sorted(np.concatenate(epoch)) == list(range(500)) and len(epoch) == len(batches)
        assert all(len(set(topics[order][batch])) == 1 for batch in epoch)  # each topic has five batches
        assert np.mean([np.ptp(LENGTHS[batch]) for batch in epoch]) < 0.3 * np.ptp(LENGTHS)
    uneven = LengthBatches(LENGTHS, 32, shuffle=True, topics=topics[:1])
    assert sorted(np.concatenate(list(uneven))) == list(range(500))
    skipped = LengthBatches(LENGTHS, 20, shuffle=True, seed=1, start=(1, 3), topics=topics)
    again = LengthBatches(LENGTHS, 20, shuffle=True, seed=1, topics=topics)
    list(again)
    np.testing.assert_array_equal(np.concatenate(list(skipped)), np.concatenate(list(again)[3:]))
