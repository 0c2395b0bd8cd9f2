"""Tests over users: would other users have told the same, on the items that these seeds drew?

Each user counts once, with the mean over seeds of the difference that he saw, so the queries of one user are never taken
for independent. What these tests cannot tell is whether other cold items would have told the same: they are about users
and this split, and the more users there are, the less that says. No Wilcoxon and no sign test: at thousands of users
both reject true null hypotheses far more often than they claim (Ihemelandu and Ekstrand, SIGIR 2023).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import nctdtr, stdtr, stdtrit

from frostline.bootstrap import ALPHA, DRAWS, SeedResult
from frostline.seeds import generator

POWER = 0.8
_CELLS = 1 << 23
_ROUNDING = 1e-12
"""Differences of users, all between −1 and 1, below this are the rounding of a mean."""


@dataclass(frozen=True)
class UserTests:
    """Paired tests of one difference a column; NaN where a test is not defined.

    Attributes
    ----------
    n_users : ndarray of int64, shape (n_pairs,)
    mean, low, high : ndarray of float64, shape (n_pairs,)
        Mean over users and its percentile bootstrap interval.
    t, p, randomisation_p : ndarray of float64, shape (n_pairs,)
    effect_size : ndarray of float64, shape (n_pairs,)
        Mean over standard deviation of the users' differences: Cohen's d for pairs (*Statistical Power Analysis*, 1988,
        section 2.3.5), there called d_z.
    wins, ties, losses : ndarray of int64, shape (n_pairs,)
    detectable : ndarray of float64, shape (n_pairs,)
        Smallest mean difference that the paired t would find with a power of `POWER`.
    """

    n_users: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    t: np.ndarray
    p: np.ndarray
    randomisation_p: np.ndarray
    effect_size: np.ndarray
    wins: np.ndarray
    ties: np.ndarray
    losses: np.ndarray
    detectable: np.ndarray


def means_of_users(results: Sequence[SeedResult]) -> np.ndarray:
    """Each user's mean over the seeds where his figure is defined, NaN where it is in none.

    Returns
    -------
    ndarray of float64, shape (n_users, n_columns)
    """
    n_users = 1 + max(int(result.user.max()) for result in results)
    total = np.zeros((n_users, results[0].values.shape[1]))
    count = np.zeros_like(total)
    for result in results:
        total[result.user] += np.nan_to_num(result.values)
        count[result.user] += ~np.isnan(result.values)
    return total / np.where(count, count, np.nan)


def user_tests(differences: np.ndarray, seed: int, draws: int = DRAWS) -> UserTests:
    """Paired t, sign-flip randomisation test, bootstrap interval and what goes with them.

    The randomisation test is exact where there are no more than `draws` ways to flip the signs; else it draws `draws` of
    them and counts the observed one as well (Phipson and Smyth, 2010).

    Parameters
    ----------
    differences : ndarray of float64, shape (n_users, n_pairs)
        NaN where undefined. The rows are resampled by position, so their order must not depend on names.
    seed : int
    draws : int
    """
    differences = differences[~np.isnan(differences).all(axis=1)]
    is_defined = ~np.isnan(differences)
    n_users = is_defined.sum(axis=0)
    filled = np.where(is_defined & (np.abs(differences) > _ROUNDING), differences, 0.0)
    count = np.where(n_users, n_users, np.nan)
    mean = filled.sum(axis=0) / count
    spread = np.where(is_defined, filled - mean, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        sd = np.sqrt((spread**2).sum(axis=0) / np.where(n_users > 1, n_users - 1, np.nan))
        sd = np.where(sd > _ROUNDING, sd, np.nan)
    effect = mean / sd
    t = effect * np.sqrt(count)
    low, high = _bootstrap(filled, is_defined, mean, seed, draws)
    return UserTests(
        n_users=n_users,
        mean=mean,
        low=low,
        high=high,
        t=t,
        p=2 * stdtr(count - 1, -np.abs(t)),
        randomisation_p=np.where(n_users > 0, _sign_flips(filled, seed, draws), np.nan),
        effect_size=effect,
        wins=(filled > 0).sum(axis=0),
        ties=n_users - (filled != 0).sum(axis=0),
        losses=(filled < 0).sum(axis=0),
        detectable=sd * _per_distinct(detectable_effect, n_users),
    )


def detectable_effect(n: int) -> float:
    """Smallest effect size that a two-sided paired t at `ALPHA` finds, and with the right sign, with a power of `POWER`.

    NaN below two pairs. From the noncentral t distribution (Cohen, 1988, section 2.4).
    """
    if n < 2:
        return np.nan
    bound = stdtrit(n - 1, 1 - ALPHA / 2)
    return brentq(lambda shift: 1 - nctdtr(n - 1, shift, bound) - POWER, 0, 2 * bound, xtol=1e-10) / np.sqrt(n)


def _per_distinct(function: Callable[[int], float], values: np.ndarray) -> np.ndarray:
    distinct, place = np.unique(values, return_inverse=True)
    return np.array([function(int(value)) for value in distinct])[place]


def _bootstrap(
    filled: np.ndarray, is_defined: np.ndarray, mean: np.ndarray, seed: int, draws: int
) -> tuple[np.ndarray, np.ndarray]:
    """Percentile interval of each column's mean over users drawn with replacement, the same ones for all columns."""
    n_users, n_pairs = filled.shape
    if n_users < 2:
        return np.full(n_pairs, np.nan), np.full(n_pairs, np.nan)
    masks, mask_of = np.unique(is_defined, axis=1, return_inverse=True)
    rng = generator(seed, "significance", "bootstrap")
    found = np.empty((draws, n_pairs))
    for rows in _blocks(draws, n_users):
        weight = rng.multinomial(n_users, np.full(n_users, 1 / n_users), size=rows.stop - rows.start).astype(np.float64)
        whole = (weight @ masks)[:, mask_of.ravel()]
        found[rows] = np.where(whole > 0, weight @ filled / np.where(whole > 0, whole, 1), mean)
    low, high = np.quantile(found, [ALPHA / 2, 1 - ALPHA / 2], axis=0)
    return low, high


def _sign_flips(filled: np.ndarray, seed: int, draws: int) -> np.ndarray:
    """Two-sided p: how often the sum is as far from zero when each user's difference has a random sign."""
    n_users = len(filled)
    # What is mathematically equal to the observed sum counts, though its terms were added in another order.
    observed = np.abs(filled.sum(axis=0)) * (1 - 1e-9)
    if n_users < 63 and 2**n_users <= draws:
        every = 1 - 2.0 * (np.arange(2**n_users)[:, None] >> np.arange(n_users) & 1)
        return (np.abs(every @ filled) >= observed).mean(axis=0)
    rng = generator(seed, "significance", "signs")
    extreme = np.ones(filled.shape[1])
    for rows in _blocks(draws, n_users):
        signs = 1 - 2.0 * rng.integers(2, size=(rows.stop - rows.start, n_users), dtype=np.int8)
        extreme += (np.abs(signs @ filled) >= observed).sum(axis=0)
    return extreme / (draws + 1)


def _blocks(draws: int, n_users: int) -> Iterator[slice]:
    step = max(1, _CELLS // n_users)
    return (slice(start, min(start + step, draws)) for start in range(0, draws, step))
