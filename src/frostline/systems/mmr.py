"""The first of TF-IDF in another order, so that they are not all alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from frostline.seeds import generator
from frostline.sparse import NEVER, SparseScores
from frostline.systems import Known, Queries, System
from frostline.systems.tfidf import TFIDF, query_vectors


@dataclass(frozen=True)
class MMR(System):
    """Maximal marginal relevance: the next item is the one of the largest λ · similarity to the query − (1 − λ) · largest
    similarity to an item before it (Carbonell & Goldstein, SIGIR 1998), of equal ones the more similar to the query.

    Parameters
    ----------
    balance : float
        λ, from 0 (different items alone) to 1 (the order of `tfidf`).
    first : int
        How many of the best by TF-IDF are put in order; no other is retrieved.
    """

    balance: float = 0.7
    first: int = 50

    needs = ("content",)

    def __post_init__(self) -> None:
        if not 0 <= self.balance <= 1 or self.first < 1:
            raise ValueError("balance must be between 0 and 1, and first at least 1")

    def fit(self, known: Known):
        return TFIDF().fit(known)

    def score(self, model, known: Known, queries: Queries) -> SparseScores:
        vectorizer, items = model
        asked = query_vectors(vectorizer, items, queries)
        relevance = csr_array(asked @ items.T)
        # Texts are often the same word for word: which of them comes first must not follow from their ids.
        place = generator(known.seed, "systems", "mmr").permutation(known.n_items)
        rows = []
        for query in range(len(queries)):
            span = slice(relevance.indptr[query], relevance.indptr[query + 1])
            found, values = relevance.indices[span], relevance.data[span]
            kept = ~np.isin(found, queries.barred(query))
            found, values = found[kept], values[kept]
            best = np.lexsort((place[found], -values))[: self.first]
            found, values = found[best], values[best].astype(np.float64)
            alike = (items[found] @ items[found].T).toarray()
            rows.append(found[_ordered(values, alike, self.balance)])
        # The place is all that a re-ranking says: the score falls by one from item to item.
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        values = [np.arange(len(row), 0, -1, dtype=np.float32) for row in rows]
        matrix = csr_array((np.concatenate(values), np.concatenate(rows), indptr), shape=(len(queries), known.n_items))
        matrix.sort_indices()
        return SparseScores(matrix, NEVER)


def _ordered(relevance: np.ndarray, alike: np.ndarray, balance: float) -> np.ndarray:
    left, order = np.arange(len(relevance)), []
    nearest = np.zeros(len(relevance))
    while len(left):
        gain = balance * relevance[left] - (1 - balance) * nearest[left]
        chosen = left[np.argmax(gain)]
        order.append(chosen)
        left = left[left != chosen]
        nearest = np.maximum(nearest, alike[chosen])
    return np.array(order, np.int64)
