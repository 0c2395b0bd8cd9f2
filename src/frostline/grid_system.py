"""Stage `grid_system`: fit every point of a system's grid and score the queries of val with it. No label is read."""

from __future__ import annotations

from frostline import asked
from frostline.artifacts import Job
from frostline.sparse import stacked


def run(job: Job) -> None:
    """Read what `score_system` does, of val; write `scores`, one grid of them a point."""
    known, queries = asked.known(job), asked.queries(job)
    systems = [asked.point(job, number) for number in range(len(job.params["points"]))]
    job.write_arrays("scores", stacked([system.score(system.fit(known), known, queries) for system in systems]))
