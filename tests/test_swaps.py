"""Rewiring: all degrees kept, no pair twice, and everybody's items really change (Rulings 5)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frostline.swaps import swap_partners


@given(st.integers(0, 10**6), st.floats(0.01, 0.99))
def test_degrees_are_kept_and_no_pair_is_there_twice(seed, density):
    rng = np.random.default_rng(seed)
    row, column = np.nonzero(rng.random((12, 9)) < density)
    new = swap_partners(row, column, rng)
    assert sorted(new) == sorted(row)
    assert len(set(zip(new.tolist(), column.tolist(), strict=True))) == len(row)


def test_every_graph_of_the_same_degrees_is_about_as_likely():
    """The six ways to give three rows and three columns one pair each, by counting."""
    rng, found = np.random.default_rng(0), {}
    for _ in range(3000):
        new = tuple(swap_partners(np.arange(3), np.arange(3), rng).tolist())
        found[new] = found.get(new, 0) + 1
    assert len(found) == 6 and min(found.values()) > 400 and max(found.values()) < 600


def test_little_is_left_of_who_took_what():
    rng = np.random.default_rng(1)
    row, column = np.nonzero(rng.random((300, 80)) < 0.1)
    new = swap_partners(row, column, rng)
    kept = set(zip(row.tolist(), column.tolist(), strict=True)) & set(zip(new.tolist(), column.tolist(), strict=True))
    # A pair is there by chance with about the density.
    assert len(kept) / len(row) == pytest.approx(0.1, abs=0.04)


def test_where_nothing_can_change_nothing_does():
    row, column = np.nonzero(np.ones((3, 4)))
    assert (swap_partners(row, column, np.random.default_rng(0)) == row).all()
    assert len(swap_partners(row[:0], column[:0], np.random.default_rng(0))) == 0
