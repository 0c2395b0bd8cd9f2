"""Stage `grid`: fit every point of a system's grid and score the val-cold items with it. No label is among its inputs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from frostline import registry
from frostline.api import Content
from frostline.artifacts import Job
from frostline.loading import donor_of, warm_knowledge
from frostline.scoring import all_blocks, scores_of


def run(job: Job) -> None:
    """Read what the method needs, every point of its donor, and the val items' `cold` content; write `scores`.

    `scores` holds the points one below the other: row `p * n_queries + q` is query q under point p.
    """
    cold = Content.from_arrays(job.read_arrays("cold"))
    points = job.params["points"]
    method_class = registry.load("methods", job.params["method"])
    donor = points[0]["donor"]
    warm = warm_knowledge(job, method_class.needs, donor)
    shape = (len(points) * warm.n_queries, cold.matrix.shape[0])
    with job.array_writer("scores", shape, np.float32) as write:
        for point in points:
            if point["donor"] != donor:
                donor = point["donor"]
                warm = replace(warm, donor=donor_of(job, donor))
            method = method_class(**point["options"])
            scores = scores_of(method, method.fit(warm), warm, cold)
            for block in all_blocks(scores, warm.n_queries):
                write(block)
