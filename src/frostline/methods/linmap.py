"""Ridge regression from content to warm scores.

The coefficients for one user's scores s are `(XᵀX + αI)⁻¹ Xᵀ s`. All users share the hat matrix, so with a bilinear donor
`S = U Vᵀ` it is enough to map the item factors: `W = (XᵀX + αI)⁻¹ Xᵀ V`, and a cold item of content x scores `U (x W)ᵀ`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve

from frostline.api import Bilinear, Content, Method, Warm


@dataclass(frozen=True)
class LinMap(Method):
    """No intercept and no centring: an item without content scores zero."""

    alpha: float = 10.0

    needs = ("content", "donor")

    def __post_init__(self) -> None:
        if self.alpha <= 0:
            raise ValueError("alpha must be above 0")

    def fit(self, warm: Warm) -> dict[str, np.ndarray]:
        features = warm.content.matrix.astype(np.float64)
        gram = (features.T @ features).toarray()
        gram[np.diag_indices_from(gram)] += self.alpha
        return {"map": solve(gram, features.T @ warm.donor.right.astype(np.float64), assume_a="pos").astype(np.float32)}

    def score(self, model: Mapping[str, np.ndarray], warm: Warm, cold: Content) -> Bilinear:
        return Bilinear(warm.donor.left, cold.matrix @ model["map"])
