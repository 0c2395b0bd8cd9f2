"""Kernel ridge regression from content to warm scores, with a product kernel over the fields."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve
from scipy.sparse import csr_array

from frostline.api import Bilinear, Content, Warm
from frostline.errors import FrostlineError
from frostline.neighbours import cosine
from frostline.ridge import RidgeMethod

SHRINKAGE = 5
"""Added to an item's number of interactions, so that few of them are not taken for its popularity."""


@dataclass(frozen=True)
class KernelMap(RidgeMethod):
    """`K = ∏ (1 + k_f) − 1` over categories and numbers, plus `k_f` of each text.

    k_f is the Jaccard index of two items' categories, and the cosine within a field of numbers or text. The product holds
    every interaction of fields (this genre in those years), which a linear map of the fields cannot express.

    With `popularity` p above 0, the scores of a warm item with n interactions are learned divided by `(n + 5)^p`, and
    what is predicted is multiplied by that of the cold item, whose `log(n + 5)` is learned by the same regression: a
    few popular items among those of like content then count for what they say about taste, not for their level alone.

    All of it is dense over the warm items, so more than `max_items` of them are refused.
    """

    alpha: float = 4.0
    popularity: float = 0.25
    max_items: int = 20_000

    needs = ("train", "content", "donor")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.popularity <= 1:
            raise ValueError("popularity must be between 0 and 1")

    def fit(self, warm: Warm) -> dict[str, np.ndarray]:
        n_items = warm.content.matrix.shape[0]
        if n_items > self.max_items:
            raise FrostlineError(
                f"{type(self).__name__} needs a dense matrix over {n_items} warm items, above max_items: {self.max_items}. "
                "Raise max_items if the memory is there, or use linmap or content_ridge"
            )
        kernel = product_kernel(warm.content, warm.content)
        kernel[np.diag_indices_from(kernel)] += self.alpha
        size = np.log(warm.train.sum(axis=0) + SHRINKAGE)
        factors = self.learned(warm).right / np.exp(self.popularity * size)[:, None]
        targets = np.column_stack([factors, size]).astype(np.float64)
        level = targets.mean(axis=0)
        dual = solve(kernel, targets - level, assume_a="pos", overwrite_a=True)
        return {"dual": dual.astype(np.float32), "level": level.astype(np.float32)}

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        predicted = product_kernel(cold, warm.content).astype(np.float32) @ model["dual"] + model["level"]
        factors, size = predicted[:, :-1], predicted[:, -1:]
        return Bilinear(self.learned(warm).left, factors * np.exp(self.popularity * size))

    def learned(self, warm: Warm) -> Bilinear:
        """The scores that are regressed on content."""
        return warm.donor


def product_kernel(left: Content, right: Content) -> np.ndarray:
    """Kernel between items, float64, shape (n_left, n_right)."""
    product, texts = 1.0, 0.0
    for f, kind in enumerate(left.kinds):
        sides = (side.matrix[:, side.starts[f] : side.starts[f + 1]] for side in (left, right))
        if kind == "text":
            texts = texts + cosine(*sides)
        else:
            product = product * (1 + (jaccard if kind == "categories" else cosine)(*sides))
    return np.asarray(product - 1 + texts, dtype=np.float64)


def jaccard(left: csr_array, right: csr_array) -> np.ndarray:
    """Jaccard index of every multi-hot row of `left` with every row of `right`, float64; 0 where both are empty."""
    shared = (left @ right.T).toarray().astype(np.float64)
    union = left.sum(axis=1)[:, None] + right.sum(axis=1) - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
