"""Ridge regression with an intercept that is not penalised, from sparse features to many targets at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from frostline.api import Method, Warm


@dataclass(frozen=True)
class RidgeMethod(Method):
    """Base of the methods that regress on content with penalty `alpha`, features as `content` makes them unless they say."""

    alpha: float = 10.0

    def __post_init__(self) -> None:
        if self.alpha <= 0:
            raise ValueError("alpha must be above 0")


@dataclass(frozen=True)
class Ridge:
    """A fitted regression.

    Attributes
    ----------
    slope : ndarray of float32, shape (n_features, n_targets)
    intercept : ndarray of float32, shape (n_targets,)
    """

    slope: np.ndarray
    intercept: np.ndarray

    @classmethod
    def fit(cls, features: csr_array, targets: np.ndarray, alpha: float) -> Self:
        """Solve `(X̃ᵀX̃ + αI) W = X̃ᵀ T`, X̃ being the features less their column means.

        Parameters
        ----------
        features : csr_array, shape (n_samples, n_features)
        targets : ndarray, shape (n_samples, n_targets)
        alpha : float
            Above 0.
        """
        from scipy.linalg import solve  # half of the import time, and jobs that only predict do without

        features, targets = features.astype(np.float64), np.asarray(targets, dtype=np.float64)
        n = features.shape[0]
        mean, level = features.mean(axis=0), targets.mean(axis=0)
        if n < features.shape[1]:
            # W = X̃ᵀ (X̃X̃ᵀ + αI)⁻¹ T: the same, and with more features than samples the smaller system.
            centred = features.toarray() - mean
            gram = centred @ centred.T
            gram[np.diag_indices_from(gram)] += alpha
            slope = centred.T @ solve(gram, targets - level, assume_a="pos")
        else:
            gram = (features.T @ features).toarray() - n * np.outer(mean, mean)
            gram[np.diag_indices_from(gram)] += alpha
            slope = solve(gram, features.T @ targets - n * np.outer(mean, level), assume_a="pos")
        return cls(slope.astype(np.float32), (level - mean @ slope).astype(np.float32))

    def predict(self, features: csr_array) -> np.ndarray:
        """Targets of other samples, float32, shape (n_samples, n_targets)."""
        return features @ self.slope + self.intercept

    def to_arrays(self) -> dict[str, np.ndarray]:
        return {"slope": self.slope, "intercept": self.intercept}


@dataclass(frozen=True)
class DonorRidgeMethod(RidgeMethod):
    """Base of the methods that map content to the donor's item side by a ridge regression."""

    needs = ("content", "donor")

    def fit(self, warm: Warm) -> dict[str, np.ndarray]:
        return Ridge.fit(warm.content.matrix, warm.donor.right, self.alpha).to_arrays()
