"""The plain mean of the factors of the k nearest items by content."""

from __future__ import annotations

from dataclasses import dataclass

from frostline.api import Bilinear, Content, Warm
from frostline.neighbours import NeighbourMethod, membership, row_means


@dataclass(frozen=True)
class EmbeddingAverage(NeighbourMethod):
    """Unlike `knn`, near and less near neighbours count the same."""

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        mixing = row_means(membership(self.similarity(warm, cold), self.k))
        return Bilinear(warm.donor.left, mixing @ warm.donor.right)
