"""Mean of the warm scores of the k nearest items by content, weighted by cosine similarity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from frostline.api import Bilinear, Content, Method, Warm


@dataclass(frozen=True)
class KNN(Method):
    k: int = 20

    needs = ("content", "donor")

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError("k must be at least 1")

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        mixing = nearest(cosine(cold.matrix, warm.content.matrix), self.k)
        return Bilinear(warm.donor.left, mixing @ warm.donor.right)


def cosine(left: csr_array, right: csr_array) -> np.ndarray:
    """Cosine similarity of every row of `left` with every row of `right`, float64, zero for empty rows.

    Rounded to twelve decimals: rows that point the same way must be tied, whatever their lengths.
    """
    sides = []
    for side in (left.astype(np.float64), right.astype(np.float64)):
        norm = np.sqrt(side.multiply(side).sum(axis=1))
        sides.append(side.multiply(np.divide(1, norm, out=np.zeros_like(norm), where=norm > 0)[:, None]).tocsr())
    return (sides[0] @ sides[1].T).toarray().round(12)


def nearest(similarity: np.ndarray, k: int) -> np.ndarray:
    """Mixing matrix of the k most similar columns of each row, weighted by similarity, rows summing to one.

    Columns tied at the k-th place share the places that are left in equal parts, which is the expectation over a random
    choice among them: with categories alone hundreds of items are equally near, and taking those of the lowest ids
    would let the order of the ids into the result. Only positive similarities count; a row without any is zero.

    Returns
    -------
    ndarray of float32, shape of `similarity`
    """
    k = min(k, similarity.shape[1])
    cut = np.partition(similarity, -k, axis=1)[:, -k, None]
    above, at = similarity > cut, similarity == cut
    share = (k - above.sum(axis=1, keepdims=True)) / at.sum(axis=1, keepdims=True)
    weight = np.maximum(similarity, 0) * (above + at * share)
    total = weight.sum(axis=1, keepdims=True)
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0).astype(np.float32)
