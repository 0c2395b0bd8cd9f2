"""EASE: a linear item–item model in closed form (Steck, "Embarrassingly Shallow Autoencoders for Sparse Data", WWW 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import inv
from scipy.sparse import csr_array

from frostline.api import Bilinear, Donor, binary


@dataclass(frozen=True)
class EASE(Donor):
    """Scores `Y B` of the binary history Y, with `B = I − P diag(P)⁻¹` and `P = (YᵀY + λI)⁻¹`: equation 8 of the paper.

    B is dense, so more than `max_items` warm items are refused: 20,000 of them take 3 GB.
    """

    regularization: float = 500.0
    max_items: int = 20_000

    def __post_init__(self) -> None:
        if self.regularization <= 0:
            raise ValueError("regularization must be above 0")

    def fit(self, train: csr_array, seed: int) -> Bilinear:
        self.refuse_many_items(train.shape[1], self.max_items)
        history = binary(train)
        gram = (history.T @ history).toarray().astype(np.float64)
        gram[np.diag_indices_from(gram)] += self.regularization
        inverse = inv(gram, overwrite_a=True, check_finite=False)
        weights = inverse / -np.diag(inverse)
        np.fill_diagonal(weights, 0.0)
        return Bilinear(history, np.ascontiguousarray(weights.T, dtype=np.float32))
