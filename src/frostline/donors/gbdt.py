"""Gradient-boosted trees over what a user chose, what an item is, and where the two meet (LightGBM)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from frostline.api import Bilinear, Content, Donor, of_scores
from frostline.boosting import REPEATABLE
from frostline.neighbours import unit_rows
from frostline.seeds import generator, sequence

CHUNK = 64
"""Users scored at a time: a row of features for each with every warm item."""


@dataclass(frozen=True)
class GBDT(Donor):
    """A model that is not bilinear: methods that need a donor's factors leave it out.

    A pair's features are the user's profile (mean content of his history), the item's content, their product entry by
    entry, and their cosine; text goes into the cosine alone. A training pair's item is taken out of the profile, or the
    model would learn to recognise it there. To each interaction, of at most `max_positives`, come `negatives` items drawn
    evenly.
    """

    trees: int = 100
    leaves: int = 31
    learning_rate: float = 0.1
    negatives: int = 4
    max_positives: int = 200_000
    max_items: int = 20_000

    needs_content = True
    has_factors = False

    def __post_init__(self) -> None:
        if min(self.trees, self.negatives, self.max_positives) < 1 or self.leaves < 2 or self.learning_rate <= 0:
            raise ValueError(
                "trees, negatives and max_positives must be at least 1, leaves at least 2, learning_rate above 0"
            )

    def fit(self, train: csr_array, seed: int, content: Content) -> Bilinear:
        import lightgbm

        self.refuse_many_items(train.shape[1], self.max_items)
        pairs = _Pairs(train, content)
        rng = generator(seed, "gbdt")
        user, item = train.nonzero()
        kept = np.sort(rng.permutation(len(user))[: self.max_positives])
        user, item = user[kept], item[kept]
        others = rng.integers(train.shape[1], size=(len(user), self.negatives))
        chosen = np.zeros(train.shape, dtype=bool)
        chosen[train.nonzero()] = True
        rows = np.repeat(user, self.negatives)
        is_negative = ~chosen[rows, others.ravel()]
        features = np.vstack(
            [pairs.features(user, item, leave_out=True), pairs.features(rows[is_negative], others.ravel()[is_negative])]
        )
        label = np.repeat([1.0, 0.0], [len(user), is_negative.sum()])
        params = {
            "objective": "binary",
            "num_leaves": self.leaves,
            "learning_rate": self.learning_rate,
            "seed": int(sequence(seed, "gbdt-trees").generate_state(1)[0]) >> 1,
            **REPEATABLE,
        }
        booster = lightgbm.train(params, lightgbm.Dataset(features, label), self.trees)
        n_users, n_items = train.shape
        scores = np.empty((n_users, n_items), np.float32)
        for start in range(0, n_users, CHUNK):
            users = np.arange(start, min(start + CHUNK, n_users))
            block = pairs.features(np.repeat(users, n_items), np.tile(np.arange(n_items), len(users)))
            scores[users] = booster.predict(block, raw_score=True, num_threads=1).reshape(len(users), n_items)
        return of_scores(scores)


class _Pairs:
    """Features of user–item pairs."""

    def __init__(self, train: csr_array, content: Content) -> None:
        is_text = np.repeat([kind == "text" for kind in content.kinds], np.diff(content.starts))
        self._item = content.matrix[:, np.flatnonzero(~is_text)].toarray()
        whole = unit_rows(content.matrix.astype(np.float64)).astype(np.float32)
        history = csr_array((np.ones(train.nnz, np.float32), train.indices, train.indptr), shape=train.shape)
        self._count = np.diff(train.indptr).astype(np.float32)
        self._sum = history @ self._item
        self._whole, self._whole_sum = whole.toarray(), (history @ whole).toarray()

    def features(self, user: np.ndarray, item: np.ndarray, leave_out: bool = False) -> np.ndarray:
        """Float32, shape (n_pairs, 3 * n_features + 2)."""
        own = np.float32(leave_out)
        count = np.maximum(self._count[user] - own, 1)[:, None]
        profile = (self._sum[user] - own * self._item[item]) / count
        meeting = self._whole_sum[user] - own * self._whole[item]
        cosine = (meeting * self._whole[item]).sum(axis=1, keepdims=True) / count
        return np.hstack([profile, self._item[item], profile * self._item[item], cosine, np.log(count)])
