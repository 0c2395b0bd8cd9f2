"""Stage `evaluate`: compare scores with held-out labels. The first stage that reads test labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from frostline.artifacts import Job
from frostline.errors import FrostlineError
from frostline.evaluation import BLOCK, Evaluation, Grid, blocks, evaluate_scores, exact_mean, is_sparse
from frostline.folds import candidate_rows, item_folds, meta_half
from frostline.lists import top_lists
from frostline.ranking import Metric, NonFiniteScore, Pairs, PooledAUC, View, auc_of_levels, metrics_at, pooled_auc
from frostline.scorefile import read_scores
from frostline.scramble import scramble
from frostline.seeds import generator
from frostline.stratified import (
    POPULARITY,
    item_strata,
    pair_strata,
    strata_table,
    stratify,
    stratify_pairs,
    stratum_metrics,
)

EXACT_CELLS = 1 << 28
"""Up to so many scores the pooled AUC is exact; above, it comes from a histogram, with its bound beside it."""

LEVELS = 8192
"""Most scores that calibration tells apart."""


def run(job: Job) -> None:
    """Read `scores` (or, for the oracle, `truth`), `items`, `queries`, `labels`, `history`, of test the items' `strata`, and
    `excluded` where the protocol has it.

    Write `per_query`, `per_item`, `pooled`, of test `strata` and `lists`. Of `history` nothing is asked but how active a
    query was.
    """
    params = job.params
    items = job.read_table("items")
    queries = job.read_table("queries")["query"]
    candidates = candidate_rows(items["fold"].to_numpy(zero_copy_only=False), params["candidates"], params["fold"])
    # Not `items["item_id"].take(…)`: it imports pyarrow.compute, which takes a fifth of this stage's time.
    ids = pa.array(np.array(items["item_id"].to_pylist(), dtype=object)[candidates], pa.string())
    labels = job.read_table("labels")
    query, column = labels["query"].to_numpy(), np.searchsorted(candidates, labels["item"].to_numpy())
    if "meta_users" in params:
        counts = ~meta_half(len(queries), params["seed"])[query]
        query, column, labels = query[counts], column[counts], labels.filter(pa.array(counts))
    excluded = None
    if "excluded" in job.inputs:
        barred = job.read_table("excluded", columns=["query", "item"])
        excluded = barred["query"].to_numpy(), np.searchsorted(candidates, barred["item"].to_numpy())

    scores = _oracle(job, queries, ids) if "truth" in job.inputs else read_scores(job, "scores")
    if scores.shape != (len(queries), len(candidates)):
        raise FrostlineError(
            f"system '{params['system']}': scores have shape {scores.shape}, not {(len(queries), len(candidates))}"
        )
    parts = [np.arange(len(candidates))]
    if "val_folds" in params:
        fold = item_folds(len(candidates), params["val_folds"], params["seed"])
        parts = [np.flatnonzero(fold == part) for part in range(params["val_folds"])]
    metrics = metrics_at(params["k"])
    divided = item_strata(job.read_table("strata"), candidates) if "strata" in job.inputs else {}
    strata = [stratify(kind, values, query, column) for kind, values in divided.items()]
    if "strata" in job.inputs:
        strata += [stratify_pairs(kind, values, query, column) for kind, values in pair_strata(labels).items()]
    in_strata = stratum_metrics(metrics, Metric.parse(params["primary"]))
    views = [(stratum.view, in_strata) for stratum in strata]
    if params.get("scrambled"):
        pairs = scramble(query, column, scores, generator(params["seed"], "evaluate", "scramble"), excluded)
        views.append((View(*pairs, row=pairs[0], row_query=np.arange(len(queries))), metrics))
    try:
        result = evaluate_scores(scores, query, column, parts, metrics, params["ties"], views, excluded)
    except NonFiniteScore as error:
        raise FrostlineError(
            f"system '{params['system']}' scored {error.value} for query '{queries[error.row]}', "
            f"candidate '{ids[error.column]}'. Scores must be finite; check the method's parameters and inputs"
        ) from error
    activity = np.bincount(job.read_table("history", columns=["query"])["query"].to_numpy(), minlength=len(queries))
    n_candidates = np.full(len(queries), len(ids))
    if excluded is not None:
        n_candidates -= np.bincount(excluded[0], minlength=len(queries))
    job.write_table("per_query", _per_query(result, metrics, queries, n_candidates, activity))
    job.write_table("per_item", _per_item(result, metrics, ids, column, divided))
    if "strata" in job.outputs:
        job.write_table(
            "strata", strata_table(strata, result.views[: len(strata)], in_strata, queries.combine_chunks())
        )
    if "lists" in job.outputs:
        lists = top_lists(scores, max(params["k"]), params["seed"], excluded)
        with job.array_writer("lists", lists.shape, np.int32) as write:
            write(lists)
    summary = {**_pooled(job, scores, query, column, excluded), **_summary(result, metrics)}
    for stratum, values in zip(strata, result.views, strict=False):
        if stratum.kind == POPULARITY:
            by_value = {name: values[stratum.value == code] for code, name in enumerate(stratum.names.tolist())}
            summary[POPULARITY] = {name: _means(own, in_strata) for name, own in by_value.items()}
    if params.get("scrambled"):
        summary["scrambled"] = _means(result.views[-1], metrics)
    job.write_json("pooled", summary)


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


def _oracle(job: Job, queries: pa.ChunkedArray, ids: pa.Array) -> _Oracle:
    import pyarrow.compute as pc  # takes as long to import as the rest of the stage, and only the oracle needs it

    truth = job.read_arrays("truth")
    rows = pc.index_in(queries, pa.array(truth["users"])).to_numpy()
    columns = pc.index_in(ids, pa.array(truth["items"])).to_numpy()
    return _Oracle(truth["user_factors"][rows], truth["item_factors"][columns])


def _per_query(result: Evaluation, metrics, queries: pa.ChunkedArray, n_candidates: np.ndarray, activity) -> pa.Table:
    """`activity` is the number of a query's training interactions."""
    columns = {
        "query": queries,
        "n_candidates": pa.array(n_candidates, pa.int32()),
        "n_relevant": pa.array(result.n_relevant, pa.int32()),
    }
    for position, metric in enumerate(metrics):
        columns[str(metric)] = pa.array(result.values[:, position], from_pandas=True)
    return pa.table(columns | {"activity": pa.array(activity, pa.int32())})


