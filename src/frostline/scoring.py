"""Scores of a method, items of equal content being scored once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from frostline.api import Content, Method, Scores, Warm


def scores_of(method: Method, model: Mapping[str, Any], warm: Warm, cold: Content) -> Scores:
    """Scores of all cold items, tied to the last bit where the method goes by content and the content is equal."""
    return score_distinct(method, model, warm, cold) if method.by_content else method.score(model, warm, cold)


@dataclass(frozen=True)
class Gathered:
    """Scores of distinct items, handed out to all items."""

    distinct: Scores
    column: np.ndarray

    def block(self, start: int, stop: int) -> np.ndarray:
        return self.distinct.block(start, stop)[:, self.column]


def score_distinct(method, model, warm, cold: Content) -> Scores:
    """Score items of equal content once, so that they are tied to the last bit."""
    matrix = cold.matrix
    matrix.sort_indices()
    first: dict[bytes, int] = {}
    rows, column = [], np.empty(matrix.shape[0], dtype=np.int64)
    for row in range(matrix.shape[0]):
        span = slice(matrix.indptr[row], matrix.indptr[row + 1])
        key = matrix.indices[span].tobytes() + matrix.data[span].tobytes()
        if key not in first:
            first[key] = len(rows)
            rows.append(row)
        column[row] = first[key]
    return Gathered(method.score(model, warm, cold.take(np.array(rows, dtype=np.int64))), column)
