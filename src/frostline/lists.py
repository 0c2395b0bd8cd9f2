"""What a system would show: the best candidates of every query."""

from __future__ import annotations

from typing import Any

import numpy as np

from frostline.seeds import generator

BLOCK = 4096
NOBODY = -1


def top_lists(scores: Any, k: int, seed: int, excluded: tuple[np.ndarray, np.ndarray] | None = None) -> np.ndarray:
    """The columns of each query's k best candidates, best first.

    Ties are in an order drawn from the seed for the columns by their number, the same for every query and every system.

    Parameters
    ----------
    scores : Grid or SparseScores
    k, seed : int
    excluded : pair of ndarray of int, optional
        Queries and columns that are no candidates.

    Returns
    -------
    ndarray of int32, shape (n_queries, k)
        Filled up with `NOBODY` where there are fewer candidates.
    """
    n_queries, n_candidates = scores.shape
    order = generator(seed, "lists").permutation(n_candidates)
    query, column = np.zeros((2, 0), np.int64) if excluded is None else excluded
    if hasattr(scores, "top"):
        return scores.top(k, np.argsort(order), (query, column))
    lists = np.full((n_queries, k), NOBODY, np.int32)
    for start in range(0, n_queries, BLOCK):
        block = np.asarray(scores[start : start + BLOCK])
        inside = (query >= start) & (query < start + len(block))
        if inside.any():
            block = block.copy()
            block[query[inside] - start, column[inside]] = -np.inf
        block = block.take(order, axis=1)
        found = _best(block, min(k, n_candidates))
        barred = np.take_along_axis(block, found, axis=1) == -np.inf
        lists[start : start + BLOCK, : found.shape[1]] = np.where(barred, NOBODY, order[found])
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
