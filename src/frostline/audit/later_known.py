"""Is there content that could only be known later, such as a mean rating or a count?

Such a field knows what the audience did, and a cold item has no audience yet. Three signs, none of them a proof:

* its name says so;
* a number that orders the test-cold items as their own interactions do: by how many there are, or by their mean weight;
* it predicts the popularity of test-cold items far better than that of warm items, each out of fold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.sparse import csr_array

from frostline.api import Content
from frostline.audit.checks import WARNING, check
from frostline.seeds import generator

AGREES = 0.8
"""From this Spearman correlation on, a number orders test-cold items as their interactions do. The largest among the
static numbers of the four real data sets is 0.26 (the year of a film and its mean rating)."""

AHEAD, DEVIATIONS = 0.2, 4.0
"""Test popularity is predicted far better where its correlation is ahead by both, the second on Fisher's scale."""

FEWEST = 20
"""With fewer items nothing is said."""

MOST, FOLDS, PENALTY = 1500, 5, 10.0
"""Warm items that are looked at, at most; folds and penalty of the regression."""

AUDIENCE = re.compile(
    r"(?<![a-z])(rating|score|star|vote|review|popularity|popular|click|view|play|purchase|sale|sold|download|like|"
    r"follower|subscriber|listen|listener|rank|ranking|bestseller|trending|interaction|times?_(rated|bought|seen|played))s?(?![a-z])"
)
NOT_THE_AUDIENCE = re.compile(r"(?<![a-z])(age|content|mpaa|esrb|pegi|parental|maturity)(?![a-z])")


def name_says_so(field: str) -> bool:
    """Whether a field is called after what an audience does, `avgRating` and `review_count` but not `age_rating`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", field).lower()
    return bool(AUDIENCE.search(words)) and not NOT_THE_AUDIENCE.search(words)


def measure(
    warm: Content,
    cold: Content,
    numbers: Mapping[str, np.ndarray],
    count: tuple[np.ndarray, np.ndarray],
    weight: np.ndarray,
    seed: int,
) -> dict[str, dict[str, float | None]]:
    """How much each field says of what interactions alone can tell, in one seed.

    Parameters
    ----------
    warm, cold : Content
        Of the warm and the test-cold items.
    numbers : dict of ndarray of float, shape (n_cold,)
        The number fields of the cold items as they are, NaN where missing.
    count : (ndarray, ndarray) of int, shapes (n_warm,) and (n_cold,)
        Interactions of each item. Warm items with fewer than any cold item has are left aside, because none of their like
        can be cold.
    weight : ndarray of float, shape (n_cold,)
        Mean weight of each cold item's interactions.
    seed : int

    Returns
    -------
    dict
        For each field Spearman correlations, None where undefined: `warm` and `test` of popularity with what ridge
        regression predicts of it from the field, out of fold within the warm and within the cold items; `counts` and
        `weights` of a number with what the cold items' interactions come to.
    """
    likes = np.flatnonzero(count[0] >= count[1].min())
    rng = generator(seed, "audit", "content")
    likes = np.sort(rng.permutation(likes)[:MOST])
    known = count[0][likes]
    found = {}
    for position, field in enumerate(warm.fields):
        columns = slice(warm.starts[position], warm.starts[position + 1])
        one, other = warm.matrix[likes, columns], cold.matrix[:, columns]
        guesses = [_out_of_fold(features, values, rng) for features, values in ((one, known), (other, count[1]))]
        number = numbers.get(field)
        found[field] = {
            "warm": spearman(guesses[0], known),
            "test": spearman(guesses[1], count[1]),
            "counts": None if number is None else spearman(number, count[1]),
            "weights": None if number is None else spearman(number, weight),
        }
    return found


def later_known(measured: Sequence[Mapping[str, Mapping]], n_test: int) -> tuple[list[dict], dict[str, dict]]:
    """The check, from what `measure` found in each seed, and the mean over seeds of every measure.

    `n_test` is the number of test-cold items.
    """
    table, flagged = {}, []
    for field in measured[0] if measured else ():
        mean = {name: _mean([seed[field][name] for seed in measured]) for name in ("warm", "test", "counts", "weights")}
        table[field] = mean
        signs = []
        if name_says_so(field):
            signs.append("its name says so")
        for name, what in (("counts", "number of interactions"), ("weights", "mean weight")):
            if mean[name] is not None and abs(mean[name]) >= AGREES:
                signs.append(f"it orders test-cold items by their {what}, Spearman correlation {mean[name]:.2f}")
        if None not in (mean["warm"], mean["test"]):
            ahead = np.arctanh(min(mean["test"], 0.999)) - np.arctanh(min(mean["warm"], 0.999))
            if mean["test"] - mean["warm"] >= AHEAD and ahead * np.sqrt(max(n_test - 3, 1) / 2) >= DEVIATIONS:
                signs.append(
                    f"it predicts the popularity of test-cold items out of fold with a correlation of {mean['test']:.2f}, "
                    f"that of warm items with {mean['warm']:.2f}"
                )
        if signs:
            flagged.append(f"'{field}' may be known only later: {' and '.join(signs)}")
    checks = [
        check(
            "no content field could only be known later",
            flagged,
            f"nothing of the kind in {', '.join(table) or 'nothing'}: neither by name nor by what it predicts",
            WARNING,
        )
    ]
    return checks, table


def spearman(one: np.ndarray, other: np.ndarray) -> float | None:
    """Rank correlation over the pairs that are known; None for fewer than `FEWEST`, or where one side is constant."""
    from scipy.stats import spearmanr

    known = np.isfinite(one) & np.isfinite(other)
    one, other = one[known], other[known]
    if len(one) < FEWEST or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    return float(spearmanr(one, other).statistic)


def _out_of_fold(features: csr_array, count: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Log of the counts as ridge regression predicts it from the features, each item by the items of the other folds."""
    from scipy.linalg import solve

    features, target = features[:MOST], np.log(np.maximum(count[:MOST], 1))
    fold = rng.permutation(np.arange(len(target)) % FOLDS)
    alike = (features @ features.T).toarray().astype(np.float64)
    guess = np.full(len(count), np.nan)
    for part in range(min(FOLDS, len(target))):
        rest, here = np.flatnonzero(fold != part), np.flatnonzero(fold == part)
        level = target[rest].mean()
        kernel = alike[np.ix_(rest, rest)] + PENALTY * np.eye(len(rest))
        guess[here] = level + alike[np.ix_(here, rest)] @ solve(kernel, target[rest] - level, assume_a="pos")
    return guess


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(float(np.mean(known)), 6) if known else None
