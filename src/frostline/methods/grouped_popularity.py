"""Baseline: Grouped Most Popular. A cold item scores the summed warm popularity of its categories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.api import Bilinear, Content, Method, Warm


@dataclass(frozen=True)
class GroupedPopularity(Method):
    needs = ("train", "content")
    content_kind = "categories"

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        popularity = np.bincount(warm.train.indices, minlength=warm.train.shape[1])
        # Counts stay exact in float64, so that items of equal count stay tied.
        of_category = warm.content.of_kind("categories").T.astype(np.float64) @ popularity
        scores = cold.of_kind("categories").astype(np.float64) @ of_category
        return Bilinear(np.ones((warm.n_queries, 1), np.float32), scores[:, None].astype(np.float32))
