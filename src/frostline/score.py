"""Stage `score`: score every cold item of a fold for every query. No label is among its inputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline import registry
from frostline.api import BLOCK, Content, Scores
from frostline.artifacts import Job
from frostline.loading import warm_knowledge


def run(job: Job) -> None:
    """Read what the method needs, its `model` if it has one and the cold items' `cold` content; write `scores`.

    `scores` is float32, shape (n_queries, n_candidates): rows as in `split/queries.parquet`, columns the fold's items in
    the order of `split/items.parquet`.
    """
    method = registry.load("methods", job.params["method"])(**job.params["options"])
    warm = warm_knowledge(job, method.needs)
    model = job.read_arrays("model") if "model" in job.inputs else {}
    cold = Content.from_arrays(job.read_arrays("cold"))
    scores = score_distinct(method, model, warm, cold) if method.by_content else method.score(model, warm, cold)
    with job.array_writer("scores", (warm.n_queries, cold.matrix.shape[0]), np.float32) as write:
        for start in range(0, warm.n_queries, BLOCK):
            write(scores.block(start, min(start + BLOCK, warm.n_queries)))


@dataclass(frozen=True)
class Gathered:
    """Scores of distinct items, handed out to all items."""

    distinct: Scores
    column: np.ndarray

    def block(self, start: int, stop: int) -> np.ndarray:
        return self.distinct.block(start, stop)[:, self.column]


def score_distinct(method, model, warm, cold: Content) -> Scores:
    """Score items of equal content once, so that they are tied to the last bit."""
    matrix = cold.matrix
    matrix.sort_indices()
    first: dict[bytes, int] = {}
    rows, column = [], np.empty(matrix.shape[0], dtype=np.int64)
    for row in range(matrix.shape[0]):
        span = slice(matrix.indptr[row], matrix.indptr[row + 1])
        key = matrix.indices[span].tobytes() + matrix.data[span].tobytes()
        if key not in first:
            first[key] = len(rows)
            rows.append(row)
        column[row] = first[key]
    return Gathered(method.score(model, warm, cold.take(np.array(rows, dtype=np.int64))), column)
