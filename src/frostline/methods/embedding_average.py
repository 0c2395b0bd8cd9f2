"""The plain mean of the factors of the k nearest items by content."""

from __future__ import annotations

from dataclasses import dataclass

from frostline.api import Bilinear, Content, Method, Warm
from frostline.neighbours import cosine, membership, row_means


@dataclass(frozen=True)
class EmbeddingAverage(Method):
    """Unlike `knn`, near and less near neighbours count the same."""

    k: int = 20

    needs = ("content", "donor")

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError("k must be at least 1")

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        mixing = row_means(membership(cosine(cold.matrix, warm.content.matrix), self.k))
        return Bilinear(warm.donor.left, mixing @ warm.donor.right)
