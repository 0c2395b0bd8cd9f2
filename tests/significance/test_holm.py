"""Holm's correction (P4)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from frostline.significance.holm import holm


@settings(max_examples=25)  # statsmodels takes a tenth of a second each
@given(st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.05]), min_size=1, max_size=12))
def test_P4_equals_statsmodels(p):
    np.testing.assert_allclose(holm(np.array(p)), multipletests(p, method="holm")[1], atol=1e-15)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.integers(0, 8))
def test_what_was_not_tested_counts_for_nothing(p, place):
    found = holm(np.insert(np.array(p), min(place, len(p)), np.nan))
    np.testing.assert_array_equal(np.delete(found, min(place, len(p))), holm(np.array(p)))
    assert np.isnan(found[min(place, len(p))])


def test_nothing_to_correct():
    assert np.isnan(holm(np.array([np.nan, np.nan]))).all() and len(holm(np.array([]))) == 0
    assert holm(np.array([0.04])) == pytest.approx(0.04)
