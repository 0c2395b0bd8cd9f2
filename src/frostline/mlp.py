"""A small network from item features to a donor's item vectors: what `mlp_map` and `dropout_net` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from frostline.api import Method, Warm
from frostline.seeds import sequence


@dataclass(frozen=True)
class NetworkMethod(Method):
    """One hidden layer of `hidden` rectified units, trained `epochs` times over the warm items by Adam (scikit-learn).

    Vectors are learned centred and in units of their overall spread, so that no parameter depends on a donor's scale.
    Of several `members`, which differ by where training starts, the mean is taken (Hansen & Salamon, "Neural network
    ensembles", IEEE PAMI 12(10), 1990).
    """

    hidden: int = 64
    epochs: int = 100
    learning_rate: float = 0.003
    penalty: float = 0.01
    members: int = 1

    needs = ("content", "donor")
    needs_factors = True

    def __post_init__(self) -> None:
        if min(self.hidden, self.epochs, self.members) < 1 or self.learning_rate <= 0 or self.penalty < 0:
            raise ValueError("hidden, epochs and members must be at least 1, learning_rate above 0, penalty at least 0")

    def networks(self, warm: Warm, purpose: str) -> list:
        """Fresh scikit-learn networks, one a member, to be trained by `partial_fit`, an epoch a call."""
        from sklearn.neural_network import MLPRegressor

        return [
            MLPRegressor(
                hidden_layer_sizes=(self.hidden,),
                alpha=self.penalty,
                learning_rate_init=self.learning_rate,
                batch_size=min(200, warm.donor.right.shape[0]),
                random_state=int(start),
            )
            for start in sequence(warm.seed, purpose).generate_state(self.members)
        ]


def targets_of(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Vectors centred and scaled, their mean, and the scale; a scale of 1 where all are equal."""
    level = vectors.mean(axis=0)
    scale = float(np.std(vectors - level)) or 1.0
    return ((vectors - level) / scale).astype(np.float32), level, scale


def weights_of(networks: Sequence, level: np.ndarray, scale: float) -> dict[str, np.ndarray]:
    """The mean of networks as the arrays of one with all their hidden units, so that scoring needs no scikit-learn."""
    first, second = (np.concatenate([n.coefs_[layer] for n in networks], axis=1 - layer) for layer in (0, 1))
    output_bias = np.mean([network.intercepts_[1] for network in networks], axis=0)
    return {
        "first": first.astype(np.float32),
        "bias": np.concatenate([network.intercepts_[0] for network in networks]).astype(np.float32),
        "second": (second * (scale / len(networks))).astype(np.float32),
        "output_bias": (output_bias * scale + level).astype(np.float32),
    }


def predict(model: Mapping[str, np.ndarray], features) -> np.ndarray:
    """Vectors of items, float32; `features` is an array or CSR matrix of shape (n_items, n_features)."""
    return np.maximum(features @ model["first"] + model["bias"], 0) @ model["second"] + model["output_bias"]
