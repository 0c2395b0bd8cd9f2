"""Item-based nearest neighbours (Deshpande & Karypis, "Item-based top-N recommendation", ACM TOIS 22(1), 2004)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from frostline.api import Bilinear, Donor, binary
from frostline.neighbours import membership


@dataclass(frozen=True)
class ItemKNN(Donor):
    """Scores `Y B` of the binary history Y, B holding each item's `k` largest cosines to other items, shrunk.

    `c / (√(n_i n_j) + shrinkage)` for c users in common; similarities are dense, so more than `max_items` warm items are
    refused.
    """

    k: int = 100
    shrinkage: float = 10.0
    max_items: int = 20_000

    def __post_init__(self) -> None:
        if self.k < 1 or self.shrinkage < 0:
            raise ValueError("k must be at least 1 and shrinkage at least 0")

    def fit(self, train: csr_array, seed: int) -> Bilinear:
        self.refuse_many_items(train.shape[1], self.max_items)
        history = binary(train)
        common = (history.T @ history).toarray()
        length = np.sqrt(np.diag(common))
        similarity = common / np.maximum(np.outer(length, length) + self.shrinkage, 1e-12)
        np.fill_diagonal(similarity, 0.0)
        # Row i of `right` are the weights with which the items of a history speak for item i.
        return Bilinear(history, (similarity * membership(similarity, self.k)).astype(np.float32))
