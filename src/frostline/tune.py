"""Stage `tune`: choose a point of a system's grid by val-cold labels, and give the val scores of an honest choice."""

from __future__ import annotations

import numpy as np

from frostline.api import BLOCK
from frostline.artifacts import Job
from frostline.labels import val_labels
from frostline.ranking import Metric
from frostline.tuning import GridPoint, fold_figure, nested_choice, tuned_record


def run(job: Job) -> None:
    """Read `grid`, `items`, `queries` and val `labels`; write `tuned` and `scores`.

    `tuned` holds the point of the highest mean over item folds, and the figures of all. `scores` are nested: an item's
    come from the point that is best on the **other** folds, so that a large grid gains nothing on val by its size.
    """
    params = job.params
    known = val_labels(job)
    stacked = job.read_array("grid")
    metric = Metric.parse(params["primary"])
    points = [GridPoint(stacked, number, known.n_queries) for number in range(len(params["points"]))]
    folds = range(params["val_folds"])
    figures = np.array(
        [
            [fold_figure(point, known.query, known.column, known.fold == f, metric, params["ties"]) for f in folds]
            for point in points
        ]
    )
    job.write_json("tuned", tuned_record(params["primary"], params["points"], figures))
    chosen = nested_choice(figures)
    with job.array_writer("scores", (known.n_queries, len(known.fold)), np.float32) as write:
        for start in range(0, known.n_queries, BLOCK):
            block = np.empty((min(BLOCK, known.n_queries - start), len(known.fold)), np.float32)
            for number in np.unique(chosen):
                columns = np.isin(known.fold, np.flatnonzero(chosen == number))
                block[:, columns] = points[number][start : start + BLOCK][:, columns]
            write(block)
