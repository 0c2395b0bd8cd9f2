"""Mean of the warm scores of the k nearest items by content, weighted by cosine similarity."""

from __future__ import annotations

from dataclasses import dataclass

from frostline.api import Bilinear, Content, Method, Warm
from frostline.neighbours import cosine, nearest


@dataclass(frozen=True)
class KNN(Method):
    k: int = 20

    needs = ("content", "donor")

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError("k must be at least 1")

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        mixing = nearest(cosine(cold.matrix, warm.content.matrix), self.k)
        return Bilinear(warm.donor.left, mixing @ warm.donor.right)
