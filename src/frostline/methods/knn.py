"""Mean of the warm scores of the k nearest items by content, weighted by cosine similarity."""

from __future__ import annotations

from dataclasses import dataclass

from frostline.api import Bilinear, Content, Warm
from frostline.neighbours import NeighbourMethod, nearest


@dataclass(frozen=True)
class KNN(NeighbourMethod):
    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        mixing = nearest(self.similarity(warm, cold), self.k)
        return Bilinear(warm.donor.left, mixing @ warm.donor.right)
