"""How often an item is in training, the same for every query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from frostline.sparse import SparseScores
from frostline.systems import Known, Queries, System


@dataclass(frozen=True)
class Popularity(System):
    """`score(i) = number of training events of i`."""

    def score(self, model: None, known: Known, queries: Queries) -> SparseScores:
        counts = np.bincount(known.train.item, minlength=known.n_items)
        return SparseScores(csr_array((len(queries), known.n_items), dtype=np.float32), counts.astype(np.float32))
