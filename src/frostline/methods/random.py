"""Control: independent uniform scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.api import BLOCK, Content, Method, Warm
from frostline.seeds import generator


@dataclass(frozen=True)
class Random(Method):
    needs = ()
    by_content = False

    def score(self, model: dict, warm: Warm, cold: Content) -> RandomScores:
        return RandomScores(warm.seed, cold.matrix.shape[0])


@dataclass(frozen=True)
class RandomScores:
    """One stream a block of queries, so that a block's scores do not depend on which others are computed."""

    seed: int
    n_candidates: int

    def block(self, start: int, stop: int) -> np.ndarray:
        rng = generator(self.seed, "random", start // BLOCK)
        return rng.random((stop - start, self.n_candidates), dtype=np.float32)
