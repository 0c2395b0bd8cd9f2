"""Cosine of the user's content profile, the sum of what he took, and the item's content. No donor."""

from __future__ import annotations

from dataclasses import dataclass

from frostline.api import Bilinear, Content, Method, Warm, binary
from frostline.neighbours import unit_rows


@dataclass(frozen=True)
class ContentProfile(Method):
    needs = ("train", "content")

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        profile = unit_rows((binary(warm.train) @ warm.content.matrix).tocsr())
        return Bilinear(profile, unit_rows(cold.matrix).toarray())
