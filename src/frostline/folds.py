"""Names of the folds, the item folds within val-cold by which everything on val is judged, and the halves of the users."""

from __future__ import annotations

import numpy as np

from frostline.seeds import generator

WARM, VAL, TEST = "warm", "val", "test"


def candidate_rows(fold_of: np.ndarray, candidates: str, fold: str) -> np.ndarray:
    """Row numbers of the items that are ranked on a fold: its own, or 'all' (see `frostline.protocol`)."""
    return np.arange(len(fold_of)) if candidates == "all" else np.flatnonzero(fold_of == fold)


def item_folds(n_items: int, n_folds: int, seed: int) -> np.ndarray:
    """Assign items to folds of sizes that differ by one at most.

    Val figures of every system are means over these folds, the candidates being a fold's items, so that a system that
    learns from the labels of the other folds and one that learns from none are judged alike.

    Returns
    -------
    ndarray of int64, shape (n_items,)
    """
    return generator(seed, "val-folds").permutation(np.arange(n_items) % n_folds)


def pseudo_folds(n_items: int, n_folds: int, seed: int) -> np.ndarray:
    """Assign warm items to the folds that are played cold in turn (see `frostline.pseudo_split`); as `item_folds`."""
    return generator(seed, "pseudo-folds").permutation(np.arange(n_items) % n_folds)


def meta_half(n_queries: int, seed: int) -> np.ndarray:
    """A random half of the queries, as a mask: the users whose labels train a meta-model (see `frostline.meta`)."""
    return generator(seed, "meta-users").permutation(np.arange(n_queries) % 2 == 0)


def user_folds(n_queries: int, n_folds: int, seed: int) -> np.ndarray:
    """Assign queries to folds, where val is judged and learned from out of fold over users; as `item_folds`."""
    return generator(seed, "user-folds").permutation(np.arange(n_queries) % n_folds)
