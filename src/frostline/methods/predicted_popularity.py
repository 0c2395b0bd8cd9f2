"""How popular the content makes an item: ridge regression from content to log popularity. The same for every user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.api import Bilinear, Content, Warm
from frostline.ridge import Ridge, RidgeMethod


@dataclass(frozen=True)
class PredictedPopularity(RidgeMethod):
    """Learned on warm items, `log(1 + interactions)`."""

    needs = ("train", "content")

    def fit(self, warm: Warm) -> dict[str, np.ndarray]:
        popularity = np.log1p(np.bincount(warm.train.indices, minlength=warm.train.shape[1]))
        return Ridge.fit(warm.content.matrix, popularity[:, None], self.alpha).to_arrays()

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        return Bilinear(np.ones((warm.n_queries, 1), np.float32), Ridge(**model).predict(cold.matrix))
