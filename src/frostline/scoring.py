"""Scores of a method, items of equal content being scored once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from frostline.api import BLOCK, Content, Method, Scores, Warm


def scores_of(method: Method, model: Mapping[str, Any], warm: Warm, cold: Content) -> Scores:
    """Scores of all cold items, tied to the last bit where the method goes by content and the content is equal."""
    return score_distinct(method, model, warm, cold) if method.by_content else method.score(model, warm, cold)


def all_blocks(scores: Scores, n_queries: int) -> Iterator[np.ndarray]:
    """The scores of all queries, in the blocks of fixed size in which they must be computed."""
    for start in range(0, n_queries, BLOCK):
        yield scores.block(start, min(start + BLOCK, n_queries))


@dataclass(frozen=True)
class Gathered:
    """Scores of distinct items, handed out to all items."""

    distinct: Scores
    column: np.ndarray

    def block(self, start: int, stop: int) -> np.ndarray:
        return self.distinct.block(start, stop).take(self.column, axis=1)


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
