"""Stage `score`: score every cold item of a fold for every query. No label is among its inputs."""

from __future__ import annotations

import numpy as np

from frostline.api import Content
from frostline.artifacts import Job
from frostline.loading import chosen_method, warm_knowledge
from frostline.scoring import all_blocks, scores_of


def run(job: Job) -> None:
    """Read what the method needs, its `model` and `tuned` if it has them, and the `cold` content; write `scores`.

    `scores` is float32, shape (n_queries, n_candidates): rows as in `split/queries.parquet`, columns the fold's items in
    the order of `split/items.parquet`.
    """
    method, donor = chosen_method(job)
    warm = warm_knowledge(job, method.needs, donor)
    model = job.read_arrays("model") if "model" in job.inputs else {}
    cold = Content.from_arrays(job.read_arrays("cold"))
    scores = scores_of(method, model, warm, cold)
    with job.array_writer("scores", (warm.n_queries, cold.matrix.shape[0]), np.float32) as write:
        for block in all_blocks(scores, warm.n_queries):
            write(block)
