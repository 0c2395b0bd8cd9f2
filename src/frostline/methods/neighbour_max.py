"""Highest warm score among the k nearest items by content, all that tie at the k-th place included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.api import Bilinear, Content, Warm
from frostline.neighbours import NeighbourMethod, membership


@dataclass(frozen=True)
class NeighbourMax(NeighbourMethod):
    def score(self, model: dict, warm: Warm, cold: Content) -> Highest:
        return Highest(warm.donor, membership(self.similarity(warm, cold), self.k) > 0)


@dataclass(frozen=True)
class Highest:
    """Maximum of the donor's scores over each cold item's neighbours, a mask of shape (n_cold, n_warm)."""

    donor: Bilinear
    neighbours: np.ndarray

    def block(self, start: int, stop: int) -> np.ndarray:
        # Transposed, so that an item's scores are one run of memory.
        scores = np.ascontiguousarray(self.donor.block(start, stop).T)
        return np.stack([scores[mask].max(axis=0) for mask in self.neighbours], axis=1)
