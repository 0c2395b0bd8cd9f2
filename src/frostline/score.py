"""Stage `score`: score the cold items for every query. No label is among its inputs."""

from __future__ import annotations

import numpy as np

from frostline.api import Content
from frostline.artifacts import Job
from frostline.folds import TEST, VAL
from frostline.loading import chosen_method, warm_knowledge
from frostline.scoring import all_blocks, scores_of


def run(job: Job) -> None:
    """Read what the method needs, its `model` and `tuned` if it has them, and a fold's `cold_<fold>`; write `scores_<fold>`.

    `scores_<fold>` is float32, shape (n_queries, n_candidates): rows as in `split/queries.parquet`, columns the fold's
    items in the order of `split/items.parquet`. A job does both folds or one: reading what the method needs, and starting
    a process, take longer than most scoring.
    """
    method, donor = chosen_method(job)
    warm = warm_knowledge(job, method.needs, donor)
    model = job.read_arrays("model") if "model" in job.inputs else {}
    for fold in (VAL, TEST):
        if f"scores_{fold}" in job.outputs:
            cold = Content.from_arrays(job.read_arrays(f"cold_{fold}"))
            scores = scores_of(method, model, warm, cold)
            with job.array_writer(f"scores_{fold}", (warm.n_queries, cold.matrix.shape[0]), np.float32) as write:
                for block in all_blocks(scores, warm.n_queries):
                    write(block)
