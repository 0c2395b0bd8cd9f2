"""Baseline: personal Grouped Most Popular. A cold item scores how often the user chose its categories."""

from __future__ import annotations

from dataclasses import dataclass

from frostline.api import Bilinear, Content, Method, Warm, binary


@dataclass(frozen=True)
class GroupedPopularityPersonal(Method):
    needs = ("train", "content")
    content_kind = "categories"

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        chosen = (binary(warm.train) @ warm.content.of_kind("categories")).toarray()
        return Bilinear(chosen, cold.of_kind("categories").toarray())
