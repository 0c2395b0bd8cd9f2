"""Grids and the choice among their points, by val-cold labels in item folds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.artifacts import ArrayFile
from frostline.errors import FrostlineError
from frostline.evaluation import evaluate_scores, exact_mean
from frostline.ranking import Metric


@dataclass(frozen=True)
class GridPoint:
    """One point's rows of a grid's scores, which stand one point after another."""

    stacked: ArrayFile
    number: int
    n_queries: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_queries, self.stacked.shape[1]

    def __getitem__(self, rows: slice) -> np.ndarray:
        start, stop, _ = rows.indices(self.n_queries)
        first = self.number * self.n_queries
        return self.stacked[first + start : first + stop]


def fold_figure(scores, query: np.ndarray, column: np.ndarray, in_part: np.ndarray, metric: Metric, ties: str) -> float:
    """Mean of a metric over the queries that have a relevant item among the candidates of one item fold.

    Raises
    ------
    FrostlineError
        When no query has one.
    """
    own = in_part[column]
    result = evaluate_scores(scores, query[own], column[own], [np.flatnonzero(in_part)], (metric,), ties)
    return defined_mean(result.values[:, 0], metric)


def defined_mean(values: np.ndarray, metric: Metric) -> float:
    """Mean of the values that are not NaN; FrostlineError when there is none."""
    mean = exact_mean(values)
    if mean is None:
        raise FrostlineError(
            f"an item fold of val-cold has no {metric}, so nothing can be tuned on it. "
            "Use a larger split.val or fewer split.val_folds"
        )
    return mean


def best_point(figures: np.ndarray) -> int:
    """The point (row) of the highest mean over folds (columns); the first of equals."""
    return int(figures.mean(axis=1).argmax())


def nested_choice(figures: np.ndarray) -> np.ndarray:
    """For each fold the point that is best on the other folds.

    Parameters
    ----------
    figures : ndarray of float, shape (n_points, n_folds)

    Returns
    -------
    ndarray of int, shape (n_folds,)
    """
    return np.array([best_point(np.delete(figures, fold, axis=1)) for fold in range(figures.shape[1])])


def tuned_record(primary: str, points: list[dict], figures: np.ndarray) -> dict:
    """What `tuned.json` says: the point that is best by all folds, and the figures of all points."""
    return {
        "metric": primary,
        "point": best_point(figures),
        "points": [
            {**point, "folds": row.tolist(), "mean": float(row.mean())}
            for point, row in zip(points, figures, strict=True)
        ],
    }
