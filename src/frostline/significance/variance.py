"""Where the uncertainty of a figure comes from: the seeds, the users or the items.

The crossed bootstrap (`frostline.bootstrap`) with one factor at a time. Of the seeds the expectation of that bootstrap is
known, the variance over seeds divided by their number, and is taken as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frostline.bootstrap import FACTORS, SeedResult, draw_means

DRAWS = 2000
COLUMNS = ["metric", "system", "reference", "factor", "varies", "variance", "sd", "share"]


def components(results: Sequence[SeedResult], of_seeds: np.ndarray, contrasts: np.ndarray, seed: int) -> np.ndarray:
    """Variance of figures that are means over seeds, by what could have been others.

    Parameters
    ----------
    results : sequence of SeedResult
        Columns are systems, all of one metric.
    of_seeds : ndarray of float64, shape (n_seeds, n_systems)
        Means over queries.
    contrasts : ndarray of float64, shape (n_systems, n_figures)
        A figure is a weighted sum of systems: of one alone, or of two with the weights 1 and −1.
    seed : int

    Returns
    -------
    ndarray of float64, shape (len(FACTORS), n_figures)
        The first row is NaN where there is one seed.
    """
    n_seeds = len(of_seeds)
    figures = of_seeds @ contrasts
    over_seeds = figures.var(axis=0, ddof=1) / n_seeds if n_seeds > 1 else np.full(figures.shape[1], np.nan)
    others = [draw_means(results, seed, DRAWS, (factor,)) @ contrasts for factor in FACTORS[1:]]
    return np.stack([over_seeds, *(draws.var(axis=0) for draws in others)])
