"""Logistic regression over signals: what the stacking methods share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from frostline.meta import MetaMethod


@dataclass(frozen=True)
class LogisticMeta(MetaMethod):
    """Base of the meta-methods that regress relevance on signals; `C` is the inverse of the L2 penalty, as in sklearn.

    A signal is scaled to unit variance over the training pairs, so that the penalty treats all alike.
    """

    C: float = 1.0

    def __post_init__(self) -> None:
        if self.C <= 0:
            raise ValueError("C must be above 0")

    def fit(self, features: np.ndarray, relevant: np.ndarray, seed: int) -> dict[str, np.ndarray]:
        # Only fitting needs scikit-learn, whose import takes longer than scoring.
        from sklearn.linear_model import LogisticRegression

        rows = features.reshape(-1, features.shape[-1])
        scale = rows.std(axis=0, dtype=np.float64)
        scale[scale == 0] = 1
        # The Newton solver needs the fewest passes where rows are many and columns few.
        model = LogisticRegression(C=self.C, solver="newton-cholesky", max_iter=100)
        model.fit(rows / scale.astype(np.float32), relevant.ravel())
        return {"weight": (model.coef_[0] / scale).astype(np.float32)}

    def score(self, model: Mapping[str, np.ndarray], features: np.ndarray) -> np.ndarray:
        """The linear predictor without its intercept: relevance grows with it, and it cannot saturate into ties."""
        return features @ model["weight"]
