"""Tests over seeds: did the seeds, each with its own draw of cold items, agree?

The plain paired t takes the seeds for independent, which draws of test items from one catalogue are not: their training
sets overlap, so it rejects too often. Nadeau and Bengio ("Inference for the generalization error", Machine Learning
52(3), 2003, section 4) widen its variance by the ratio of test to training data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr


@dataclass(frozen=True)
class SeedTests:
    """Paired tests of one difference a column; NaN where a test is not defined.

    Attributes
    ----------
    mean, sd : ndarray of float64, shape (n_pairs,)
        Over seeds, with ddof 1.
    t, p, corrected_t, corrected_p : ndarray of float64, shape (n_pairs,)
        Two-sided, with n_seeds − 1 degrees of freedom.
    deterministic : ndarray of bool, shape (n_pairs,)
        Whether there are several seeds and all gave the same difference; then there is nothing to test.
    """

    mean: np.ndarray
    sd: np.ndarray
    t: np.ndarray
    p: np.ndarray
    corrected_t: np.ndarray
    corrected_p: np.ndarray
    deterministic: np.ndarray


def seed_tests(differences: np.ndarray, test_to_train: float | None = None) -> SeedTests:
    """Paired t and corrected resampled t.

    Parameters
    ----------
    differences : ndarray of float64, shape (n_seeds, n_pairs)
        A column that holds NaN has no figure.
    test_to_train : float, optional
        n_test / n_train of a random draw. Without it the corrected test is not given: it is one for random draws.
    """
    n_seeds, n_pairs = differences.shape
    mean = differences.mean(axis=0)
    if n_seeds == 1:
        undefined = np.full(n_pairs, np.nan)
        return SeedTests(mean, *[undefined] * 5, deterministic=np.zeros(n_pairs, dtype=bool))
    # The rounding of a mean gives equal numbers a spread, and its smallness an enormous t.
    deterministic = np.ptp(differences, axis=0) == 0
    sd = np.where(deterministic, 0.0, differences.std(axis=0, ddof=1))
    tests = []
    for extra in (0.0, test_to_train):
        factor = np.nan if extra is None else np.sqrt(1 / n_seeds + extra)
        t = mean / np.where(deterministic, np.nan, sd * factor)
        tests += [t, 2 * stdtr(n_seeds - 1, -np.abs(t))]
    return SeedTests(mean, sd, *tests, deterministic=deterministic)
