"""Cosine of the topics that non-negative factors of the TF-IDF matrix find in the items' texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.seeds import sequence
from frostline.sparse import SparseScores
from frostline.systems import Known, Queries, System, dense_cosines
from frostline.systems.tfidf import TFIDF, query_vectors


@dataclass(frozen=True)
class NMF(System):
    """Lee & Seung, "Learning the parts of objects by non-negative matrix factorization" (Nature 401, 1999), by coordinate
    descent.

    Parameters
    ----------
    components : int
    iterations : int
        At most so many.
    """

    components: int = 64
    iterations: int = 100

    needs = ("content",)

    def __post_init__(self) -> None:
        if self.components < 1 or self.iterations < 1:
            raise ValueError("components and iterations must be at least 1")

    def fit(self, known: Known):
        import warnings

        from sklearn.decomposition import NMF as Factors
        from sklearn.exceptions import ConvergenceWarning

        vectorizer, items = TFIDF().fit(known)
        seed = int(sequence(known.seed, "nmf").generate_state(1)[0])
        n_components = min(self.components, *items.shape)
        topics = Factors(n_components, init="nndsvda", max_iter=self.iterations, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # `iterations` is a parameter, not an accident
            topics.fit(items)
        return vectorizer, items, topics

    def score(self, model, known: Known, queries: Queries) -> SparseScores:
        vectorizer, items, topics = model
        asked = query_vectors(vectorizer, items, queries)
        return dense_cosines(*(np.asarray(topics.transform(part), np.float64) for part in (asked, items)))
