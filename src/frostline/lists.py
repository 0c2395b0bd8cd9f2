"""What a system would show: the best candidates of every query."""

from __future__ import annotations

import numpy as np

from frostline.evaluation import BLOCK, Grid
from frostline.seeds import generator

NOBODY = -1


def top_lists(scores: Grid, k: int, seed: int) -> np.ndarray:
    """The columns of each query's k best candidates, best first.

    Ties are in an order drawn from the seed for the columns by their number, the same for every query and every system.

    Returns
    -------
    ndarray of int32, shape (n_queries, k)
        Filled up with `NOBODY` where there are fewer candidates.
    """
    n_queries, n_candidates = scores.shape
    order = generator(seed, "lists").permutation(n_candidates)
    lists = np.full((n_queries, k), NOBODY, np.int32)
    for start in range(0, n_queries, BLOCK):
        block = np.asarray(scores[start : start + BLOCK]).take(order, axis=1)
        found = _best(block, min(k, n_candidates))
        lists[start : start + BLOCK, : found.shape[1]] = order[found]
    return lists


def _best(block: np.ndarray, k: int) -> np.ndarray:
    """Positions of the k highest of each row, of equal ones the first."""
    n_rows, n = block.shape
    cut = np.partition(block, n - k, axis=1)[:, n - k]
    row, position = np.nonzero(block >= cut[:, None])
    is_last = block[row, position] == cut[row]
    # Of those that equal the k-th best, as many as there is room for beside the better ones.
    room = k - np.bincount(row[~is_last], minlength=n_rows)
    place = np.cumsum(is_last)
    before = np.concatenate([[0], np.cumsum(np.bincount(row[is_last], minlength=n_rows))[:-1]])
    kept = ~is_last | (place - before[row] <= room[row])
    chosen = position[kept].reshape(n_rows, k)
    best_first = np.argsort(-np.take_along_axis(block, chosen, axis=1), axis=1, kind="stable")
    return np.take_along_axis(chosen, best_first, axis=1)
