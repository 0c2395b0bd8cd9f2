"""What the users with the most similar histories took."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from frostline.sparse import SparseScores
from frostline.systems import Known, Queries, System


@dataclass(frozen=True)
class UserSessionKNN(System):
    """Σ over the k most similar training sequences of cosine · whether they hold the item; the history that is asked fades.

    V-SKNN without its recency of sessions, Ludewig & Jannach (UMUAI 28, 2018), section 3.2; a user's sequence is a session.

    Parameters
    ----------
    k : int
        Neighbours; those as similar as the k-th come along.
    decay : float
        As in `sequential_rules`.
    """

    k: int = 100
    decay: float = 0.8

    def __post_init__(self) -> None:
        if self.k < 1 or not 0 <= self.decay <= 1:
            raise ValueError("k must be at least 1 and decay between 0 and 1")

    def fit(self, known: Known) -> tuple[csr_array, np.ndarray]:
        taken = known.train.matrix(known.n_queries, known.n_items)
        taken.data[:] = 1
        return taken, np.sqrt(taken.sum(axis=1))

    def score(self, model, known: Known, queries: Queries) -> SparseScores:
        taken, length = model
        history = queries.history.matrix(len(queries), known.n_items, self.decay)
        near = csr_array(history @ taken.T)
        near.data /= length[near.indices]  # the query's own length moves none of its scores
        for query in range(len(queries)):
            values = near.data[near.indptr[query] : near.indptr[query + 1]]
            if len(values) > self.k:
                values[values < np.partition(values, -self.k)[-self.k]] = 0
        near.eliminate_zeros()
        scores = csr_array(near @ taken).astype(np.float32)
        scores.sort_indices()
        return SparseScores(scores, np.float32(0))
