"""The lists a system would show: the best candidates, ties in one seeded order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frostline import lists
from frostline.lists import NOBODY, top_lists
from frostline.seeds import generator


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 9), st.integers(1, 12), st.integers(1, 5))
def test_a_list_is_the_head_of_the_row_sorted_by_score_and_then_by_the_seeded_order(seed, n, n_items, k, levels):
    scores = np.random.default_rng(seed).integers(-levels, levels, (n, n_items)).astype(np.float32)
    place = np.argsort(generator(seed, "lists").permutation(n_items))
    for row, found in zip(scores, top_lists(scores, k, seed).tolist(), strict=True):
        expected = sorted(range(n_items), key=lambda item: (-row[item], place[item]))[:k]
        assert found == expected + [NOBODY] * (k - n_items)


@pytest.mark.parametrize("block", [1, 3, 7, 100])
def test_C10_block_boundaries_change_no_list(block, monkeypatch):
    scores = np.random.default_rng(0).integers(0, 4, (20, 15)).astype(np.float32)
    whole = top_lists(scores, 5, 1)
    monkeypatch.setattr(lists, "BLOCK", block)
    assert (top_lists(scores, 5, 1) == whole).all()


def test_ties_are_broken_alike_for_all_and_by_another_order_with_another_seed():
    shown = top_lists(np.zeros((5, 40), np.float32), 10, 1)
    assert (shown == shown[0]).all() and sorted(shown[0]) != list(range(10))
    assert (top_lists(np.zeros((5, 40), np.float32), 10, 2) != shown).any()
