"""Alternating least squares for implicit feedback (Hu, Koren & Volinsky, ICDM 2008), as `implicit` computes it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from frostline.api import Bilinear, Donor
from frostline.seeds import sequence


@dataclass(frozen=True)
class ALS(Donor):
    """Weighted matrix factorisation; the confidence of an interaction is its weight times `alpha`."""

    factors: int = 64
    regularization: float = 0.05
    iterations: int = 20
    alpha: float = 1.0

    def __post_init__(self) -> None:
        if self.factors < 1 or self.iterations < 1 or self.regularization < 0 or self.alpha <= 0:
            raise ValueError("factors and iterations must be at least 1, regularization at least 0, alpha above 0")

    def fit(self, train: csr_array, seed: int) -> Bilinear:
        from implicit.cpu.als import AlternatingLeastSquares

        model = AlternatingLeastSquares(
            factors=self.factors,
            regularization=self.regularization,
            iterations=self.iterations,
            alpha=self.alpha,
            dtype=np.float32,
            num_threads=1,
            random_state=int(sequence(seed, "als").generate_state(1)[0]),
        )
        model.fit(csr_matrix(train), show_progress=False)
        return Bilinear(model.user_factors, model.item_factors)
