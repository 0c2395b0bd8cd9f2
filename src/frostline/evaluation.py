"""Per-query and per-item metrics of a whole grid of scores, which is read by blocks of queries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from frostline.ranking import UNLISTED, Metric, NonFiniteScore, Pairs, Ranks, View, contributions, evaluate, rank_views

BLOCK = 4096


class Grid(Protocol):
    """Scores of queries × candidates: an array, or what gives one when it is sliced by rows."""

    shape: tuple[int, int]

    def __getitem__(self, rows: slice) -> np.ndarray: ...


@dataclass(frozen=True)
class Evaluation:
    """Per-query and per-item metrics of one system on one fold.

    Attributes
    ----------
    values, best, worst : ndarray of float64, shape (n_queries, n_metrics)
        NaN for queries without a relevant candidate.
    shares : ndarray of float64, shape (n_candidates, n_metrics + 1)
        What each item adds to the sum of `values` over queries; in the last column its share of the queries' relevance,
        1 / n_relevant summed over its queries.
    n_relevant : ndarray of int64, shape (n_queries,)
    any_order : ndarray of float64, shape (n_queries, n_metrics)
        The expectation over all orders of tied candidates: `values`, unless ties were put in order.
    tied_at : dict of ndarray of bool, shape (n_queries,)
        For each k whether a tie decides if a relevant candidate is among the first k.
    views : tuple of ndarray of float64, shape (n_rows, n_metrics)
        Values of the rows of each further view.
    """

    values: np.ndarray
    best: np.ndarray
    worst: np.ndarray
    shares: np.ndarray
    n_relevant: np.ndarray
    any_order: np.ndarray
    tied_at: dict[int, np.ndarray]
    views: tuple[np.ndarray, ...] = ()


def evaluate_scores(
    scores: Grid,
    query: np.ndarray,
    column: np.ndarray,
    parts: list[np.ndarray],
    metrics: tuple[Metric, ...],
    ties: str = "expected",
    views: Sequence[tuple[View, Sequence[Metric]]] = (),
    excluded: Pairs | None = None,
) -> Evaluation:
    """Evaluate every query, its candidates being the columns of a part; a query's value is the mean over its parts.

    Parameters
    ----------
    scores : ndarray of float, shape (n_queries, n_candidates)
        Or what gives such an array when sliced by rows; it is read `BLOCK` queries at a time. Or
        SparseScores, with one part.
    query, column : ndarray of int
        The relevant pairs, by query.
    parts : list of ndarray of int
        Disjoint sets of columns. A query counts in the parts where it has a relevant candidate.
    metrics : tuple of Metric
    ties : {'expected', 'item_id'}
    views : sequence of (View, sequence of Metric)
        Further relevances of the same queries, whose rows are numbered in the order of their queries.
    excluded : pair of ndarray of int, optional
        Queries and columns that are no candidates. With one part only.
    """
    n_queries, n_candidates = scores.shape
    part_of = np.empty(n_candidates, dtype=np.int64)
    position = np.empty(n_candidates, dtype=np.int64)
    for number, columns in enumerate(parts):
        part_of[columns], position[columns] = number, np.arange(len(columns))
    sizes = np.array([len(columns) for columns in parts])
    everyone = np.arange(n_queries)
    whole = View(query, column, query, everyone)
    barred = np.zeros((2, 0), np.int64) if excluded is None else np.asarray(excluded)
    barred = barred[:, np.argsort(barred[0], kind="stable")]
    n_barred = np.bincount(barred[0], minlength=n_queries)
    tallies = [_Tally(view, part_of, sizes, of, n_barred) for view, of in ((whole, metrics), *views)]
    main = tallies[0]

    is_whole = len(parts) == 1 and np.array_equal(parts[0], np.arange(n_candidates))
    best, worst, any_order = np.zeros((3, n_queries, len(metrics)))
    tied_at = {metric.k: np.zeros(n_queries, dtype=bool) for metric in metrics if metric.k}
    shares = np.zeros((len(metrics) + 1, n_candidates))
    is_whole_grid = is_sparse(scores)  # small enough for one block
    for start in range(0, n_queries, max(n_queries, 1) if is_whole_grid else BLOCK):
        block = scores if is_whole_grid else np.asarray(scores[start : start + BLOCK])
        out = barred[:, slice(*np.searchsorted(barred[0], [start, start + len(block)]))] - [[start], [0]]
        rows = slice(start, start + len(block))
        for number, columns in enumerate(parts):
            here = block if is_whole else block.take(columns, axis=1)
            local = [tally.local(rows, number, position) for tally in tallies]
            ranks, *others = _named_columns(here, local, ties, start, columns, out)
            expected = main.add(rows, ranks)
            for tally, found in zip(tallies[1:], others, strict=True):
                tally.add(rows, found)
            tied = ranks.with_ties()
            is_tied = (tied.tied > tied.relevant_tied).any()
            for total, case in ((best, ranks.best), (worst, ranks.worst), (any_order, ranks.with_ties)):
                total[rows] += np.nan_to_num(evaluate(case(), metrics)) if is_tied and case() is not ranks else expected
            for k, open_ in tied_at.items():
                open_[rows] |= ranks.tied_at(k)
            of = start + ranks.query
            item = ranks.item.astype(np.intp)
            added = np.nan_to_num(contributions(ranks, metrics).T, copy=False)
            for share, values, count in zip(shares[:-1], added, np.maximum(main.divisor.T, 1), strict=True):
                share[columns] += np.bincount(item, values / count[of], len(columns))
            relevance = 1 / (main.n_parts[of] * ranks.n_relevant[ranks.query])
            shares[-1, columns] += np.bincount(item, relevance, len(columns))
    with np.errstate(invalid="ignore"):
        best, worst, any_order = (total / main.divisor for total in (best, worst, any_order))
    n_relevant = np.bincount(query, minlength=n_queries)
    views = tuple(tally.values for tally in tallies[1:])
    return Evaluation(main.values, best, worst, shares.T, n_relevant, any_order, tied_at, views)


class _Tally:
    """The sums of one view over parts, and what they are divided by."""

    def __init__(
        self, view: View, part_of: np.ndarray, sizes: np.ndarray, metrics: Sequence[Metric], n_barred: np.ndarray
    ) -> None:
        order = np.argsort(view.query, kind="stable")
        self._query, self._item, self._row = view.query[order], view.item[order], view.row[order]
        self._row_query, self._part, self._metrics = view.row_query, part_of[self._item], metrics
        n_rows = len(view.row_query)
        used, n_relevant = np.unique(self._row.astype(np.int64) * len(sizes) + self._part, return_counts=True)
        # Where every candidate of a part is relevant there is nothing to tell apart, and the part has no AUC.
        has_others = n_relevant < sizes[used % len(sizes)] - n_barred[view.row_query[used // len(sizes)]]
        self.n_parts, with_auc = (
            np.bincount(used[kept] // len(sizes), minlength=n_rows) for kept in (slice(None), has_others)
        )
        self.divisor = np.stack([with_auc if metric.name == "auc" else self.n_parts for metric in metrics], axis=1)
        self._sums = np.zeros((n_rows, len(metrics)))

    def local(self, queries: slice, part: int, position: np.ndarray) -> View:
        """The view of some of the queries on the candidates of a part, all numbered from zero."""
        own = slice(*np.searchsorted(self._query, [queries.start, queries.stop]))
        own = np.arange(own.start, own.stop)[self._part[own] == part]
        rows = self._rows(queries)
        return View(
            self._query[own] - queries.start,
            position[self._item[own]],
            self._row[own] - rows.start,
            self._row_query[rows] - queries.start,
        )

    def add(self, queries: slice, ranks: Ranks) -> np.ndarray:
        """Add the values of the queries on a part, and return them."""
        values = np.nan_to_num(evaluate(ranks, self._metrics))
        rows = self._rows(queries)
        self._sums[rows] += values
        if (ranks.greater == UNLISTED).any():
            # What was never retrieved is outside the AUC, which a query may then not have.
            listed = np.bincount(ranks.query[ranks.greater < UNLISTED], minlength=len(ranks.n_relevant))
            without = (listed == 0) | (listed == ranks.n_candidates)
            for column, metric in enumerate(self._metrics):
                if metric.name == "auc":
                    self.divisor[rows, column] *= ~without
        return values

    def _rows(self, queries: slice) -> slice:
        return slice(*np.searchsorted(self._row_query, [queries.start, queries.stop]))

    @property
    def values(self) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return self._sums / self.divisor


def _named_columns(here, views, ties, start, columns, out):
    """Rank, and let an error name the row and column of the whole, not of the block and the part."""
    try:
        return rank_views(here, views, ties=ties, excluded=out, unlisted=False)
    except NonFiniteScore as error:
        raise NonFiniteScore(start + error.row, int(columns[error.column]), error.value) from error


def is_sparse(scores: object) -> bool:
    """Whether scores are `frostline.sparse.SparseScores`, asked without importing these."""
    return hasattr(scores, "levels")


def blocks(n_queries: int, query: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    order = np.argsort(query, kind="stable")
    starts = np.arange(0, n_queries, BLOCK)
    bounds = np.searchsorted(query[order], [*starts, n_queries])
    for position, start in enumerate(starts.tolist()):
        yield start, order[bounds[position] : bounds[position + 1]]


def exact_mean(values: np.ndarray) -> float | None:
    """Mean of the numbers that are not NaN, from an exactly rounded sum: the order of the queries cannot change it."""
    known = values[~np.isnan(values)].tolist()
    return math.fsum(known) / len(known) if known else None
