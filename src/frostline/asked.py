"""Turn the files of a split back into what systems receive."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from frostline import registry
from frostline.artifacts import Job
from frostline.systems import Events, Known, Queries, System

DEPTH = 200
"""Length of the lists that a system gives at least, where it does not score all."""


def point(job: Job, number: int) -> System:
    """The system with the parameters of a point of its grid."""
    return registry.load("systems", job.params["component"])(**job.params["points"][number])


def chosen_system(job: Job) -> System:
    """The system with the parameters that `tuned` names, or the only ones there are."""
    return point(job, job.read_json("tuned")["point"] if "tuned" in job.inputs else 0)


def known(job: Job) -> Known:
    """Read `items`, `queries`, `train` and, where it was declared, `catalogue`."""
    items, train = job.read_table("items"), job.read_table("train")
    content = None
    if "catalogue" in job.inputs:
        catalogue = job.read_table("catalogue")
        rows = pc.index_in(items["item_id"].combine_chunks(), catalogue["item_id"].combine_chunks())
        content = {name: catalogue[name].combine_chunks().take(rows).to_pylist() for name in job.params["content"]}
    domain = None
    if "domain" in items.column_names:
        domain = items["domain"].combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False)
    return Known(
        job.read_table("queries").num_rows,
        items.num_rows,
        job.params["seed"],
        max(DEPTH, 2 * max(job.params["k"])),
        _events(job, "train"),
        (train["source"].to_numpy(), train["item"].to_numpy()) if "source" in train.column_names else None,
        domain,
        content,
        {name: spec["as"] for name, spec in job.params["content"].items()},
    )


def queries(job: Job) -> Queries:
    """Read `queries`, `history` and `excluded`."""
    barred = job.read_table("excluded")
    pairs = barred["query"].to_numpy(), barred["item"].to_numpy()
    return Queries(job.read_table("queries")["query"].to_pylist(), _events(job, "history"), pairs)


def _events(job: Job, name: str) -> Events:
    table = job.read_table(name)
    time = table["time"].fill_null(np.iinfo(np.int64).min).to_numpy() if "time" in table.column_names else None
    return Events(table["query"].to_numpy(), table["item"].to_numpy(), time)
