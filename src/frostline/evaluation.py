"""Per-query and per-item metrics of a whole grid of scores, which is read by blocks of queries."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from frostline.ranking import Metric, NonFiniteScore, contributions, evaluate, rank_relevant

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
    """

    values: np.ndarray
    best: np.ndarray
    worst: np.ndarray
    shares: np.ndarray
    n_relevant: np.ndarray


def evaluate_scores(
    scores: Grid,
    query: np.ndarray,
    column: np.ndarray,
    parts: list[np.ndarray],
    metrics: tuple[Metric, ...],
    ties: str = "expected",
) -> Evaluation:
    """Evaluate every query, its candidates being the columns of a part; a query's value is the mean over its parts.

    Parameters
    ----------
    scores : ndarray of float, shape (n_queries, n_candidates)
        Or what gives such an array when sliced by rows; it is read `BLOCK` queries at a time.
    query, column : ndarray of int
        The relevant pairs, by query.
    parts : list of ndarray of int
        Disjoint sets of columns. A query counts in the parts where it has a relevant candidate.
    metrics : tuple of Metric
    ties : {'expected', 'item_id'}
    """
    n_queries, n_candidates = scores.shape
    part_of = np.empty(n_candidates, dtype=np.int64)
    position = np.empty(n_candidates, dtype=np.int64)
    for number, columns in enumerate(parts):
        part_of[columns], position[columns] = number, np.arange(len(columns))
    used, n_relevant = np.unique(query.astype(np.int64) * len(parts) + part_of[column], return_counts=True)
    # Where every candidate of a part is relevant there is nothing to tell apart, and the part has no AUC.
    has_others = n_relevant < np.array([len(columns) for columns in parts])[used % len(parts)]
    n_parts, n_parts_auc = (
        np.bincount(used[kept] // len(parts), minlength=n_queries) for kept in (slice(None), has_others)
    )
    divisor = np.stack([n_parts_auc if metric.name == "auc" else n_parts for metric in metrics], axis=1)

    is_whole = len(parts) == 1 and np.array_equal(parts[0], np.arange(n_candidates))
    sums = np.zeros((3, n_queries, len(metrics)))
    shares = np.zeros((len(metrics) + 1, n_candidates))
    for start, pairs in blocks(n_queries, query):
        block = np.asarray(scores[start : start + BLOCK])
        for number, columns in enumerate(parts):
            own = pairs[part_of[column[pairs]] == number]
            view = block if is_whole else block.take(columns, axis=1)
            ranks = _named_columns(view, query[own] - start, position[column[own]], ties, start, columns)
            rows = slice(start, start + len(block))
            expected = np.nan_to_num(evaluate(ranks, metrics))
            is_tied = (ranks.tied > ranks.relevant_tied).any()
            extremes = [np.nan_to_num(evaluate(case, metrics)) for case in (ranks.best(), ranks.worst()) if is_tied]
            sums[:, rows] += [expected, *(extremes or [expected, expected])]
            of = start + ranks.query
            item = ranks.item.astype(np.intp)
            added = np.nan_to_num(contributions(ranks, metrics).T, copy=False)
            for share, values, count in zip(shares[:-1], added, np.maximum(divisor.T, 1), strict=True):
                share[columns] += np.bincount(item, values / count[of], len(columns))
            relevance = 1 / (n_parts[of] * ranks.n_relevant[ranks.query])
            shares[-1, columns] += np.bincount(item, relevance, len(columns))
    with np.errstate(invalid="ignore"):
        values, best, worst = sums / divisor
    return Evaluation(values, best, worst, shares.T, np.bincount(query, minlength=n_queries))


def _named_columns(view, row, column, ties, start, columns):
    """Rank, and let an error name the row and column of the whole, not of the view."""
    try:
        return rank_relevant(view, row, column, ties=ties)
    except NonFiniteScore as error:
        raise NonFiniteScore(start + error.row, int(columns[error.column]), error.value) from error


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
