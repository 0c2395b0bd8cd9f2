"""Stage `score_system`: let a system learn from train, and score all items for the queries of a fold. No label is read."""

from __future__ import annotations

import sys
import time

from frostline import asked
from frostline.artifacts import Job


def run(job: Job) -> None:
    """Read `items`, `queries`, `train`, `history`, `excluded`, `catalogue` where needed, `tuned`; write `scores`.

    What fitting and asking took goes to the log: an artifact holds no clock.
    """
    system, known, queries = asked.chosen_system(job), asked.known(job), asked.queries(job)
    start = time.perf_counter()
    model = system.fit(known)
    fitted = time.perf_counter()
    scores = system.score(model, known, queries)
    took = 1000 * (time.perf_counter() - fitted) / max(len(queries), 1)
    sys.stderr.write(f"frostline: fitted in {fitted - start:.2f} s, {took:.2f} ms a query\n")
    job.write_arrays("scores", scores.to_arrays())
