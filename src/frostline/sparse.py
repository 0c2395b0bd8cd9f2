"""Scores of queries × all items of which most are the same: what a system computed, and one fill for the rest.

A catalogue is large and a system says something of few items, so the grid is never made. Ranks, lists and the pooled AUC
are those of the whole grid, exactly, ties included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from frostline.lists import NOBODY
from frostline.ranking import UNLISTED, NonFiniteScore, Pairs

NEVER = np.float32(np.nan)
"""The fill of items that were never retrieved: worth zero, and outside the AUC."""


@dataclass(frozen=True)
class SparseScores:
    """Scores of queries × items.

    Attributes
    ----------
    matrix : csr_array of float32, shape (n_queries, n_items)
        What is stored is a score, zeros included. Indices of a row are sorted and different.
    fill : ndarray of float32, shape () or (n_items,)
        The score of each item where none is stored; `NEVER` where it is then not retrieved.
    """

    matrix: csr_array
    fill: np.ndarray

    ndim: ClassVar = 2
    dtype: ClassVar = np.dtype(np.float32)

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape

    def __len__(self) -> int:
        return self.matrix.shape[0]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> SparseScores:
        return cls(arrays["matrix"], arrays["fill"])

    def to_arrays(self) -> dict[str, Any]:
        return {"matrix": self.matrix, "fill": np.asarray(self.fill, np.float32)}

    @property
    def is_partial(self) -> bool:
        """Whether items that are not stored were never retrieved."""
        return bool(np.isnan(self.fill).any())

    @cached_property
    def _filled(self) -> np.ndarray:
        return np.broadcast_to(self.fill, self.shape[1])

    @cached_property
    def _order(self) -> np.ndarray:
        """Items by ascending fill, of equal ones by number."""
        return np.argsort(self._filled, kind="stable")

    @cached_property
    def _sorted(self) -> np.ndarray:
        return self._filled[self._order]

    def row(self, query: int) -> tuple[np.ndarray, np.ndarray]:
        """Items and scores that are stored of a query."""
        span = slice(self.matrix.indptr[query], self.matrix.indptr[query + 1])
        return self.matrix.indices[span], self.matrix.data[span]

    def check(self) -> None:
        """NonFiniteScore for the first score that cannot be ranked."""
        wrong = np.flatnonzero(~np.isfinite(self.matrix.data))
        if len(wrong):
            row = int(np.searchsorted(self.matrix.indptr, wrong[0], side="right")) - 1
            raise NonFiniteScore(row, int(self.matrix.indices[wrong[0]]), float(self.matrix.data[wrong[0]]))
        odd = np.flatnonzero(~np.isfinite(self._filled))
        if len(odd) and not np.isnan(self._filled).all():
            raise NonFiniteScore(0, int(odd[0]), float(self._filled[odd[0]]))

    def counts(self, cells: np.ndarray, out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For cells of the grid, how many candidates score higher, score the same, and of these stand in front.

        Parameters
        ----------
        cells, out : ndarray of int64
            Positions in the flattened grid, ascending: what is asked, and what is no candidate.

        Returns
        -------
        counts : ndarray of int64, shape (3, n_cells)
            As `frostline.ranking` needs them; `UNLISTED` where an item was never retrieved.
        n_candidates : ndarray of int64, shape (n_queries,)
            Without those that were never retrieved.
        """
        self.check()
        n_queries, n_items = self.shape
        found = np.zeros((3, len(cells)), np.int64)
        barred = np.searchsorted(out, np.arange(n_queries + 1) * n_items)
        n_candidates = n_items - np.diff(barred)
        if self.is_partial:
            row = np.repeat(np.arange(n_queries), np.diff(self.matrix.indptr))
            listed = ~np.isin(row * n_items + self.matrix.indices, out)
            n_candidates = np.bincount(row[listed], minlength=n_queries)
        query, item = np.divmod(cells, n_items)
        starts = np.flatnonzero(np.diff(query, prepend=-1))
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(cells)], strict=True):
            q = int(query[start])
            columns, values = self.row(q)
            excluded = out[barred[q] : barred[q + 1]] - q * n_items
            if len(excluded):
                kept = ~np.isin(columns, excluded)
                hidden = np.concatenate([columns[kept], excluded])
                columns_in, values_in = columns[kept], values[kept]
            else:
                hidden, columns_in, values_in = columns, columns, values
            filled = self._filled[hidden]
            for at in range(start, stop):
                found[:, at] = self._count(int(item[at]), columns, values, columns_in, values_in, hidden, filled)
        return found, n_candidates

    def _count(self, item, columns, values, columns_in, values_in, hidden, filled) -> tuple[int, int, int]:
        place = np.searchsorted(columns, item)
        is_stored = place < len(columns) and columns[place] == item
        score = values[place] if is_stored else self._filled[item]
        if np.isnan(score):
            return UNLISTED, 0, 0
        same = values_in == score
        greater, tied = np.count_nonzero(values_in > score), np.count_nonzero(same)
        ahead = np.count_nonzero(same & (columns_in < item))
        if not self.is_partial:
            low, high = np.searchsorted(self._sorted, score, "left"), np.searchsorted(self._sorted, score, "right")
            alike = filled == score
            greater += len(self._sorted) - high - np.count_nonzero(filled > score)
            tied += high - low - np.count_nonzero(alike)
            ahead += np.searchsorted(self._order[low:high], item) - np.count_nonzero(alike & (hidden < item))
        return greater, tied, ahead

    def levels(self, query: np.ndarray, item: np.ndarray, excluded: Pairs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The scores that occur among candidates of queries with a relevant one, ascending, how many have each, and how many
        of these are relevant.

        Parameters
        ----------
        query, item : ndarray of int
            The relevant pairs.
        excluded : pair of ndarray of int
        """
        n_queries, n_items = self.shape
        asked = np.bincount(query, minlength=n_queries) > 0
        row = np.repeat(np.arange(n_queries), np.diff(self.matrix.indptr))
        stored = row * np.int64(n_items) + self.matrix.indices
        out = np.unique(np.asarray(excluded[0], np.int64) * n_items + excluded[1])
        kept = asked[row] & ~np.isin(stored, out)
        score, n = [self.matrix.data[kept]], [np.ones(kept.sum(), np.int64)]
        if not self.is_partial:
            hidden = np.union1d(stored[asked[row]], out[asked[out // n_items]])
            score.append(self._filled)
            n.append(int(asked.sum()) - np.bincount(hidden % n_items, minlength=n_items))
        cells = np.asarray(query, np.int64) * n_items + item
        place = np.minimum(np.searchsorted(stored, cells), max(len(stored) - 1, 0))
        is_stored = stored[place] == cells if len(stored) else np.zeros(len(cells), bool)
        of_relevant = np.where(is_stored, self.matrix.data[place] if len(stored) else 0, self._filled[item])
        value, where = np.unique(np.concatenate(score), return_inverse=True)
        total = np.bincount(where, np.concatenate(n), len(value)).astype(np.int64)
        listed = of_relevant[~np.isnan(of_relevant)].astype(np.float32)
        relevant = np.bincount(np.searchsorted(value, listed), minlength=len(value))
        present = total > 0
        return value[present].astype(np.float64), total[present], relevant[present]

    def top(self, k: int, place: np.ndarray, excluded: Pairs) -> np.ndarray:
        """Each query's k best candidates, ties by `place` (shape (n_items,)); int32, `NOBODY` at the end of short lists."""
        n_queries = len(self)
        lists = np.full((n_queries, k), NOBODY, np.int32)
        best = np.empty(0, np.int64) if self.is_partial else np.lexsort((place, -self._filled))
        barred_order = np.argsort(excluded[0], kind="stable")
        barred_items = np.asarray(excluded[1])[barred_order]
        bounds = np.searchsorted(np.asarray(excluded[0])[barred_order], np.arange(n_queries + 1))
        for query in range(n_queries):
            columns, values = self.row(query)
            out = barred_items[bounds[query] : bounds[query + 1]]
            rest = best[: k + len(columns) + len(out)]
            if len(out):
                kept = ~np.isin(columns, out)
                rest = rest[~np.isin(rest, out)]
                rest = rest[~np.isin(rest, columns)]
                columns, values = columns[kept], values[kept]
            else:
                rest = rest[~np.isin(rest, columns)]
            items = np.concatenate([columns, rest[:k]])
            scores = np.concatenate([values, self._filled[rest[:k]]])
            found = items[np.lexsort((place[items], -scores))[:k]]
            lists[query, : len(found)] = found
        return lists


def stacked(parts: list[SparseScores]) -> dict[str, Any]:
    """Several grids of one shape as arrays by name; `unstacked` is the way back."""
    return {f"{name}{number}": value for number, part in enumerate(parts) for name, value in part.to_arrays().items()}


def unstacked(arrays: Mapping[str, Any]) -> list[SparseScores]:
    n = sum(name.startswith("fill") for name in arrays)
    return [SparseScores(arrays[f"matrix{number}"], arrays[f"fill{number}"]) for number in range(n)]


def mixed_rows(parts: list[SparseScores], chosen: np.ndarray) -> SparseScores:
    """Each query's scores from the part that is chosen for it.

    Where the fills of parts differ, a query keeps its own part's by storing what differs from the first part's.
    """
    from scipy.sparse import vstack

    first = parts[chosen[0]].fill if len(chosen) else parts[0].fill
    rows = []
    for query, number in enumerate(chosen.tolist()):
        part = parts[number]
        columns, values = part.row(query)
        if not np.array_equal(part.fill, first, equal_nan=True):
            other = np.flatnonzero(~(part._filled == np.broadcast_to(first, part.shape[1])))
            extra = np.setdiff1d(other, columns, assume_unique=True)
            columns, values = np.concatenate([columns, extra]), np.concatenate([values, part._filled[extra]])
        rows.append(csr_array((values, columns, [0, len(columns)]), shape=(1, part.shape[1])))
    matrix = csr_array(vstack(rows, format="csr"))
    matrix.sort_indices()
    return SparseScores(matrix.astype(np.float32), first)


def best_of(block: np.ndarray, depth: int, first: int = 0) -> csr_array:
    """The `depth` best of each row of a dense block as a sparse matrix, with all that tie with the last one."""
    n_rows, n_items = block.shape
    if depth < n_items:
        cut = np.partition(block, n_items - depth, axis=1)[:, n_items - depth]
        row, column = np.nonzero((block >= cut[:, None]) & (block > -np.inf))
    else:
        row, column = np.nonzero(block > -np.inf)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_rows))])
    return csr_array((block[row, column].astype(np.float32), column, indptr), shape=block.shape)
