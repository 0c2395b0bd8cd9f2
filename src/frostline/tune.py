"""Stage `tune`: choose a point of a system's grid by val-cold labels, and give the val scores of an honest choice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.api import BLOCK
from frostline.artifacts import ArrayFile, Job
from frostline.errors import FrostlineError
from frostline.evaluation import evaluate_scores, exact_mean
from frostline.folds import VAL, item_folds
from frostline.ranking import Metric


def run(job: Job) -> None:
    """Read `grid`, `items`, `queries` and val `labels`; write `tuned` and `scores`.

    `tuned` holds the point of the highest mean over item folds, and the figures of all. `scores` are nested: an item's
    come from the point that is best on the **other** folds, so that a large grid gains nothing on val by its size.
    """
    params = job.params
    fold = job.read_table("items", columns=["fold"])["fold"].to_numpy(zero_copy_only=False)
    candidates = np.flatnonzero(fold == VAL)
    labels = job.read_table("labels", columns=["query", "item"])
    query, column = labels["query"].to_numpy(), np.searchsorted(candidates, labels["item"].to_numpy())
    parts = item_folds(len(candidates), params["val_folds"], params["seed"])
    n_queries = job.read_table("queries").num_rows
    stacked = job.read_array("grid")
    metric = Metric.parse(params["primary"])
    points = [_Point(stacked, number * n_queries, n_queries) for number in range(len(params["points"]))]
    figures = np.array(
        [
            [
                fold_figure(point, query, column, parts == part, metric, params["ties"])
                for part in range(params["val_folds"])
            ]
            for point in points
        ]
    )
    job.write_json(
        "tuned",
        {
            "metric": params["primary"],
            "point": best_point(figures),
            "points": [
                {**point, "folds": row.tolist(), "mean": float(row.mean())}
                for point, row in zip(params["points"], figures, strict=True)
            ],
        },
    )
    chosen = nested_choice(figures)
    with job.array_writer("scores", (n_queries, len(candidates)), np.float32) as write:
        for start in range(0, n_queries, BLOCK):
            block = np.empty((min(BLOCK, n_queries - start), len(candidates)), np.float32)
            for number in np.unique(chosen):
                columns = np.isin(parts, np.flatnonzero(chosen == number))
                block[:, columns] = points[number][start : start + BLOCK][:, columns]
            write(block)


def fold_figure(scores, query: np.ndarray, column: np.ndarray, in_part: np.ndarray, metric: Metric, ties: str) -> float:
    """Mean of a metric over the queries that have a relevant item among the candidates of one item fold.

    Raises
    ------
    FrostlineError
        When no query has one.
    """
    own = in_part[column]
    result = evaluate_scores(scores, query[own], column[own], [np.flatnonzero(in_part)], (metric,), ties)
    mean = exact_mean(result.values[:, 0])
    if mean is None:
        raise FrostlineError(
            f"an item fold of val-cold has no {metric}, so nothing can be tuned on it. "
            "Use a larger split.val or fewer split.val_folds"
        )
    return mean


def best_point(figures: np.ndarray) -> int:
    """The point (row) of the highest mean over folds; the first of equals."""
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


@dataclass(frozen=True)
class _Point:
    """One point's rows of the stacked grid."""

    stacked: ArrayFile
    first: int
    n_queries: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_queries, self.stacked.shape[1]

    def __getitem__(self, rows: slice) -> np.ndarray:
        start, stop, _ = rows.indices(self.n_queries)
        return self.stacked[self.first + start : self.first + stop]
