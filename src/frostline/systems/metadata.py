"""Sum of the similarities of all content fields, each on its own."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from frostline.sparse import SparseScores
from frostline.systems import Known, Queries, System
from frostline.systems.tfidf import cosines, query_vectors


@dataclass(frozen=True)
class Metadata(System):
    """Cosine of TF-IDF vectors, of a text by its words, of categories by their names; numbers are left out.

    A field by itself can say what it would not among the words of all: two courses of one title are twins, whatever the
    length of their descriptions.

    Parameters
    ----------
    weights : dict of str to float
        Weight of each field that is not to have the weight 1.
    """

    weights: dict[str, float] = field(default_factory=dict)

    needs = ("content",)

    def __post_init__(self) -> None:
        if any(weight < 0 for weight in self.weights.values()):
            raise ValueError("weights must be at least 0")

    def fit(self, known: Known):
        from sklearn.feature_extraction.text import TfidfVectorizer

        unknown = sorted(self.weights.keys() - known.content.keys())
        if unknown:
            raise ValueError(f"weights name '{unknown[0]}', which is no content field")
        models = []
        for name, values in known.content.items():
            weight = self.weights.get(name, 1.0)
            if known.kinds[name] == "number" or not weight:
                continue
            if known.kinds[name] == "text":
                vectorizer = TfidfVectorizer(sublinear_tf=True, dtype=np.float32)
                values = [value or "" for value in values]
            else:
                vectorizer = TfidfVectorizer(analyzer=_names, dtype=np.float32)
            if any(values):
                models.append((weight, vectorizer, csr_array(vectorizer.fit_transform(values))))
        return models

    def score(self, model, known: Known, queries: Queries) -> SparseScores:
        total = csr_array((len(queries), known.n_items), dtype=np.float32)
        for weight, vectorizer, items in model:
            total = total + np.float32(weight) * cosines(query_vectors(vectorizer, items, queries), items)
        total.sort_indices()
        return SparseScores(csr_array(total, dtype=np.float32), np.float32(0))


def _names(categories: list[str] | str) -> list[str]:
    """A text that is asked has no categories."""
    return [] if isinstance(categories, str) else list(categories or [])
