"""Whose labels taught a meta-method, and whom it is judged on (C7)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.artifacts import Job
from frostline.audit.checks import FAILED, WARNING, check
from frostline.meta import SHARED
from frostline.results import Results

NAME = "no meta-method is judged on users whose labels taught it"


def meta_user_checks(job: Job, results: Results) -> list[dict[str, str]]:
    """Hold the users who taught each group's model against those whom it scored and on whom the system is judged.

    Both are as `fit_meta` and `score_meta` recorded them while they learned and scored. Where the config has
    `meta_users: shared` the two are the same on purpose, and the check is a warning.
    """
    problems = []
    queries = {seed: job.read_table(f"queries[{seed}]", columns=["query"])["query"] for seed in results.seeds}
    systems = sorted(job.family("taught"))
    for seed, system in systems:
        learned, scored = job.read_arrays(f"taught[{seed},{system}]"), job.read_arrays(f"scored[{seed},{system}]")
        judged = _judged(queries[int(seed)], results.per_query[int(seed), system]["query"])
        for fold, by in (("val", learned["scored_by"]), ("test", scored["scored_by"])):
            own = int((learned["teaches"][by, np.arange(len(by))] & judged).sum())
            if own:
                problems.append(f"seed {seed}: '{system}' is judged on {own:,} users whose labels taught it ({fold})")
    holds = f"{len({system for _, system in systems})} meta-methods, whose every user is scored by a model of others"
    return [check(NAME, problems, holds, WARNING if job.params["split"]["meta_users"] == SHARED else FAILED)]


def _judged(queries: pa.ChunkedArray, evaluated: pa.ChunkedArray) -> np.ndarray:
    return pc.is_in(queries, evaluated.combine_chunks().cast(queries.type)).to_numpy(zero_copy_only=False)
