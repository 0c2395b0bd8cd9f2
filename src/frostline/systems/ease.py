"""A linear item–item model with a zero diagonal, applied to a history that fades."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.sparse import SparseScores
from frostline.systems import Known, Queries, System, best_in_blocks

MOST = 12_000
"""Queries of training, at most: a matrix of their number squared is inverted."""


@dataclass(frozen=True)
class EASE(System):
    """Steck, "Embarrassingly shallow autoencoders for sparse data" (WWW 2019): B = I − P / diag P with P = (XᵀX + λI)⁻¹.

    Catalogues of several domains have more items than users, so P is never made: by the identity of Woodbury it is
    (I − XᵀG X) / λ with G = (XXᵀ + λI)⁻¹, a matrix of users. The best items of a query are kept, the others count as never
    retrieved.

    Parameters
    ----------
    regularization : float
        λ.
    decay : float
        As in `sequential_rules`, for the history that is asked; training is on 0 and 1.
    """

    regularization: float = 50.0
    decay: float = 0.8

    def __post_init__(self) -> None:
        if self.regularization <= 0 or not 0 <= self.decay <= 1:
            raise ValueError("regularization must be above 0 and decay between 0 and 1")

    def fit(self, known: Known):
        from scipy.linalg import cho_factor, cho_solve

        if known.n_queries > MOST:
            raise ValueError(f"ease takes at most {MOST:,} users and there are {known.n_queries:,}; use item_knn")
        taken = known.train.matrix(known.n_queries, known.n_items)
        taken.data[:] = 1
        gram = (taken @ taken.T).toarray()
        gram[np.diag_indices_from(gram)] += self.regularization
        inverse = cho_solve(cho_factor(gram, overwrite_a=True), np.eye(len(gram)), overwrite_b=True)
        columns = taken.T.tocsr()
        own = np.empty(known.n_items)
        step = max(1, (1 << 26) // known.n_queries)
        for start in range(0, known.n_items, step):
            part = columns[start : start + step]
            own[start : start + step] = part.multiply(part @ inverse).sum(axis=1)
        return taken, inverse, (1 - own) / self.regularization

    def score(self, model, known: Known, queries: Queries) -> SparseScores:
        taken, inverse, diagonal = model
        history = queries.history.matrix(len(queries), known.n_items, self.decay)

        def block(start: int, stop: int) -> np.ndarray:
            near = (history[start:stop] @ taken.T).toarray() @ inverse
            return (taken.T @ near.T).T / (self.regularization * diagonal)

        return best_in_blocks(block, known, queries)
