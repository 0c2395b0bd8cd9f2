"""Gradient-boosted trees over every signal, trained to rank (LightGBM's LambdaRank)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from frostline.boosting import REPEATABLE
from frostline.meta import Example, MetaMethod
from frostline.seeds import sequence


@dataclass(frozen=True)
class LambdaRank(MetaMethod):
    """Burges, "From RankNet to LambdaRank to LambdaMART" (MSR-TR-2010-82).

    Val-cold holds few items, and a signal that is the same for all users (an item's expected popularity) lets a tree
    single items out and learn their labels by heart. Where `monotone` is true a score may only grow with each signal,
    which leaves no room for that.
    """

    trees: int = 100
    leaves: int = 8
    learning_rate: float = 0.1
    min_pairs: int = 1000
    monotone: bool = True
    signals: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.trees < 1 or self.leaves < 2 or self.learning_rate <= 0 or self.min_pairs < 1:
            raise ValueError("trees and min_pairs must be at least 1, leaves at least 2, learning_rate above 0")

    def fit(self, examples: Sequence[Example], seed: int) -> dict[str, np.ndarray]:
        import lightgbm

        lists = [
            (features[own], relevant[own])
            for features, relevant in examples
            for own in [relevant.any(axis=1)]
            if own.any()
        ]
        n_signals = lists[0][0].shape[-1]
        data = lightgbm.Dataset(
            np.concatenate([features.reshape(-1, n_signals) for features, _ in lists]),
            np.concatenate([relevant.ravel() for _, relevant in lists]).astype(np.float32),
            group=np.concatenate([np.full(*relevant.shape) for _, relevant in lists]),
        )
        params = {
            "objective": "lambdarank",
            "lambdarank_truncation_level": 20,
            "num_leaves": self.leaves,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": self.min_pairs,
            "monotone_constraints": [1] * n_signals if self.monotone else None,
            "seed": int(sequence(seed, "lambdarank").generate_state(1)[0]) >> 1,
            **REPEATABLE,
        }
        booster = lightgbm.train({k: v for k, v in params.items() if v is not None}, data, self.trees)
        return {"booster": np.array(booster.model_to_string())}

    def score(self, model: Mapping[str, np.ndarray], features: np.ndarray) -> np.ndarray:
        import lightgbm

        booster = lightgbm.Booster(model_str=str(model["booster"]))
        rows = features.reshape(-1, features.shape[-1])
        return booster.predict(rows, num_threads=1).reshape(features.shape[:2])
