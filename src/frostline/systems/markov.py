"""What followed the last item of the history, in training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from frostline.sparse import SparseScores
from frostline.systems import Known, Queries, System
from frostline.systems.sequential_rules import following


@dataclass(frozen=True)
class Markov(System):
    """`score(i)` is how often `i` came directly after the last item, a Markov chain of the first order without smoothing."""

    def fit(self, known: Known) -> csr_array:
        return following(known, window=1)

    def score(self, model: csr_array, known: Known, queries: Queries) -> SparseScores:
        is_last = queries.history.lag == 0
        place = queries.history.query[is_last], queries.history.item[is_last]
        last = csr_array((np.ones(is_last.sum()), place), shape=(len(queries), known.n_items))
        scores = csr_array(last @ model).astype(np.float32)
        scores.sort_indices()
        return SparseScores(scores, np.float32(0))
