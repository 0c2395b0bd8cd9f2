"""Stage `tune_system`: choose a point of a system's grid by val labels, and give the val scores of an honest choice."""

from __future__ import annotations

import numpy as np

from frostline.artifacts import Job
from frostline.errors import FrostlineError
from frostline.evaluation import evaluate_scores, exact_mean
from frostline.folds import user_folds
from frostline.ranking import Metric, Pairs
from frostline.sparse import SparseScores, mixed_rows, unstacked
from frostline.tuning import nested_choice, tuned_record


def run(job: Job) -> None:
    """Read `grid`, `queries`, `excluded` and val `labels`; write `tuned` and `scores`.

    `tuned` holds the point of the highest mean over folds of the queries, and the figures of all. `scores` are nested: a
    query's come from the point that is best on the **other** folds, so that a large grid gains nothing on val by its size.
    """
    params = job.params
    labels, barred = job.read_table("labels"), job.read_table("excluded")
    grid = unstacked(job.read_arrays("grid"))
    folds = user_folds(len(grid[0]), params["val_folds"], params["seed"])
    relevant, excluded = ((t["query"].to_numpy(), t["item"].to_numpy()) for t in (labels, barred))
    metric = Metric.parse(params["primary"])
    figures = np.array(
        [fold_figures(point, relevant, excluded, folds, params["val_folds"], metric, params["ties"]) for point in grid]
    )
    points = [{"donor": {}, "options": options} for options in params["points"]]
    job.write_json("tuned", tuned_record(params["primary"], points, figures))
    job.write_arrays("scores", mixed_rows(grid, nested_choice(figures)[folds]).to_arrays())


def fold_figures(
    scores: SparseScores, relevant: Pairs, excluded: Pairs, folds: np.ndarray, n_folds: int, metric: Metric, ties: str
) -> list[float]:
    """Mean of a metric over the queries of each fold; FrostlineError where a fold has none."""
    whole = [np.arange(scores.shape[1])]
    values = evaluate_scores(scores, *relevant, whole, (metric,), ties, excluded=excluded).values[:, 0]
    means = [exact_mean(values[folds == fold]) for fold in range(n_folds)]
    if None in means:
        raise FrostlineError(f"a fold of the val queries has no {metric}, so nothing can be tuned on it. Use more data")
    return means
