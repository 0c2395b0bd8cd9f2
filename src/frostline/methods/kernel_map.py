"""Kernel ridge regression from content to warm scores, with a product kernel over the fields."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve

from frostline.api import Bilinear, Content, Warm
from frostline.errors import FrostlineError
from frostline.neighbours import cosine
from frostline.ridge import RidgeMethod


@dataclass(frozen=True)
class KernelMap(RidgeMethod):
    """`K = ∏ (1 + k_f) − 1` over categories and numbers, plus `k_f` of each text; k_f is the cosine within field f.

    The product holds every interaction of fields (this genre in those years), which a linear map of the fields cannot
    express. All of it is dense over the warm items, so more than `max_items` of them are refused.
    """

    alpha: float = 1.0
    max_items: int = 20_000

    needs = ("content", "donor")

    def fit(self, warm: Warm) -> dict[str, np.ndarray]:
        n_items = warm.content.matrix.shape[0]
        if n_items > self.max_items:
            raise FrostlineError(
                f"kernel_map needs a dense matrix over {n_items} warm items, more than max_items: {self.max_items}. "
                "Raise max_items if the memory is there, or use linmap"
            )
        kernel = product_kernel(warm.content, warm.content)
        kernel[np.diag_indices_from(kernel)] += self.alpha
        factors = warm.donor.right.astype(np.float64)
        level = factors.mean(axis=0)
        return {
            "dual": solve(kernel, factors - level, assume_a="pos", overwrite_a=True).astype(np.float32),
            "level": level.astype(np.float32),
        }

    def score(self, model: dict, warm: Warm, cold: Content) -> Bilinear:
        kernel = product_kernel(cold, warm.content).astype(np.float32)
        return Bilinear(warm.donor.left, kernel @ model["dual"] + model["level"])


def product_kernel(left: Content, right: Content) -> np.ndarray:
    """Kernel between items, float64, shape (n_left, n_right)."""
    product, texts = 1.0, 0.0
    for f, kind in enumerate(left.kinds):
        columns = slice(left.starts[f], left.starts[f + 1])
        similarity = cosine(left.matrix[:, columns], right.matrix[:, columns])
        if kind == "text":
            texts = texts + similarity
        else:
            product = product * (1 + similarity)
    return np.asarray(product - 1 + texts, dtype=np.float64)
