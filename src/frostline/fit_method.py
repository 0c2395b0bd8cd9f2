"""Stage `fit_method`: let a method learn from warm items what it needs to score cold ones."""

from __future__ import annotations

from frostline import registry
from frostline.artifacts import Job
from frostline.loading import warm_knowledge


def run(job: Job) -> None:
    """Read what the method needs of `train`, `items`, `content` (warm) and `donor`; write `model`."""
    method = registry.load("methods", job.params["method"])(**job.params["options"])
    job.write_arrays("model", method.fit(warm_knowledge(job, method.needs)))
