"""Mean of the warm scores of the k nearest items by content, weighted by the softmax of similarity / temperature."""

from __future__ import annotations

from dataclasses import dataclass

from frostline.api import Bilinear, Content, Warm
from frostline.neighbours import NeighbourMethod, attention


@dataclass(frozen=True)
class AttentionKNN(NeighbourMethod):
    temperature: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.temperature <= 0:
            raise ValueError("temperature must be above 0")

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        mixing = attention(self.similarity(warm, cold), self.k, self.temperature)
        return Bilinear(warm.donor.left, mixing @ warm.donor.right)
