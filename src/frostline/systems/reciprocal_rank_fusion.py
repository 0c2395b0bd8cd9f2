"""Several rankings as one, by the sum of the inverse places."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from frostline.sparse import SparseScores
from frostline.systems import Known, Queries, System
from frostline.systems.bm25 import BM25
from frostline.systems.lsa import LSA
from frostline.systems.metadata import Metadata
from frostline.systems.tfidf import TFIDF

FUSED = {"tfidf": TFIDF, "bm25": BM25, "lsa": LSA, "metadata": Metadata}
"""What can be fused, each with its default parameters."""


@dataclass(frozen=True)
class ReciprocalRankFusion(System):
    """Σ 1 / (k + place), Cormack, Clarke & Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
    learning methods" (SIGIR 2009). Tied items have the mean of their places; what is not among a system's first `depth`
    gets nothing from it.

    Parameters
    ----------
    signals : sequence of str
        Names out of `FUSED`.
    k : float
    """

    signals: tuple[str, ...] = field(default=("tfidf", "bm25"))
    k: float = 60.0

    needs = ("content",)

    def __post_init__(self) -> None:
        unknown = [name for name in self.signals if name not in FUSED]
        if unknown or not self.signals or self.k < 0:
            raise ValueError(f"signals must be of {', '.join(FUSED)}, and k at least 0")

    def fit(self, known: Known):
        systems = [FUSED[name]() for name in self.signals]
        return [(system, system.fit(known)) for system in systems]

    def score(self, model, known: Known, queries: Queries) -> SparseScores:
        parts = [system.score(fitted, known, queries) for system, fitted in model]
        total = sum(_inverse_places(part, known.depth, queries, self.k) for part in parts)
        total.sort_indices()
        return SparseScores(csr_array(total, dtype=np.float32), np.float32(0))


def _inverse_places(scores: SparseScores, depth: int, queries: Queries, k: float) -> csr_array:
    rows = []
    for query in range(len(scores)):
        items, values = scores.row(query)
        kept = ~np.isin(items, queries.barred(query))
        items, values = items[kept], values[kept]
        level, tied = np.unique(-values, return_inverse=True, return_counts=True)[1:]
        ahead = np.cumsum(tied) - tied
        place = (ahead + (tied + 1) / 2)[level]
        near = ahead[level] < depth
        rows.append((items[near], 1 / (k + place[near])))
    indptr = np.concatenate([[0], np.cumsum([len(items) for items, _ in rows])])
    items, values = (np.concatenate(part) for part in zip(*rows, strict=True))
    return csr_array((values, items, indptr), shape=scores.shape)
