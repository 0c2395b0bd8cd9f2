"""Matrix factorisation, the query's factors being worked out from its history."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from frostline.seeds import sequence
from frostline.sparse import SparseScores
from frostline.systems import Known, Queries, System, best_in_blocks


@dataclass(frozen=True)
class ALS(System):
    """Hu, Koren & Volinsky, "Collaborative filtering for implicit feedback datasets" (ICDM 2008), by the library implicit.

    The seed varies the factors' random start. The best items of a query are kept.

    Parameters
    ----------
    factors, iterations : int
    regularization, alpha : float
        An event has the confidence 1 + alpha.
    decay : float
        As in `sequential_rules`: an event of the history that is asked has the confidence 1 + alpha · decay^lag.
    """

    factors: int = 64
    iterations: int = 15
    regularization: float = 0.05
    alpha: float = 10.0
    decay: float = 0.9

    def __post_init__(self) -> None:
        if min(self.factors, self.iterations) < 1 or min(self.regularization, self.alpha) <= 0:
            raise ValueError("factors and iterations must be at least 1, regularization and alpha above 0")
        if not 0 <= self.decay <= 1:
            raise ValueError("decay must be between 0 and 1")

    def fit(self, known: Known) -> np.ndarray:
        from implicit.cpu.als import AlternatingLeastSquares

        taken = known.train.matrix(known.n_queries, known.n_items)
        taken.data[:] = self.alpha + 1
        model = AlternatingLeastSquares(
            factors=self.factors,
            regularization=self.regularization,
            iterations=self.iterations,
            num_threads=1,
            random_state=int(sequence(known.seed, "als").generate_state(1)[0]) >> 1,
        )
        model.fit(csr_matrix(taken.astype(np.float32)), show_progress=False)
        return np.asarray(model.item_factors, np.float64)

    def score(self, model: np.ndarray, known: Known, queries: Queries) -> SparseScores:
        history = queries.history.matrix(len(queries), known.n_items, self.decay)
        users = folded_in(model, history, self.alpha, self.regularization)
        return best_in_blocks(lambda start, stop: users[start:stop] @ model.T, known, queries)


def folded_in(items: np.ndarray, history: csr_array, alpha: float, regularization: float) -> np.ndarray:
    """Factors of queries: argmin Σ c (p − uᵀv)² + λ |u|², with p = 1 and c = 1 + alpha · weight where the history has an
    item, p = 0 and c = 1 elsewhere. Float64, shape (n_queries, n_factors)."""
    common = items.T @ items + regularization * np.eye(items.shape[1])
    factors = np.zeros((history.shape[0], items.shape[1]))
    for query in range(history.shape[0]):
        span = slice(history.indptr[query], history.indptr[query + 1])
        own, weight = items[history.indices[span]], alpha * history.data[span]
        factors[query] = np.linalg.solve(common + own.T @ (weight[:, None] * own), own.T @ (1 + weight))
    return factors
