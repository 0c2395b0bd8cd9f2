"""Tests over users (P4, A7): equal to scipy and statsmodels, clustered by user."""

from dataclasses import fields

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from frostline.bootstrap import SeedResult
from frostline.significance.over_users import UserTests, detectable_effect, means_of_users, user_tests


def differences(seed, n_users, n_pairs=6):
    """Of metrics that often agree: rounded, so that there are ties."""
    rng = np.random.default_rng(seed)
    return rng.normal(rng.normal(0, 0.05, n_pairs), 0.3, (n_users, n_pairs)).round(1)


def one_seed(user, values):
    return SeedResult(np.asarray(user), np.asarray(values, dtype=float), np.array([0]), np.zeros((1, 1)), np.ones(1))


@pytest.mark.parametrize("n_users", [3, 25, 400])
def test_P4_paired_t_equals_scipy_with_effect_size_and_counts(n_users):
    given = differences(1, n_users)
    found = user_tests(given, 0, draws=100)
    expected = stats.ttest_1samp(given, 0)
    np.testing.assert_allclose(found.t, expected.statistic)
    np.testing.assert_allclose(found.p, expected.pvalue)
    np.testing.assert_allclose(found.effect_size, given.mean(axis=0) / given.std(axis=0, ddof=1))
    for counted, sign in ((found.wins, 1), (found.ties, 0), (found.losses, -1)):
        assert counted.tolist() == [sum(np.sign(d) == sign for d in column) for column in given.T]


def test_P4_exact_randomisation_test_equals_scipy():
    given = differences(2, 11)
    found = user_tests(given, 0).randomisation_p
    for column, p in zip(given.T, found, strict=True):
        zero = np.zeros_like(column)
        options = {"permutation_type": "samples", "n_resamples": np.inf, "vectorized": True}
        expected = stats.permutation_test((column, zero), lambda x, y, axis: (x - y).mean(axis), **options)
        assert p == pytest.approx(expected.pvalue, abs=1e-12)


def test_P4_randomisation_test_by_monte_carlo_is_near_the_exact_one_and_never_zero():
    given = differences(3, 13)
    exact, drawn = user_tests(given, 0, draws=2**13), user_tests(given, 0, draws=2**13 - 1)
    error = 4 * np.sqrt(exact.randomisation_p * (1 - exact.randomisation_p) / 2**13)
    assert (np.abs(drawn.randomisation_p - exact.randomisation_p) <= error + 2 / 2**13).all()
    assert (drawn.randomisation_p != exact.randomisation_p).any()
    far = user_tests(np.full((200, 1), 0.5) + differences(3, 200, 1) / 10, 0, draws=99)
    assert far.randomisation_p == pytest.approx(1 / 100)


def test_A7_bootstrap_interval_equals_scipy():
    given = differences(4, 300)
    found = user_tests(given, 0, draws=20_000)
    for column, low, high in zip(given.T, found.low, found.high, strict=True):
        options = {"method": "percentile", "n_resamples": 20_000, "random_state": np.random.default_rng(5)}
        expected = stats.bootstrap((column,), np.mean, **options).confidence_interval
        assert (low, high) == pytest.approx(tuple(expected), abs=0.05 * (expected.high - expected.low) / 2)


@pytest.mark.parametrize("n", [2, 3, 5, 30, 6040])
def test_P4_minimum_detectable_effect_has_the_power_that_statsmodels_computes(n):
    effect = detectable_effect(n)
    assert TTestPower().power(effect, nobs=n, alpha=0.05) == pytest.approx(0.8, abs=1e-5)
    given = differences(5, n, 1)
    given[0] += 0.4
    assert user_tests(given, 0, draws=10).detectable == pytest.approx(effect * given.std(ddof=1))


def test_a_user_counts_once_whatever_the_number_of_seeds():
    """Clustered by user: seeds that repeat one another make no user into several."""
    values = differences(6, 40)
    once = means_of_users([one_seed(np.arange(40), values)])
    np.testing.assert_allclose(means_of_users([one_seed(np.arange(40), values)] * 5), once, atol=1e-15)
    np.testing.assert_array_equal(once, values)


