"""Stage `content`: turn item content into features, fitted on warm items (see `frostline.encoding`)."""

from __future__ import annotations

import numpy as np

from frostline.artifacts import Job
from frostline.encoding import encode
from frostline.folds import TEST, VAL, WARM


def run(job: Job) -> None:
    """Read `catalogue` (ingest's items) and `items` (the split's); write `warm`, `val`, `test` and `vocabulary`."""
    items = job.read_table("items")
    fold = items["fold"].to_numpy(zero_copy_only=False)
    ids = items["item_id"].combine_chunks()
    content, vocabulary = encode(job.read_table("catalogue"), ids, fold == WARM, job.params["content"])
    for name in (WARM, VAL, TEST):
        job.write_arrays(name, content.take(np.flatnonzero(fold == name)).to_arrays())
    job.write_json("vocabulary", vocabulary)
