"""k nearest neighbours whose scores are brought to one mean and one spread over the users, the same for every item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.api import Bilinear, Content, Warm
from frostline.neighbours import NeighbourMethod, nearest


@dataclass(frozen=True)
class ScaleShift(NeighbourMethod):
    """`(S − mean over users) / sd over users`, item by item; an item whose scores do not vary scores zero."""

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        left = warm.donor.left
        mixed = nearest(self.similarity(warm, cold), self.k) @ warm.donor.right.astype(np.float64)
        mean = np.asarray(left.mean(axis=0, dtype=np.float64)).ravel()
        second = left.T @ left
        second = np.asarray(second.toarray() if hasattr(second, "toarray") else second, np.float64) / left.shape[0]
        variance = np.einsum("ij,ij->i", mixed @ (second - np.outer(mean, mean)), mixed)
        sd = np.sqrt(np.maximum(variance, 0))
        scale = np.divide(1, sd, out=np.zeros_like(sd), where=sd > 1e-9 * np.abs(mixed).max(initial=1e-300))
        return Bilinear(left, (mixed * scale[:, None]).astype(np.float32)).plus_items(-(mixed @ mean) * scale)
