"""The donor's vectors of all warm items, weighted by the softmax of similarity / temperature."""

from __future__ import annotations

from dataclasses import dataclass

from frostline.api import Bilinear, Content, Method, Warm
from frostline.neighbours import attention, cosine


@dataclass(frozen=True)
class AttentionEmbedding(Method):
    """Attention with the content as query and keys and the vectors as values.

    With a bilinear donor, mixing vectors and mixing scores is the same, so this is `attention_knn` without a limit on the
    neighbours.
    """

    temperature: float = 0.1

    needs = ("content", "donor")
    needs_factors = True

    def __post_init__(self) -> None:
        if self.temperature <= 0:
            raise ValueError("temperature must be above 0")

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        similarity = cosine(cold.matrix, warm.content.matrix)
        mixing = attention(similarity, similarity.shape[1], self.temperature)
        return Bilinear(warm.donor.left, mixing @ warm.donor.right)
