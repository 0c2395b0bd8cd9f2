"""Labels to learn from: of val-cold, with the item folds in which they may be used, and of pseudo-cold items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.artifacts import Job
from frostline.folds import VAL, item_folds


@dataclass(frozen=True)
class Labels:
    """Relevant pairs of val-cold, or of warm items that were played cold.

    Attributes
    ----------
    n_queries : int
    query, column : ndarray of int, shape (n_pairs,)
        Columns count val-cold items, in the order of `split/items.parquet`.
    fold : ndarray of int, shape (n_items,)
        Item fold of each val-cold item; -1 for a pseudo-cold item, whose labels anyone may know.
    """

    n_queries: int
    query: np.ndarray
    column: np.ndarray
    fold: np.ndarray


def val_labels(job: Job) -> Labels:
    """Read `items`, `queries` and val `labels`; `val_folds` and `seed` are parameters."""
    query, column, n_items = _pairs(job, "")
    fold = item_folds(n_items, job.params["val_folds"], job.params["seed"])
    return Labels(job.read_table("queries").num_rows, query, column, fold)


def pseudo_labels(job: Job, prefix: str) -> Labels:
    """Read `<prefix>items` and `<prefix>labels`, written by the stage `pseudo_split`, and `queries`."""
    query, column, n_items = _pairs(job, prefix)
    return Labels(job.read_table("queries").num_rows, query, column, np.full(n_items, -1))


def _pairs(job: Job, prefix: str) -> tuple[np.ndarray, np.ndarray, int]:
    is_val = job.read_table(f"{prefix}items", columns=["fold"])["fold"].to_numpy(zero_copy_only=False) == VAL
    candidates = np.flatnonzero(is_val)
    labels = job.read_table(f"{prefix}labels", columns=["query", "item"])
    return labels["query"].to_numpy(), np.searchsorted(candidates, labels["item"].to_numpy()), len(candidates)
