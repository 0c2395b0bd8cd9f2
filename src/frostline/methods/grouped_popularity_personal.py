"""Baseline: personal Grouped Most Popular. A cold item scores how often the user chose its categories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from frostline.api import Bilinear, Content, Method, Warm


@dataclass(frozen=True)
class GroupedPopularityPersonal(Method):
    needs = ("train", "content")
    content_kind = "categories"

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        seen = csr_array((np.ones_like(warm.train.data), warm.train.indices, warm.train.indptr), shape=warm.train.shape)
        chosen = (seen @ warm.content.of_kind("categories")).toarray()
        return Bilinear(chosen, cold.of_kind("categories").toarray())
