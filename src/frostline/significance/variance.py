"""Where the uncertainty of a figure comes from: the seeds, the users or the items.

The crossed bootstrap (`frostline.bootstrap`) with one factor at a time. Of the seeds the expectation of that bootstrap is
known, the variance over seeds divided by their number, and is taken as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from frostline.bootstrap import FACTORS, SeedResult, draw_means
from frostline.marks import CHOICE
from frostline.results import Results, rounded
from frostline.significance.pairs import pairs_of, plain, seed_means, with_choice

DRAWS = 2000
RESTART = "random start of the donor"
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


def decompose(results: Results, chosen: Mapping[int, str], params: Mapping) -> list[dict[str, object]]:
    """Rows of the table of variance: of the primary metric of every system and of every difference, by factor.

    Systems that differ in their donor's random start alone (`params["restarts"]`, groups of names) tell how much of the
    seeds' part is due to that start: the variance among them within a seed.
    """
    metric, names = params["primary"], [*results.systems, *([CHOICE] if chosen else [])]
    pairs = [(first, second) for _, first, second in pairs_of(results.systems, chosen, params["baseline"])]
    pairs = [(number, None) for number in range(len(names))] + pairs
    contrasts = np.zeros((len(names), len(pairs)))
    for column, (first, second) in enumerate(pairs):
        contrasts[first, column] = 1
        if second is not None:
            contrasts[second, column] = -1
    of_seeds = np.array([seed_means(results, seed, chosen.get(seed), [metric]) for seed in results.seeds])
    found = components(with_choice(results, [metric], chosen), of_seeds, contrasts, min(params["seeds"]))
    seeds_vary = {"draws": "draw of items, models", "folds": "fold of items, models"}.get(
        params["replicates"], "models"
    )
    varies = {"seeds": seeds_vary, "users": "users", "items": "items"}
    rows = []
    for (first, second), variances in zip(pairs, found.T, strict=True):
        total = np.nansum(variances)
        for factor, variance in zip(FACTORS, variances, strict=True):
            pair = (names[first], "" if second is None else names[second])
            rows.append(_row(metric, pair, factor, varies[factor], variance, total))
        group = next((group for group in params["restarts"] if second is None and names[first] in group), None)
        if group:
            starts = of_seeds[:, [results.systems.index(system) for system in group]]
            variance = starts.var(axis=1, ddof=1).mean() / len(starts)
            rows.append(_row(metric, (names[first], ""), "donor", RESTART, variance, total))
    return rows


def _row(
    metric: str, pair: tuple[str, str], factor: str, varies: str, variance: np.floating, total: np.floating
) -> dict[str, object]:
    system, reference = pair
    row = {"metric": metric, "system": system, "reference": reference, "factor": factor, "varies": varies}
    row |= {"variance": plain(variance), "sd": plain(np.sqrt(variance))}
    row["share"] = plain(variance / total) if total > 0 else None
    return {name: rounded(value) for name, value in row.items()}
