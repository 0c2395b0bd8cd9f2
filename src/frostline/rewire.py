"""Stage `rewire`: the interactions with other users for the test-cold items, for the audit of non-interference.

Every user and every item keeps its number of interactions, and an item's interactions keep their times and weights. What
a split may know of test-cold items is thus the same, and who took which of them is not.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.artifacts import Job
from frostline.folds import TEST
from frostline.seeds import generator
from frostline.swaps import swap_partners


def run(job: Job) -> None:
    """Read `interactions` and one seed's split `items`; write `interactions`."""
    interactions, items = job.read_table("interactions"), job.read_table("items")
    cold = items["item_id"].filter(pc.equal(items["fold"], TEST))
    rows = np.flatnonzero(pc.is_in(interactions["item"], cold.combine_chunks()).to_numpy(zero_copy_only=False))
    users = interactions["user"].combine_chunks()
    names = users.unique()
    user = pc.index_in(users, names).to_numpy(zero_copy_only=False).copy()
    item = pc.index_in(interactions["item"].take(rows), cold.combine_chunks()).to_numpy()
    user[rows] = swap_partners(user[rows], item, generator(job.params["seed"], "rewire"))
    table = interactions.set_column(interactions.column_names.index("user"), "user", names.take(pa.array(user)))
    job.write_table("interactions", table.sort_by([("user", "ascending"), ("item", "ascending")]))
