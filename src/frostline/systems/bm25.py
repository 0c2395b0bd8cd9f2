"""Okapi BM25 over the items' texts, the query being the item's own text."""

from __future__ import annotations

from dataclasses import dataclass

from frostline.sparse import SparseScores
from frostline.systems import Known, Queries, System, all_scores
from frostline.systems.tfidf import texts


@dataclass(frozen=True)
class BM25(System):
    """Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (FnTIR 3(4), 2009), with the idf of
    Lucene, which is never negative; by the library bm25s (X. H. Lù, arXiv 2407.03618).

    Parameters
    ----------
    k1 : float
        How soon further occurrences of a term count for less.
    b : float
        How much a long text is discounted, from 0 to 1.
    """

    k1: float = 1.5
    b: float = 0.75

    needs = ("content",)

    def __post_init__(self) -> None:
        if self.k1 < 0 or not 0 <= self.b <= 1:
            raise ValueError("k1 must be at least 0 and b between 0 and 1")

    def fit(self, known: Known):
        import bm25s

        own = texts(known)
        index = bm25s.BM25(k1=self.k1, b=self.b, method="lucene")
        index.index(_tokens(own), show_progress=False)
        return index, own

    def score(self, model, known: Known, queries: Queries) -> SparseScores:
        index, own = model
        asked = list(queries.names)
        for query, item in zip(queries.history.query.tolist(), queries.history.item.tolist(), strict=True):
            asked[query] = own[item]
        tokens = _tokens(asked)
        return all_scores(lambda query: index.get_scores(tokens[query]), len(queries))


def _tokens(documents: list[str]) -> list[list[str]]:
    import bm25s

    return bm25s.tokenize(documents, stopwords=None, return_ids=False, show_progress=False)
