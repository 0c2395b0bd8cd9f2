"""What came after the items of the history within a few steps, in training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array

from frostline.sparse import SparseScores
from frostline.systems import Known, Queries, System


@dataclass(frozen=True)
class SequentialRules(System):
    """Σ over the history of decay^lag · Σ 1 / distance over the training pairs in which the item came later.

    The rules are those of Ludewig & Jannach, "Evaluation of session-based recommendation algorithms" (UMUAI 28, 2018),
    section 3.1, there applied to the last item alone.

    Parameters
    ----------
    window : int
        Largest distance of a pair.
    decay : float
        What an item of the history counts for compared with the one after it, from 0 (the last alone) to 1.
    discount : float
        A rule is divided by (Σ of all rules from its first item) ** discount: 0 counts, 1 gives shares, so that an item that
        many others follow says less of each.
    """

    window: int = 10
    decay: float = 0.8
    discount: float = 0.0

    def __post_init__(self) -> None:
        if self.window < 1 or not 0 <= self.decay <= 1 or not 0 <= self.discount <= 1:
            raise ValueError("window must be at least 1, decay and discount between 0 and 1")

    def fit(self, known: Known) -> csr_array:
        rules = following(known, self.window)
        out = np.repeat(rules.sum(axis=1), np.diff(rules.indptr))
        rules.data /= out**self.discount
        return rules

    def score(self, model: csr_array, known: Known, queries: Queries) -> SparseScores:
        history = queries.history.matrix(len(queries), known.n_items, self.decay)
        scores = csr_array(history @ model).astype(np.float32)
        scores.sort_indices()
        return SparseScores(scores, np.float32(0))


def following(known: Known, window: int) -> csr_array:
    """Σ 1 / distance over the training pairs of one query in which the column's item came after the row's; float64."""
    query, item = known.train.query, known.train.item
    parts = []
    for distance in range(1, window + 1):
        same = query[distance:] == query[:-distance]
        before, after = item[:-distance][same], item[distance:][same]
        parts.append((before, after, np.full(len(before), 1 / distance)))
    before, after, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
    return csr_array(coo_array((weight, (before, after)), shape=(known.n_items, known.n_items)))