def test_a_user_is_averaged_over_the_seeds_that_have_him():
    seeds = [one_seed([0, 2], [[0.2, np.nan], [0.4, 1]]), one_seed([2, 0], [[0.8, 0], [np.nan, np.nan]])]
    expected = [[0.2, np.nan], [np.nan, np.nan], [0.6, 0.5]]
    np.testing.assert_allclose(means_of_users(seeds), expected)
    found = user_tests(means_of_users(seeds), 0, draws=50)
    assert found.n_users.tolist() == [2, 1] and found.mean == pytest.approx([0.4, 0.5])
    assert np.isnan([found.t[1], found.p[1], found.detectable[1]]).all()


def test_undefined_figures_are_left_out():
    given = differences(7, 60)
    with_gaps = np.insert(given, [5, 30, 59], np.nan, axis=0)
    for spec in fields(UserTests):
        np.testing.assert_array_equal(
            getattr(user_tests(with_gaps, 0, 50), spec.name), getattr(user_tests(given, 0, 50), spec.name)
        )
    with_gaps[10, 2] = np.nan
    found = user_tests(with_gaps, 0, 500)
    expected = stats.ttest_1samp(with_gaps[:, 2], 0, nan_policy="omit")
    assert found.n_users.tolist() == [60, 60, 59, 60, 60, 60] and found.p[2] == pytest.approx(expected.pvalue)
    assert found.low[2] < found.mean[2] < found.high[2]


def test_systems_that_no_user_tells_apart():
    found = user_tests(np.zeros((30, 1)), 0, draws=50)
    assert np.isnan([found.t, found.p, found.effect_size, found.detectable]).all()
    assert (found.mean, found.low, found.high, found.randomisation_p, found.ties) == (0, 0, 0, 1, 30)
    # The rounding of a mean over seeds is no win.
    found = user_tests(np.array([[1e-17], [-1e-16], [0.5]]), 0)
    assert (found.wins, found.ties, found.losses) == (1, 2, 0)


@pytest.mark.parametrize("n_users", [1, 2])
def test_few_users_degrade_gracefully(n_users):
    found = user_tests(np.array([[0.5], [0.25]])[:n_users], 0, draws=50)
    assert found.randomisation_p == 1 / n_users and found.n_users == n_users
    assert np.isnan(found.p) == (n_users < 2) and np.isnan(found.low) == (n_users < 2)


def test_scaling_and_swapping_systems():
    given = differences(8, 120)
    found, scaled, swapped = (user_tests(part, 0, draws=400) for part in (given, 3 * given, -given))
    for name in ("t", "p", "effect_size", "wins", "randomisation_p"):
        np.testing.assert_allclose(getattr(scaled, name), getattr(found, name))
    for name in ("mean", "low", "high", "detectable"):
        np.testing.assert_allclose(getattr(scaled, name), 3 * getattr(found, name))
    np.testing.assert_allclose(swapped.t, -found.t)
    np.testing.assert_allclose(swapped.low, -found.high, atol=1e-12)
    np.testing.assert_array_equal(swapped.wins, found.losses)
    np.testing.assert_array_equal(swapped.randomisation_p, found.randomisation_p)


def test_other_columns_change_nothing_and_the_memory_bound_neither(monkeypatch):
    given = differences(9, 50)
    alone, together = user_tests(given[:, [2]], 0, draws=300), user_tests(given, 0, draws=300)
    monkeypatch.setattr("frostline.significance.over_users._CELLS", 50 * 32)
    blocked = user_tests(given, 0, draws=300)
    for spec in fields(UserTests):
        expected = getattr(together, spec.name)
        np.testing.assert_allclose(getattr(alone, spec.name)[0], expected[2], atol=1e-12)
        np.testing.assert_allclose(getattr(blocked, spec.name), expected, atol=1e-12)
