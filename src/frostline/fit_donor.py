"""Stage `fit_donor`: train a recommender on warm interactions."""

from __future__ import annotations

import numpy as np

from frostline import registry
from frostline.artifacts import Job
from frostline.errors import FrostlineError
from frostline.loading import train_matrix


def run(job: Job) -> None:
    """Read `train`, `items`, `queries`; write `donor`: `left` [n_queries × d] and `right` [n_warm × d]."""
    donor = registry.load("donors", job.params["donor"])(**job.params["options"])
    train = train_matrix(job)
    model = donor.fit(train, job.params["seed"])
    for side, expected in zip((model.left, model.right), train.shape, strict=True):
        values = side.data if hasattr(side, "indptr") else side
        if side.shape[0] != expected or not np.isfinite(values).all():
            raise FrostlineError(
                f"donor '{job.params['donor']}' gave {side.shape[0]} rows where {expected} were expected, or values that "
                "are not finite. Check its parameters"
            )
    job.write_arrays("donor", {"left": model.left, "right": model.right})
