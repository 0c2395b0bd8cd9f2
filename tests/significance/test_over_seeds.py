"""Tests over seeds (B7)."""

import numpy as np
import pytest
from scipy import stats

from frostline.significance.over_seeds import seed_tests


def test_B7_paired_t_equals_scipy():
    rng = np.random.default_rng(1)
    one, two = rng.random((2, 5, 7))
    found = seed_tests(one - two)
    expected = stats.ttest_rel(one, two)
    np.testing.assert_allclose(found.t, expected.statistic)
    np.testing.assert_allclose(found.p, expected.pvalue)
    np.testing.assert_allclose(found.sd, np.std(one - two, axis=0, ddof=1))
    assert np.isnan(found.corrected_t).all() and not found.deterministic.any()


def test_B7_nadeau_bengio_equals_an_example_worked_by_hand():
    """Differences of two, one, three, two and two hundredths; 20 % of the items are test-cold and 70 % warm.

    Mean .02 and variance .0002 / 4 = .00005. Plain: t = .02 / √(.00005 / 5) = 6.3246. Corrected:
    t = .02 / √((1/5 + 2/7) · .00005) = .02 / √.0000242857 = 4.0584. With 4 degrees of freedom p is .00320 and .01537.
    """
    found = seed_tests(np.array([[0.02], [0.01], [0.03], [0.02], [0.02]]), 20 / 70)
    assert found.mean == pytest.approx(0.02) and found.sd == pytest.approx(0.0070711, abs=1e-7)
    assert found.t == pytest.approx(6.3246, abs=5e-5) and found.corrected_t == pytest.approx(4.0584, abs=5e-5)
    assert found.p == pytest.approx(0.00320, abs=5e-6) and found.corrected_p == pytest.approx(0.01537, abs=5e-6)


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3])
def test_B7_a_deterministic_difference_has_sd_zero_and_no_t(value):
    found = seed_tests(np.full((5, 1), value), 0.3)
    assert found.sd == 0 and found.deterministic
    assert np.isnan([found.t, found.p, found.corrected_t, found.corrected_p]).all()


def test_one_seed_has_no_spread_and_an_undefined_figure_no_test():
    found = seed_tests(np.array([[0.1, 0.2]]), 0.3)
    assert found.mean.tolist() == [0.1, 0.2] and np.isnan([found.sd, found.t, found.corrected_p]).all()
    assert not found.deterministic.any()
    found = seed_tests(np.array([[0.1, np.nan], [0.2, 0.3]]), 0.3)
    assert np.isnan([found.mean[1], found.sd[1], found.p[1]]).all() and not np.isnan(found.p[0])


def test_the_correction_always_makes_t_smaller_and_scaling_changes_nothing():
    differences = np.random.default_rng(2).normal(0.02, 0.03, (5, 20))
    found, scaled = seed_tests(differences, 0.25), seed_tests(-7 * differences, 0.25)
    assert (np.abs(found.corrected_t) < np.abs(found.t)).all() and (found.corrected_p > found.p).all()
    np.testing.assert_allclose(scaled.t, -found.t)
    np.testing.assert_allclose(scaled.corrected_p, found.corrected_p)
