"""A small network from content to the donor's item vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.api import Bilinear, Content, Warm
from frostline.mlp import NetworkMethod, predict, targets_of, weights_of


@dataclass(frozen=True)
class MLPMap(NetworkMethod):
    """Gantner et al., "Learning attribute-to-feature mappings for cold-start recommendations" (ICDM 2010), non-linear."""

    def fit(self, warm: Warm) -> dict[str, np.ndarray]:
        targets, level, scale = targets_of(warm.donor.right)
        networks = self.networks(warm, "mlp_map")
        for network in networks:
            for _ in range(self.epochs):
                network.partial_fit(warm.content.matrix, targets)
        return weights_of(networks, level, scale)

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        return Bilinear(warm.donor.left, predict(model, cold.matrix))
