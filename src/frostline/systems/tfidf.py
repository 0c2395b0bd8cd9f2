"""Cosine of TF-IDF vectors of the items' texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from frostline.sparse import SparseScores
from frostline.systems import Known, Queries, System


@dataclass(frozen=True)
class TFIDF(System):
    """A query is its own item's vector, or that of its text.

    Parameters
    ----------
    sublinear : bool
        1 + ln of a term's count in place of the count.
    bigrams : bool
        Pairs of neighbouring words are terms too.
    """

    sublinear: bool = True
    bigrams: bool = False

    needs = ("content",)

    def fit(self, known: Known):
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(
            sublinear_tf=self.sublinear, ngram_range=(1, 2 if self.bigrams else 1), dtype=np.float32
        )
        return vectorizer, csr_array(vectorizer.fit_transform(texts(known)))

    def score(self, model, known: Known, queries: Queries) -> SparseScores:
        vectorizer, items = model
        return SparseScores(cosines(query_vectors(vectorizer, items, queries), items), np.float32(0))


def texts(known: Known) -> list[str]:
    """All text of each item."""
    fields = [values for name, values in known.content.items() if known.kinds[name] == "text"]
    return [" ".join(value or "" for value in line) for line in zip(*fields, strict=True)]


def query_vectors(vectorizer, items: csr_array, queries: Queries) -> csr_array:
    """The vector of each query's item, or of its text where it has none; rows of length one, or empty."""
    of_item = np.full(len(queries), -1)
    of_item[queries.history.query] = queries.history.item
    vectors = csr_array(vectorizer.transform([n if i < 0 else "" for n, i in zip(queries.names, of_item, strict=True)]))
    known = np.flatnonzero(of_item >= 0)
    pick = csr_array((np.ones(len(known), np.float32), (known, of_item[known])), shape=(len(queries), items.shape[0]))
    return csr_array(vectors + pick @ items)


def cosines(queries: csr_array, items: csr_array) -> csr_array:
    """Products of rows of length one, float32. Equal items get equal scores, because a row is summed in one order."""
    product = csr_array(queries @ items.T).astype(np.float32)
    product.sort_indices()
    return product
