"""Ridge regression from content straight to each user's interactions. No donor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import eye_array

from frostline.api import Bilinear, Content, Warm, binary
from frostline.ridge import Ridge, RidgeMethod


@dataclass(frozen=True)
class ContentRidge(RidgeMethod):
    """What `linmap` does to a donor's scores, done to the binary interactions: a donor that only remembers."""

    needs = ("train", "content")

    def fit(self, warm: Warm) -> dict[str, np.ndarray]:
        return Ridge.fit(warm.content.matrix, eye_array(warm.train.shape[1]).toarray(), self.alpha).to_arrays()

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        return Bilinear(binary(warm.train), Ridge(**model).predict(cold.matrix))
