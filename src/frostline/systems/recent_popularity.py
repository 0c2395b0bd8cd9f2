"""How often an item was taken lately, the same for every query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from frostline.sparse import SparseScores
from frostline.systems import Known, Queries, System

DAY = 86_400


@dataclass(frozen=True)
class RecentPopularity(System):
    """Σ 2^(−age / half-life) over an item's training events; the age is that at the last training event of all.

    Parameters
    ----------
    half_life : float
        Days.
    """

    half_life: float = 30.0

    def __post_init__(self) -> None:
        if self.half_life <= 0:
            raise ValueError("half_life must be above 0")

    def fit(self, known: Known) -> np.ndarray:
        if known.train.time is None:
            raise ValueError("recent_popularity needs times, and the interactions have none")
        age = known.train.time.max() - known.train.time
        weight = np.exp2(-age / (DAY * self.half_life))
        return np.bincount(known.train.item, weight, minlength=known.n_items)

    def score(self, model: np.ndarray, known: Known, queries: Queries) -> SparseScores:
        return SparseScores(csr_array((len(queries), known.n_items), dtype=np.float32), model.astype(np.float32))
