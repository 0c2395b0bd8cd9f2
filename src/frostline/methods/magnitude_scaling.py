"""`linmap`, with the norm of each mapped vector pulled halfway to the mean norm of warm items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.api import Bilinear, Content, Warm
from frostline.ridge import DonorRidgeMethod, Ridge


@dataclass(frozen=True)
class MagnitudeScaling(DonorRidgeMethod):
    """Regression shrinks what it is unsure of, and in a dot product a short vector is an unpopular item."""

    needs_factors = True

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        vectors = Ridge(**model).predict(cold.matrix)
        norm = np.linalg.norm(vectors, axis=1, keepdims=True)
        target = (norm + np.linalg.norm(warm.donor.right, axis=1).mean()) / 2
        return Bilinear(warm.donor.left, vectors * np.divide(target, norm, out=np.zeros_like(norm), where=norm > 0))
