"""Bayesian personalised ranking (Rendle et al., UAI 2009), as `implicit` computes it."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.sparse import csr_array, csr_matrix

from frostline.api import Bilinear, Donor
from frostline.seeds import sequence


@dataclass(frozen=True)
class BPR(Donor):
    """Factors trained to rank what a user took above what he did not; an item's bias is one of the factors."""

    factors: int = 64
    learning_rate: float = 0.05
    regularization: float = 0.01
    iterations: int = 100

    def __post_init__(self) -> None:
        if self.factors < 1 or self.iterations < 1 or self.regularization < 0 or self.learning_rate <= 0:
            raise ValueError(
                "factors and iterations must be at least 1, learning_rate above 0, regularization at least 0"
            )

    def fit(self, train: csr_array, seed: int) -> Bilinear:
        from implicit.cpu.bpr import BayesianPersonalizedRanking

        model = BayesianPersonalizedRanking(
            factors=self.factors,
            learning_rate=self.learning_rate,
            regularization=self.regularization,
            iterations=self.iterations,
            # Threads write to the same factors without locks: more than one gives other results every time.
            num_threads=1,
            random_state=int(sequence(seed, "bpr").generate_state(1)[0]),
        )
        model.fit(csr_matrix(train), show_progress=False)
        return Bilinear(model.user_factors, model.item_factors)
