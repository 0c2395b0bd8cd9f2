"""A small network from an item's vector and content to its vector, trained with the vector dropped out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.api import Bilinear, Content, Warm
from frostline.mlp import NetworkMethod, predict, targets_of, weights_of
from frostline.seeds import generator


@dataclass(frozen=True)
class DropoutNet(NetworkMethod):
    """Volkovs, Yu & Poutanen, "DropoutNet: Addressing cold start in recommender systems" (NIPS 2017), on the item side.

    In every epoch the input vectors of a share `dropout` of the items, drawn anew, are zero, as a cold item's are.
    """

    dropout: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.dropout <= 1:
            raise ValueError("dropout must be above 0 and at most 1")

    def fit(self, warm: Warm) -> dict[str, np.ndarray]:
        targets, level, scale = targets_of(warm.donor.right)
        content = warm.content.matrix.toarray()
        networks, rng = self.networks(warm, "dropout_net"), generator(warm.seed, "dropout_net-drops")
        for network in networks:
            for _ in range(self.epochs):
                known = rng.random(len(targets)) >= self.dropout
                network.partial_fit(np.hstack([content, targets * known[:, None]]), targets)
        model = weights_of(networks, level, scale)
        # A cold item's vector is zero, so the weights that would read it are of no use.
        return model | {"first": model["first"][: content.shape[1]]}

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        return Bilinear(warm.donor.left, predict(model, cold.matrix))
