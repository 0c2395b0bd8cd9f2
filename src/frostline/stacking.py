"""Logistic regression over signals: what the stacking methods share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from frostline.meta import Example, MetaMethod


@dataclass(frozen=True)
class LogisticMeta(MetaMethod):
    """Base of the meta-methods that regress relevance on signals; `C` is the inverse of the L2 penalty, as in sklearn.

    A signal is scaled to unit variance over the training pairs, so that the penalty treats all alike.
    """

    C: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.C <= 0:
            raise ValueError("C must be above 0")

    def fit(self, examples: Sequence[Example], seed: int) -> dict[str, np.ndarray]:
        # Only fitting needs scikit-learn, whose import takes longer than scoring.
        from sklearn.linear_model import LogisticRegression

        rows = np.concatenate([features.reshape(-1, features.shape[-1]) for features, _ in examples])
        scale = rows.std(axis=0, dtype=np.float64)
        scale[scale == 0] = 1
        # The Newton solver needs the fewest passes where rows are many and columns few.
        model = LogisticRegression(C=self.C, solver="newton-cholesky", max_iter=100)
        model.fit(rows / scale.astype(np.float32), np.concatenate([relevant.ravel() for _, relevant in examples]))
        return {"weight": (model.coef_[0] / scale).astype(np.float32)}

    def score(self, model: Mapping[str, np.ndarray], features: np.ndarray) -> np.ndarray:
        """The linear predictor without its intercept: relevance grows with it, and it cannot saturate into ties."""
        return features @ model["weight"]
