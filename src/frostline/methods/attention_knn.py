"""Mean of the warm scores of the k nearest items by content, weighted by the softmax of similarity / temperature."""

from __future__ import annotations

from dataclasses import dataclass

from frostline.api import Bilinear, Content, Method, Warm
from frostline.neighbours import attention, cosine


@dataclass(frozen=True)
class AttentionKNN(Method):
    k: int = 20
    temperature: float = 0.1

    needs = ("content", "donor")

    def __post_init__(self) -> None:
        if self.k < 1 or self.temperature <= 0:
            raise ValueError("k must be at least 1 and temperature above 0")

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        mixing = attention(cosine(cold.matrix, warm.content.matrix), self.k, self.temperature)
        return Bilinear(warm.donor.left, mixing @ warm.donor.right)
