"""Stage `fit_donor`: train a recommender on warm interactions, or check and read one that was trained elsewhere."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from frostline import registry
from frostline.api import Bilinear, Content, Donor
from frostline.artifacts import Job
from frostline.errors import FrostlineError
from frostline.folds import WARM
from frostline.loading import train_matrix
from frostline.seeds import restarted

BROUGHT = "brought_"
"""Inputs whose names begin so are files of the user's."""


def run(job: Job) -> None:
    """Read `train`, `items`, `queries`, and `content` or `brought_<name>`; write `donor`: `left` and `right`.

    The sides are of the shapes (n_queries, d) and (n_warm, d).
    """
    donor = registry.load("donors", job.params["donor"])(**job.params["options"])
    train = train_matrix(job)
    seed = restarted(job.params["seed"], job.params.get("restart", 0))
    if any(name.startswith(BROUGHT) for name in job.inputs):
        model = _read(job, donor)
    elif donor.needs_content:
        content = Content.from_arrays(job.read_arrays("content"))
        model = donor.fit(train, seed, content=content)
    else:
        model = donor.fit(train, seed)
    for side, expected in zip((model.left, model.right), train.shape, strict=True):
        values = side.data if hasattr(side, "indptr") else side
        if side.shape[0] != expected or not np.isfinite(values).all():
            raise FrostlineError(
                f"donor '{job.params['donor']}' gave {side.shape[0]} rows where {expected} were expected, or values that "
                "are not finite. Check its parameters"
            )
    job.write_arrays("donor", {"left": model.left, "right": model.right})


def _read(job: Job, donor: Donor) -> Bilinear:
    from frostline.brought import Known  # imports pyarrow.compute, which the donors that are trained here do without

    items = job.read_table("items")
    ids = items["item_id"].combine_chunks()
    is_warm = items["fold"].to_numpy(zero_copy_only=False) == WARM
    known = Known(
        job.read_table("queries")["query"].combine_chunks(),
        ids.filter(pa.array(is_warm)),
        ids.filter(pa.array(~is_warm)),
    )
    names = {name.removeprefix(BROUGHT): path for name, path in job.inputs.items() if name.startswith(BROUGHT)}
    files = {name: job.open_input(f"{BROUGHT}{name}") for name in names}
    try:
        return donor.read(files, names, known)
    finally:
        for file in files.values():
            file.close()
