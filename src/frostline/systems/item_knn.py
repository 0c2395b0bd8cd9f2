"""Items that the same users took, weighted by how recent the history's items are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from frostline.sparse import SparseScores
from frostline.systems import Known, Queries, System


@dataclass(frozen=True)
class ItemKNN(System):
    """Σ over the history of decay^lag · cosine of the two items' columns of users (Sarwar et al., WWW 2001).

    Parameters
    ----------
    decay : float
        As in `sequential_rules`.
    shrinkage : float
        Added to the denominator of the cosine, so that few users in common count for less.
    """

    decay: float = 0.8
    shrinkage: float = 0.0

    def __post_init__(self) -> None:
        if self.shrinkage < 0 or not 0 <= self.decay <= 1:
            raise ValueError("shrinkage must be at least 0 and decay between 0 and 1")

    def fit(self, known: Known) -> csr_array:
        taken = known.train.matrix(known.n_queries, known.n_items)
        taken.data[:] = 1
        together = csr_array(taken.T @ taken).tocoo()
        length = np.sqrt(taken.sum(axis=0))
        row, column = together.coords
        cosine = together.data / (length[row] * length[column] + self.shrinkage)
        cosine[row == column] = 0
        return csr_array((cosine, (row, column)), shape=together.shape)

    def score(self, model: csr_array, known: Known, queries: Queries) -> SparseScores:
        scores = csr_array(queries.history.matrix(len(queries), known.n_items, self.decay) @ model).astype(np.float32)
        scores.sort_indices()
        return SparseScores(scores, np.float32(0))
