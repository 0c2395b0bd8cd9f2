"""k nearest neighbours on warm scores from which each item's mean over the users was taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.api import Bilinear, Content, Warm
from frostline.neighbours import NeighbourMethod, nearest


@dataclass(frozen=True)
class DebiasedKNN(NeighbourMethod):
    """`S = (S_warm − 1 μᵀ) Mᵀ`, μ being the items' mean scores: what is left is taste, not popularity."""

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        mixing = nearest(self.similarity(warm, cold), self.k)
        mean = warm.donor.right.astype(np.float64) @ np.asarray(warm.donor.left.mean(axis=0, dtype=np.float64)).ravel()
        return Bilinear(warm.donor.left, mixing @ warm.donor.right).plus_items(-(mixing @ mean))
