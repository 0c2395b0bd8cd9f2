"""Ridge regression from content to warm scores.

For one user's scores s over warm items of content X the coefficients are `(X̃ᵀX̃ + αI)⁻¹ X̃ᵀ s`, where X̃ is X less its
column means: an intercept, which is not penalised, stands for the mean. All users share the matrix in front of s, so
with a bilinear donor `S = U Vᵀ` it is enough to regress the item factors V: with `W = (X̃ᵀX̃ + αI)⁻¹ X̃ᵀ V`, a cold item of
content x scores `U (v̄ + (x − x̄) W)ᵀ`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from frostline.api import Bilinear, Content, Warm
from frostline.ridge import DonorRidgeMethod, Ridge


@dataclass(frozen=True)
class LinMap(DonorRidgeMethod):
    """Ridge with penalty `alpha` on features as `content` makes them, neither scaled nor weighted."""

    def score(self, model: Mapping[str, np.ndarray], warm: Warm, cold: Content) -> Bilinear:
        return Bilinear(warm.donor.left, Ridge(**model).predict(cold.matrix))
