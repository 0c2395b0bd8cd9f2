"""Cosine in the space of the largest singular vectors of the TF-IDF matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.seeds import sequence
from frostline.sparse import SparseScores
from frostline.systems import Known, Queries, System, dense_cosines
from frostline.systems.tfidf import TFIDF, query_vectors


@dataclass(frozen=True)
class LSA(System):
    """Deerwester, Dumais, Furnas, Landauer & Harshman, "Indexing by latent semantic analysis" (JASIS 41(6), 1990).

    Parameters
    ----------
    components : int
    """

    components: int = 256

    needs = ("content",)

    def __post_init__(self) -> None:
        if self.components < 1:
            raise ValueError("components must be at least 1")

    def fit(self, known: Known):
        from sklearn.decomposition import TruncatedSVD

        vectorizer, items = TFIDF().fit(known)
        seed = int(sequence(known.seed, "lsa").generate_state(1)[0])
        space = TruncatedSVD(min(self.components, min(items.shape) - 1), random_state=seed).fit(items)
        return vectorizer, items, space

    def score(self, model, known: Known, queries: Queries) -> SparseScores:
        vectorizer, items, space = model
        asked = query_vectors(vectorizer, items, queries)
        return dense_cosines(*(np.asarray(space.transform(part), np.float64) for part in (asked, items)))
