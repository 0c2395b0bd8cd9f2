"""Control: the same score for everything. Its metrics are what pure chance is worth, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.api import Bilinear, Content, Method, Warm


@dataclass(frozen=True)
class Constant(Method):
    needs = ()

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        return Bilinear(np.zeros((warm.n_queries, 1), np.float32), np.zeros((cold.matrix.shape[0], 1), np.float32))
