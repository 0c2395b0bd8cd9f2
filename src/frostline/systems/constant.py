"""A control: all candidates tie, so every figure is exactly what chance is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from frostline.sparse import SparseScores
from frostline.systems import Known, Queries, System


@dataclass(frozen=True)
class Constant(System):
    """`score = 0`."""

    needs = ()

    def score(self, model: None, known: Known, queries: Queries) -> SparseScores:
        return SparseScores(csr_array((len(queries), known.n_items), dtype=np.float32), np.float32(0))
