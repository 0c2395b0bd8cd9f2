"""Rewire pairs at random while every row and every column keeps its number of pairs."""

from __future__ import annotations

import numpy as np

ROUNDS = 20


def swap_partners(row: np.ndarray, column: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """New rows for the same columns: partners are exchanged between pairs of pairs, as often as none is then there twice.

    In each of `ROUNDS` rounds every pair meets another one at random, and they exchange partners with probability ½
    (checkerboard swaps: Rao, Jana & Bandyopadhyay, Sankhyā A, 1996; without the coin a chain of exchanges that all
    succeed would reach only every other graph).

    Parameters
    ----------
    row, column : ndarray of int, shape (n_pairs,)
        Different pairs.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int64, shape (n_pairs,)
        A permutation of `row`; with `column` again different pairs.
    """
    row, width = row.astype(np.int64), int(column.max(initial=0)) + 1
    for _ in range(ROUNDS):
        one, other = rng.permutation(len(row))[: len(row) // 2 * 2].reshape(2, -1)
        wanted = np.stack([row[other] * width + column[one], row[one] * width + column[other]])
        cell, inverse, count = np.unique(wanted, return_inverse=True, return_counts=True)
        is_free = (count == 1) & ~np.isin(cell, row * width + column)
        swapped = is_free[inverse.reshape(wanted.shape)].all(axis=0) & (rng.random(len(one)) < 0.5)
        one, other = one[swapped], other[swapped]
        row[one], row[other] = row[other], row[one]
    return row