def _per_item(result: Evaluation, metrics, ids: pa.Array, column: np.ndarray, strata: Mapping) -> pa.Table:
    columns = {"item": ids, "n_relevant": pa.array(np.bincount(column, minlength=len(ids)), pa.int32())}
    for position, name in enumerate([*map(str, metrics), "relevance"]):
        columns[name] = pa.array(result.shares[:, position])
    return pa.table(columns | {kind: pa.array(values.tolist(), pa.string()) for kind, values in strata.items()})


def _pooled(
    job: Job, scores: Grid, query: np.ndarray, column: np.ndarray, excluded: Pairs | None
) -> dict[str, float | None]:
    """The pooled AUC. Where calibration asks for them, write the `counts` of each score."""
    is_exact, counts = len(np.unique(query)) * scores.shape[1] <= EXACT_CELLS, "counts" in job.outputs
    pool = PooledAUC()
    if is_sparse(scores):
        levels = scores.levels(query, column, np.zeros((2, 0), np.int64) if excluded is None else excluded)
        pool.count(*levels)
        value, bound = auc_of_levels(*levels[1:]), 0.0
    else:
        if counts or not is_exact:
            for start, pairs in blocks(scores.shape[0], query):
                out = None if excluded is None else _within(excluded, start)
                pool.add(scores[start : start + BLOCK], query[pairs] - start, column[pairs], excluded=out)
        exact = (pooled_auc(scores[:], query, column, excluded=excluded), 0.0) if is_exact else None
        value, bound = exact or (pool.value, pool.bound)
    if counts:
        job.write_arrays("counts", dict(zip(("score", "n", "n_relevant"), pool.levels(LEVELS), strict=True)))
    return {"auc_pooled": None if math.isnan(value) else value, "auc_pooled_bound": bound}


def _within(excluded: Pairs, start: int) -> Pairs:
    query, column = excluded
    inside = (query >= start) & (query < start + BLOCK)
    return query[inside] - start, column[inside]


def _summary(result: Evaluation, metrics: tuple[Metric, ...]) -> dict:
    evaluated = result.n_relevant > 0
    return {
        "n_queries": int(evaluated.sum()),
        "n_excluded": int((~evaluated).sum()),
        "mean": _means(result.values, metrics),
        "best": _means(result.best, metrics),
        "worst": _means(result.worst, metrics),
        "any_order": _means(result.any_order, metrics),
        "tied_at": {
            str(k): float(is_open[evaluated].mean()) for k, is_open in result.tied_at.items() if evaluated.any()
        },
    }


def _means(values: np.ndarray, metrics: tuple[Metric, ...]) -> dict[str, float | None]:
    """Over the queries that have a value."""
    return {str(metric): exact_mean(values[:, position]) for position, metric in enumerate(metrics)}
