"""A random walk over the known links that returns to the query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from frostline.sparse import SparseScores
from frostline.systems import Known, Queries, System


@dataclass(frozen=True)
class PersonalisedPageRank(System):
    """Page, Brin, Motwani & Winograd, "The PageRank citation ranking" (Stanford, 1999), restarted at the query's item as
    Haveliwala does (WWW 2002). What cannot be reached from there is worth nothing.

    Parameters
    ----------
    damping : float
        Probability of another step.
    steps : int
        Terms of the series Σ (1 − d) dᵗ Pᵗ that are summed.
    """

    damping: float = 0.85
    steps: int = 30

    def __post_init__(self) -> None:
        if not 0 <= self.damping < 1 or self.steps < 1:
            raise ValueError("damping must be at least 0 and below 1, and steps at least 1")

    def fit(self, known: Known) -> csr_array:
        source, target = known.links
        links = csr_array((np.ones(len(source)), (source, target)), shape=(known.n_items, known.n_items))
        links.data[:] = 1
        degree = links.sum(axis=1)
        return csr_array(diags_array(np.divide(1, degree, out=np.zeros_like(degree), where=degree > 0)) @ links)

    def score(self, model: csr_array, known: Known, queries: Queries) -> SparseScores:
        walk = queries.history.matrix(len(queries), known.n_items)
        total = (1 - self.damping) * walk
        for _ in range(self.steps):
            walk = self.damping * (walk @ model)
            total = total + (1 - self.damping) * walk
        # In single precision, rounded: items of the same place in the graph must tie.
        total = csr_array(total.astype(np.float32))
        total.data = total.data.round(6)
        total.sort_indices()
        return SparseScores(total, np.float32(0))
