"""Stage `evaluate`: compare scores with held-out labels. The first stage that reads test labels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.artifacts import Job
from frostline.errors import FrostlineError
from frostline.folds import item_folds
from frostline.ranking import (
    Metric,
    NonFiniteScore,
    PooledAUC,
    contributions,
    evaluate,
    metrics_at,
    pooled_auc,
    rank_relevant,
)

BLOCK = 4096
EXACT_CELLS = 1 << 28
"""Up to so many scores the pooled AUC is exact; above, it comes from a histogram, with its bound beside it."""


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


def run(job: Job) -> None:
    """Read `scores` (or, for the oracle, `truth`), `items`, `queries`, `labels`; write `per_query`, `per_item`, `pooled`."""
    params = job.params
    items = job.read_table("items")
    queries = job.read_table("queries")["query"]
    candidates = np.flatnonzero(items["fold"].to_numpy(zero_copy_only=False) == params["fold"])
    ids = items["item_id"].take(pa.array(candidates))
    labels = job.read_table("labels", columns=["query", "item"])
    query, column = labels["query"].to_numpy(), np.searchsorted(candidates, labels["item"].to_numpy())

    scores = _oracle(job, queries, ids) if "truth" in job.inputs else job.read_array("scores")
    if scores.shape != (len(queries), len(candidates)):
        raise FrostlineError(
            f"system '{params['system']}': scores have shape {scores.shape}, not {(len(queries), len(candidates))}"
        )
    parts = [np.arange(len(candidates))]
    if "val_folds" in params:
        fold = item_folds(len(candidates), params["val_folds"], params["seed"])
        parts = [np.flatnonzero(fold == part) for part in range(params["val_folds"])]
    metrics = metrics_at(params["k"])
    try:
        result = evaluate_scores(scores, query, column, parts, metrics, params["ties"])
    except NonFiniteScore as error:
        raise FrostlineError(
            f"system '{params['system']}' scored {error.value} for query '{queries[error.row]}', "
            f"candidate '{ids[error.column]}'. Scores must be finite; check the method's parameters and inputs"
        ) from error
    _write(job, result, metrics, queries, ids, column)
    job.write_json("pooled", {**_pooled(scores, query, column), **_summary(result, metrics)})


def evaluate_scores(
    scores: np.ndarray | _Oracle,
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

    sums = np.zeros((3, n_queries, len(metrics)))
    shares = np.zeros((n_candidates, len(metrics) + 1))
    for start, pairs in _blocks(n_queries, query):
        block = np.asarray(scores[start : start + BLOCK])
        for number, columns in enumerate(parts):
            own = pairs[part_of[column[pairs]] == number]
            view = block if len(parts) == 1 else np.ascontiguousarray(block[:, columns])
            ranks = _named_columns(view, query[own] - start, position[column[own]], ties, start, columns)
            rows = slice(start, start + len(block))
            expected = np.nan_to_num(evaluate(ranks, metrics))
            is_tied = (ranks.tied > ranks.relevant_tied).any()
            extremes = [np.nan_to_num(evaluate(case, metrics)) for case in (ranks.best(), ranks.worst()) if is_tied]
            sums[:, rows] += [expected, *(extremes or [expected, expected])]
            of = start + ranks.query
            added = np.nan_to_num(contributions(ranks, metrics)) / np.maximum(divisor[of], 1)
            relevance = 1 / (n_parts[of] * ranks.n_relevant[ranks.query])
            for number_of_column, values in enumerate([*added.T, relevance]):
                shares[columns, number_of_column] += np.bincount(ranks.item, values, minlength=len(columns))
    with np.errstate(invalid="ignore"):
        values, best, worst = sums / divisor
    return Evaluation(values, best, worst, shares, np.bincount(query, minlength=n_queries))


def _named_columns(view, row, column, ties, start, columns):
    """Rank, and let an error name the row and column of the whole, not of the view."""
    try:
        return rank_relevant(view, row, column, ties=ties)
    except NonFiniteScore as error:
        raise NonFiniteScore(start + error.row, int(columns[error.column]), error.value) from error


def _blocks(n_queries: int, query: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    order = np.argsort(query, kind="stable")
    starts = np.arange(0, n_queries, BLOCK)
    bounds = np.searchsorted(query[order], [*starts, n_queries])
    for position, start in enumerate(starts.tolist()):
        yield start, order[bounds[position] : bounds[position + 1]]


@dataclass(frozen=True)
class _Oracle:
    """Scores by the generating probabilities, computed as they are asked for: the whole may not fit into memory."""

    user_factors: np.ndarray
    item_factors: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.user_factors), len(self.item_factors)

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self.user_factors[rows] @ self.item_factors.T


def _oracle(job: Job, queries: pa.ChunkedArray, ids: pa.ChunkedArray) -> _Oracle:
    truth = job.read_arrays("truth")
    rows = pc.index_in(queries, pa.array(truth["users"])).to_numpy()
    columns = pc.index_in(ids, pa.array(truth["items"])).to_numpy()
    return _Oracle(truth["user_factors"][rows], truth["item_factors"][columns])


def _write(job: Job, result: Evaluation, metrics, queries: pa.ChunkedArray, ids: pa.ChunkedArray, column) -> None:
    n_queries, n_candidates = len(queries), len(ids)
    per_query = {
        "query": queries,
        "n_candidates": pa.array(np.full(n_queries, n_candidates), pa.int32()),
        "n_relevant": pa.array(result.n_relevant, pa.int32()),
    }
    for position, metric in enumerate(metrics):
        per_query[str(metric)] = pa.array(result.values[:, position], from_pandas=True)
    per_item = {"item": ids, "n_relevant": pa.array(np.bincount(column, minlength=n_candidates), pa.int32())}
    for position, name in enumerate([*map(str, metrics), "relevance"]):
        per_item[name] = pa.array(result.shares[:, position])
    job.write_table("per_query", pa.table(per_query))
    job.write_table("per_item", pa.table(per_item))


def _pooled(scores: np.ndarray | _Oracle, query: np.ndarray, column: np.ndarray) -> dict[str, float | None]:
    if len(np.unique(query)) * scores.shape[1] <= EXACT_CELLS:
        value, bound = pooled_auc(scores[:], query, column), 0.0
    else:
        pool = PooledAUC()
        for start, pairs in _blocks(scores.shape[0], query):
            pool.add(scores[start : start + BLOCK], query[pairs] - start, column[pairs])
        value, bound = pool.value, pool.bound
    return {"auc_pooled": None if math.isnan(value) else value, "auc_pooled_bound": bound}


def _summary(result: Evaluation, metrics: tuple[Metric, ...]) -> dict:
    evaluated = result.n_relevant > 0

    def means(values: np.ndarray) -> dict[str, float | None]:
        return {str(metric): exact_mean(values[evaluated, position]) for position, metric in enumerate(metrics)}

    return {
        "n_queries": int(evaluated.sum()),
        "n_excluded": int((~evaluated).sum()),
        "mean": means(result.values),
        "best": means(result.best),
        "worst": means(result.worst),
    }


def exact_mean(values: np.ndarray) -> float | None:
    """Mean of the numbers that are not NaN, from an exactly rounded sum: the order of the queries cannot change it."""
    known = values[~np.isnan(values)].tolist()
    return math.fsum(known) / len(known) if known else None
