"""Nearest neighbours by content, without an order among the equally near."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from frostline.api import Content, Method, Warm


@dataclass(frozen=True)
class NeighbourMethod(Method):
    """Base of the methods that score a cold item by its `k` nearest warm items."""

    k: int = 20

    needs = ("content", "donor")

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError("k must be at least 1")

    def similarity(self, warm: Warm, cold: Content) -> np.ndarray:
        """Cosine of every cold item with every warm one, by all content fields together."""
        return cosine(cold.matrix, warm.content.matrix)


def cosine(left: csr_array, right: csr_array) -> np.ndarray:
    """Cosine similarity of every row of `left` with every row of `right`, float64, zero for empty rows.

    Rounded to twelve decimals: rows that point the same way must be tied, whatever their lengths.
    """
    sides = (unit_rows(side.astype(np.float64)) for side in (left, right))
    return (next(sides) @ next(sides).T).toarray().round(12)


def unit_rows(matrix: csr_array) -> csr_array:
    """Rows scaled to length one; empty rows stay empty."""
    norm = np.sqrt(matrix.multiply(matrix).sum(axis=1))
    return csr_array(matrix.multiply(np.divide(1, norm, out=np.zeros_like(norm), where=norm > 0)[:, None]))


def membership(similarity: np.ndarray, k: int) -> np.ndarray:
    """How much each column belongs to the k most similar of its row: 1, 0, or a share at the k-th place.

    Columns tied at the k-th place share the places that are left in equal parts, which is the expectation over a random
    choice among them: with categories alone hundreds of items are equally near, and taking those of the lowest ids
    would let the order of the ids into the result.

    Returns
    -------
    ndarray of float64, shape of `similarity`, rows summing to k (or to the number of columns, if that is less)
    """
    k = min(k, similarity.shape[1])
    cut = np.partition(similarity, -k, axis=1)[:, -k, None]
    above, at = similarity > cut, similarity == cut
    return above + at * ((k - above.sum(axis=1, keepdims=True)) / at.sum(axis=1, keepdims=True))


def row_means(weight: np.ndarray) -> np.ndarray:
    """Rows scaled to sum to one, float32; a row without weight stays zero."""
    total = weight.sum(axis=1, keepdims=True)
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0).astype(np.float32)


def nearest(similarity: np.ndarray, k: int) -> np.ndarray:
    """Mixing matrix of the k most similar columns of each row, weighted by similarity where that is positive."""
    return row_means(np.maximum(similarity, 0) * membership(similarity, k))


def attention(similarity: np.ndarray, k: int, temperature: float) -> np.ndarray:
    """Mixing matrix of the k most similar columns of each row, weighted by the softmax of similarity / temperature."""
    highest = similarity.max(axis=1, keepdims=True)
    return row_means(np.exp((similarity - highest) / temperature) * membership(similarity, k))
