"""Stage `calibrate`: turn scores into probabilities on val-cold items, and judge these on test-cold items.

A ranking needs no probabilities, and nothing here reaches one: metrics and AUC are those of the raw scores. What is fitted
here answers what a score means: of a hundred users to whom a new item is shown at this score, how many take it?
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from frostline.artifacts import Job
from frostline.folds import TEST, VAL
from frostline.results import rounded
from frostline.tables import write_rows

BINS = 10
COLUMNS = ("system", "method", "metric", "mean", "sd", "n_seeds", "kind")
RELIABILITY_COLUMNS = ("system", "method", "bin", "predicted", "observed", "n", "n_seeds")


@dataclass(frozen=True)
class Counts:
    """How often each score occurs among all pairs of the queries that count, and how often the pair is relevant.

    Attributes
    ----------
    score : ndarray of float64, shape (n,)
        Ascending.
    n, n_relevant : ndarray of float64, shape (n,)
    """

    score: np.ndarray
    n: np.ndarray
    n_relevant: np.ndarray


Calibrator = Callable[[np.ndarray], np.ndarray]


def run(job: Job) -> None:
    """Read the `counts` of every seed and system on val and test; write `calibration` and `reliability`."""
    params = job.params
    found: dict = {}
    bins: dict = {}
    for seed in params["seeds"]:
        for system in params["systems"]:
            val, test = (Counts(**job.read_arrays(f"counts[{seed},{system},{fold}]")) for fold in (VAL, TEST))
            for method in params["calibration"]:
                predicted = fit(method, val)(test.score)
                found[seed, system, method] = judge(predicted, test.n, test.n_relevant)
                bins[seed, system, method] = reliability(predicted, test.n, test.n_relevant)
    write_rows(job, "", _rows(found, params), COLUMNS)
    write_rows(job, "reliability_", _reliability_rows(bins, params), RELIABILITY_COLUMNS)


def fit(method: str, val: Counts) -> Calibrator:
    """A function from scores to probabilities.

    Parameters
    ----------
    method : {'platt', 'isotonic'}
        `platt`: a logistic function of the score (Platt, 1999), by maximum likelihood without a penalty. `isotonic`: the
        non-decreasing step function of least squares (Zadrozny & Elkan, KDD 2002), read off between its points and kept
        half a pair away from 0 and 1, which no finite number of pairs can tell.
    val : Counts
    """
    if method == "platt":
        return _platt(val)
    from sklearn.isotonic import IsotonicRegression

    least = 0.5 / val.n.sum()
    model = IsotonicRegression(y_min=least, y_max=1 - least, out_of_bounds="clip")
    return model.fit(val.score, val.n_relevant / val.n, sample_weight=val.n).predict


def _platt(val: Counts) -> Calibrator:
    from sklearn.linear_model import LogisticRegression

    # Brought to a common scale, because the solver's tolerance is absolute.
    centre = np.average(val.score, weights=val.n)
    spread = np.sqrt(np.average((val.score - centre) ** 2, weights=val.n)) or 1.0
    label = np.repeat([1, 0], len(val.n))
    scaled = np.tile((val.score - centre) / spread, 2)[:, None]
    weight = np.concatenate([val.n_relevant, val.n - val.n_relevant])
    seen = weight > 0
    model = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000)
    model.fit(scaled[seen], label[seen], sample_weight=weight[seen])
    return lambda score: model.predict_proba(((score - centre) / spread)[:, None])[:, 1]


def judge(predicted: np.ndarray, n: np.ndarray, n_relevant: np.ndarray) -> dict[str, float]:
    """`logloss` (mean negative log-likelihood, nats), `brier` (mean squared error) and `ece` of probabilities.

    The expected calibration error is that of Naeini, Cooper & Hauskrecht (AAAI 2015) in `BINS` bins of equal mass: the mean
    distance between what a bin predicts and what is observed in it.

    Parameters
    ----------
    predicted : ndarray of float64, shape (m,)
        Strictly between 0 and 1.
    n, n_relevant : ndarray, shape (m,)
        Pairs with each prediction, and the relevant ones among them.
    """
    others, total = n - n_relevant, n.sum()
    logloss = -(n_relevant @ np.log(predicted) + others @ np.log1p(-predicted)) / total
    brier = (n_relevant @ (1 - predicted) ** 2 + others @ predicted**2) / total
    gaps = [mass * abs(mean - observed) for mean, observed, mass in reliability(predicted, n, n_relevant)]
    return {"logloss": float(logloss), "brier": float(brier), "ece": float(sum(gaps) / total)}


def reliability(predicted: np.ndarray, n: np.ndarray, n_relevant: np.ndarray) -> list[tuple[float, float, float]]:
    """Mean prediction, observed share and number of pairs of each bin of equal mass, from the lowest.

    A prediction goes to the bin that holds the middle of its ranks, so equal ones are never parted, and a bin may be empty
    and is then left out.
    """
    value, of = np.unique(predicted, return_inverse=True)
    mass, relevant = np.bincount(of, n), np.bincount(of, n_relevant)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    number = np.minimum((middle * BINS).astype(int), BINS - 1)
    size = np.bincount(number, mass)
    sums = np.bincount(number, mass * value), np.bincount(number, relevant)
    return [(float(p / m), float(r / m), float(m)) for p, r, m in zip(*sums, size, strict=True) if m]


def _rows(found: Mapping, params: Mapping) -> list[dict]:
    rows = []
    for system, kind in params["systems"].items():
        for method in params["calibration"]:
            for metric in ("logloss", "brier", "ece"):
                values = [found[seed, system, method][metric] for seed in params["seeds"]]
                rows.append(
                    {
                        "system": system,
                        "method": method,
                        "metric": metric,
                        "mean": rounded(statistics.fmean(values)),
                        "sd": rounded(statistics.stdev(values)) if len(values) > 1 else None,
                        "n_seeds": len(values),
                        "kind": kind,
                    }
                )
    return rows


def _reliability_rows(bins: Mapping, params: Mapping) -> list[dict]:
    """Bins of all seeds, the lowest with the lowest, averaged by their mass."""
    rows = []
    for system in params["systems"]:
        for method in params["calibration"]:
            by_seed = [bins[seed, system, method] for seed in params["seeds"]]
            for number in range(max(map(len, by_seed))):
                own = [seed[number] for seed in by_seed if number < len(seed)]
                mass = sum(m for _, _, m in own)
                rows.append(
                    {
                        "system": system,
                        "method": method,
                        "bin": number + 1,
                        "predicted": rounded(sum(p * m for p, _, m in own) / mass),
                        "observed": rounded(sum(o * m for _, o, m in own) / mass),
                        "n": int(mass),
                        "n_seeds": len(own),
                    }
                )
    return rows
