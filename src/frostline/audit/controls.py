"""Do the controls bite? A system that knows nothing must be worth exactly nothing, and one that guesses about as much."""

from __future__ import annotations

import math

import numpy as np

from frostline.audit.checks import check
from frostline.ranking import Metric
from frostline.results import Results

CONSTANT, RANDOM = "constant", "random"
BOUND = 3.2905267314918945
"""Standard errors either side that hold 99.9 % of a normal distribution."""

FEW = 30
"""Queries with a figure above zero, below which these alone do not tell the standard error."""


def chance(metric: Metric, n_candidates: np.ndarray, n_relevant: np.ndarray) -> np.ndarray:
    """Expectation of a metric over all orders of the candidates, in closed form; NaN where it is undefined.

    Parameters
    ----------
    metric : Metric
        Of `auc`, `recall`, `precision`, `ndcg`, `hit_rate`, `mrr`, `map`.
    n_candidates, n_relevant : ndarray of int, shape (n_queries,)

    Returns
    -------
    ndarray of float64, shape (n_queries,)
    """
    pairs, which = np.unique(np.stack([n_candidates, n_relevant], axis=1), axis=0, return_inverse=True)
    return np.array([_chance(metric, int(n), int(relevant)) for n, relevant in pairs])[which.ravel()]


def _chance(metric: Metric, n: int, relevant: int) -> float:
    if not relevant or (metric.name == "auc" and relevant == n):
        return math.nan
    if metric.name == "auc":
        return 0.5
    places, ideal = np.arange(1, min(metric.k, n) + 1), min(relevant, metric.k)
    share = relevant / n
    if metric.name == "recall":
        return len(places) / n
    if metric.name == "precision":
        return len(places) * share / metric.k
    if metric.name == "ndcg":
        return share * float(np.sum(1 / np.log2(places + 1)) / np.sum(1 / np.log2(np.arange(1, ideal + 1) + 1)))
    if metric.name == "map":
        # A relevant candidate at place i has (i − 1)(R − 1) / (n − 1) others before it.
        before = (places - 1) * (relevant - 1) / max(n - 1, 1)
        return float(np.sum(share * (1 + before) / places)) / ideal
    # None among the first i, hypergeometric.
    missed = np.exp([_log_choose(n - relevant, i) - _log_choose(n, i) for i in range(len(places) + 1)])
    return 1 - missed[-1] if metric.name == "hit_rate" else float(np.sum((missed[:-1] - missed[1:]) / places))


def _log_choose(n: int, k: int) -> float:
    return -math.inf if k > n else math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def control_checks(results: Results, primary: str, ties: str) -> list[dict[str, str]]:
    """`constant` equals chance and `random` does not differ from it, on the primary metric of one fold.

    The 99.9 % interval of `random` is over the queries of all seeds, whose random scores are independent.
    """
    if not {CONSTANT, RANDOM} <= set(results.systems):
        return []
    metric, apart, differences = Metric.parse(primary), [], []
    found_at_random, chances = [], []
    for seed in results.seeds:
        found = results.per_query[seed, CONSTANT]
        sizes = (found[name].to_numpy() for name in ("n_candidates", "n_relevant"))
        expected = chance(metric, *sizes)
        constant, random = (
            results.per_query[seed, name][primary].to_numpy(zero_copy_only=False) for name in (CONSTANT, RANDOM)
        )
        if not np.allclose(constant, expected, rtol=1e-9, atol=1e-12, equal_nan=True):
            apart.append(f"seed {seed}: {np.nanmean(constant):.6f}, and chance is {np.nanmean(expected):.6f}")
        differences.append(random - expected)
        found_at_random.append(random)
        chances.append(expected)
    all_of_them, hits, by_chance = (np.concatenate(part) for part in (differences, found_at_random, chances))
    mean_of_chance = float(np.nanmean(by_chance))
    hits = np.nan_to_num(hits)
    known = all_of_them[~np.isnan(all_of_them)]
    error = known.std(ddof=1) / math.sqrt(len(known)) if len(known) > 1 else 0.0
    if np.count_nonzero(hits) < FEW:
        # So few tell nothing of the spread; of what lies between 0 and 1 the variance is at most that of a coin.
        error = max(error, math.sqrt(max(mean_of_chance * (1 - mean_of_chance), 0) / len(known)))
    mean, width = float(known.mean()), BOUND * error
    said = f"{primary} is {mean:+.5f} from chance, and {width:.5f} is what luck allows"
    checks = [
        check("the control 'random' is no better and no worse than chance", [said] if abs(mean) > width else [], said)
    ]
    if ties == "expected":
        name = "the control 'constant' is worth exactly chance"
        checks.insert(0, check(name, apart, f"{primary} equals the closed form for every query"))
    return checks
