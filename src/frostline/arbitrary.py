"""Arbitrary labels in place of the held-out ones, for the audit of non-interference."""

from __future__ import annotations

import numpy as np

from frostline.artifacts import Job
from frostline.seeds import generator


def a_candidate_each(job: Job) -> np.ndarray:
    """For every query of a split an item at random that is none of its `excluded_test`; int64, shape (n_queries,)."""
    n_items, n_queries = job.read_table("items").num_rows, job.read_table("queries").num_rows
    barred = job.read_table("excluded_test")
    taken = barred["query"].to_numpy() * np.int64(n_items) + barred["item"].to_numpy()
    rng, query = generator(job.params["seed"], "relabel"), np.arange(n_queries)
    drawn = rng.integers(n_items, size=n_queries)
    while (wrong := np.isin(query * n_items + drawn, taken)).any():
        drawn[wrong] = rng.integers(n_items, size=wrong.sum())
    return drawn
