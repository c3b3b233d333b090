"""Lowering options are a context of one thread, which layers read at any depth."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from kerasbert.layers.lowering.options import LoweringOptions, lowered, lowering_options

HALF = LoweringOptions(half_range=True)


def test_options_end_with_their_context_also_after_an_error():
    with pytest.raises(ZeroDivisionError), lowered(HALF):
        with lowered(LoweringOptions(rank1_ids=True)):
            assert lowering_options().rank1_ids and not lowering_options().half_range
        assert lowering_options() == HALF
        1 / 0  # noqa: B018
    assert lowering_options() == LoweringOptions()


def test_another_thread_has_options_of_its_own():
    with lowered(HALF), ThreadPoolExecutor(1) as pool:
        assert pool.submit(lowering_options).result() == LoweringOptions() and lowering_options() == HALF
