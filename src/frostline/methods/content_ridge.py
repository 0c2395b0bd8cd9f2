"""Ridge regression from content straight to each user's interactions. No donor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import eye_array

from frostline.api import Bilinear, Content, Method, Warm, binary
from frostline.ridge import Ridge


@dataclass(frozen=True)
class ContentRidge(Method):
    """What `linmap` does to a donor's scores, done to the binary interactions: a donor that only remembers."""

    alpha: float = 10.0

    needs = ("train", "content")

    def __post_init__(self) -> None:
        if self.alpha <= 0:
            raise ValueError("alpha must be above 0")

    def fit(self, warm: Warm) -> dict[str, np.ndarray]:
        return Ridge.fit(warm.content.matrix, eye_array(warm.train.shape[1]).toarray(), self.alpha).to_arrays()

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        return Bilinear(binary(warm.train), Ridge(**model).predict(cold.matrix))
