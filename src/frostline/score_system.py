"""Stage `score_system`: let a system learn from train, and score all items for the queries of a fold. No label is read."""

from __future__ import annotations

from frostline import asked
from frostline.artifacts import Job


def run(job: Job) -> None:
    """Read `items`, `queries`, `train`, `history`, `excluded`, `catalogue` where needed, `tuned`; write `scores`."""
    system, known = asked.chosen_system(job), asked.known(job)
    scores = system.score(system.fit(known), known, asked.queries(job))
    job.write_arrays("scores", scores.to_arrays())
