"""Val-cold labels, and the item folds in which they may be used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.artifacts import Job
from frostline.folds import VAL, item_folds


@dataclass(frozen=True)
class Labels:
    """Relevant pairs of val-cold.

    Attributes
    ----------
    n_queries : int
    query, column : ndarray of int, shape (n_pairs,)
        Columns count val-cold items, in the order of `split/items.parquet`.
    fold : ndarray of int, shape (n_items,)
        Item fold of each val-cold item.
    """

    n_queries: int
    query: np.ndarray
    column: np.ndarray
    fold: np.ndarray


def val_labels(job: Job) -> Labels:
    """Read `items`, `queries` and val `labels`; `val_folds` and `seed` are parameters."""
    is_val = job.read_table("items", columns=["fold"])["fold"].to_numpy(zero_copy_only=False) == VAL
    candidates = np.flatnonzero(is_val)
    labels = job.read_table("labels", columns=["query", "item"])
    return Labels(
        n_queries=job.read_table("queries").num_rows,
        query=labels["query"].to_numpy(),
        column=np.searchsorted(candidates, labels["item"].to_numpy()),
        fold=item_folds(len(candidates), job.params["val_folds"], job.params["seed"]),
    )
