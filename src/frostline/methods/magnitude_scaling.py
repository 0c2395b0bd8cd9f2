"""`linmap`, with the norm of each mapped vector pulled halfway to the mean norm of warm items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.api import Bilinear, Content, Method, Warm
from frostline.ridge import Ridge


@dataclass(frozen=True)
class MagnitudeScaling(Method):
    """Regression shrinks what it is unsure of, and in a dot product a short vector is an unpopular item."""

    alpha: float = 10.0

    needs = ("content", "donor")

    def __post_init__(self) -> None:
        if self.alpha <= 0:
            raise ValueError("alpha must be above 0")

    def fit(self, warm: Warm) -> dict[str, np.ndarray]:
        return Ridge.fit(warm.content.matrix, warm.donor.right, self.alpha).to_arrays()

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        vectors = Ridge(**model).predict(cold.matrix)
        norm = np.linalg.norm(vectors, axis=1, keepdims=True)
        target = (norm + np.linalg.norm(warm.donor.right, axis=1).mean()) / 2
        return Bilinear(warm.donor.left, vectors * np.divide(target, norm, out=np.zeros_like(norm), where=norm > 0))
