"""A small network from item features to a donor's item vectors: what `mlp_map` and `dropout_net` share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from frostline.api import Method, Warm
from frostline.seeds import sequence


@dataclass(frozen=True)
class NetworkMethod(Method):
    """One hidden layer of `hidden` rectified units, trained `epochs` times over the warm items by Adam (scikit-learn).

    Vectors are learned centred and in units of their overall spread, so that no parameter depends on a donor's scale.
    """

    hidden: int = 64
    epochs: int = 100
    learning_rate: float = 0.003
    penalty: float = 0.01

    needs = ("content", "donor")
    needs_factors = True

    def __post_init__(self) -> None:
        if self.hidden < 1 or self.epochs < 1 or self.learning_rate <= 0 or self.penalty < 0:
            raise ValueError("hidden and epochs must be at least 1, learning_rate above 0, penalty at least 0")

    def network(self, warm: Warm, purpose: str):
        """A fresh scikit-learn network, to be trained by `partial_fit`, an epoch a call."""
        from sklearn.neural_network import MLPRegressor

        return MLPRegressor(
            hidden_layer_sizes=(self.hidden,),
            alpha=self.penalty,
            learning_rate_init=self.learning_rate,
            batch_size=min(200, warm.donor.right.shape[0]),
            random_state=int(sequence(warm.seed, purpose).generate_state(1)[0]),
        )


def targets_of(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Vectors centred and scaled, their mean, and the scale; a scale of 1 where all are equal."""
    level = vectors.mean(axis=0)
    scale = float(np.std(vectors - level)) or 1.0
    return ((vectors - level) / scale).astype(np.float32), level, scale


def weights_of(network, level: np.ndarray, scale: float) -> dict[str, np.ndarray]:
    """The network as arrays, so that scoring needs no scikit-learn."""
    (first, second), (bias, output_bias) = network.coefs_, network.intercepts_
    return {
        "first": first.astype(np.float32),
        "bias": bias.astype(np.float32),
        "second": (second * scale).astype(np.float32),
        "output_bias": (output_bias * scale + level).astype(np.float32),
    }


def predict(model: Mapping[str, np.ndarray], features) -> np.ndarray:
    """Vectors of items, float32; `features` is an array or CSR matrix of shape (n_items, n_features)."""
    return np.maximum(features @ model["first"] + model["bias"], 0) @ model["second"] + model["output_bias"]
