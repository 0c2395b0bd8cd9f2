"""Stage `relabel`: a split as it is but for its test labels, which are arbitrary, for the audit of non-interference."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from frostline.artifacts import Job
from frostline.folds import TEST
from frostline.seeds import generator


def run(job: Job) -> None:
    """Copy a split's files; for `test`, which is no input, write one test-cold item at random for every query."""
    for name in job.inputs:
        job.copy(name, name)
    fold = job.read_table("items", columns=["fold"])["fold"].to_numpy(zero_copy_only=False)
    n_queries, like = job.read_table("queries").num_rows, job.read_table("val").schema
    drawn = generator(job.params["seed"], "relabel").choice(np.flatnonzero(fold == TEST), n_queries)
    columns = {"query": np.arange(n_queries), "item": drawn}
    job.write_table(
        "test",
        pa.table([pa.array(columns.get(f.name, np.ones(n_queries)).astype(np.int64)).cast(f.type) for f in like], like),
    )
