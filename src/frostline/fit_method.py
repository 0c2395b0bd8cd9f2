"""Stage `fit_method`: let a method learn from warm items what it needs to score cold ones."""

from __future__ import annotations

from frostline.artifacts import Job
from frostline.loading import chosen_method, warm_knowledge


def run(job: Job) -> None:
    """Read what the method needs of `train`, `items`, `content` (warm) and its donor, and `tuned`; write `model`."""
    method, donor = chosen_method(job)
    job.write_arrays("model", method.fit(warm_knowledge(job, method.needs, donor)))
