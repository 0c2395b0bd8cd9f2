"""Stage `evaluate`: compare scores with held-out labels. The first stage that reads test labels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from frostline.artifacts import Job
from frostline.errors import FrostlineError
from frostline.evaluation import BLOCK, Evaluation, Grid, blocks, evaluate_scores, exact_mean
from frostline.folds import item_folds, meta_half
from frostline.ranking import Metric, NonFiniteScore, PooledAUC, View, metrics_at, pooled_auc
from frostline.scramble import scramble
from frostline.seeds import generator

EXACT_CELLS = 1 << 28
"""Up to so many scores the pooled AUC is exact; above, it comes from a histogram, with its bound beside it."""


def run(job: Job) -> None:
    """Read `scores` (or, for the oracle, `truth`), `items`, `queries`, `labels`; write `per_query`, `per_item`, `pooled`."""
    params = job.params
    items = job.read_table("items")
    queries = job.read_table("queries")["query"]
    candidates = np.flatnonzero(items["fold"].to_numpy(zero_copy_only=False) == params["fold"])
    # Not `items["item_id"].take(…)`: it imports pyarrow.compute, which takes a fifth of this stage's time.
    ids = pa.array(np.array(items["item_id"].to_pylist(), dtype=object)[candidates], pa.string())
    labels = job.read_table("labels", columns=["query", "item"])
    query, column = labels["query"].to_numpy(), np.searchsorted(candidates, labels["item"].to_numpy())
    if "meta_users" in params:
        counts = ~meta_half(len(queries), params["seed"])[query]
        query, column = query[counts], column[counts]

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
    views = {}
    if params.get("scrambled"):
        pairs = scramble(query, column, scores, generator(params["seed"], "evaluate", "scramble"))
        views["scrambled"] = View(*pairs, row=pairs[0], row_query=np.arange(len(queries)))
    try:
        result = evaluate_scores(scores, query, column, parts, metrics, params["ties"], list(views.values()))
    except NonFiniteScore as error:
        raise FrostlineError(
            f"system '{params['system']}' scored {error.value} for query '{queries[error.row]}', "
            f"candidate '{ids[error.column]}'. Scores must be finite; check the method's parameters and inputs"
        ) from error
    _write(job, result, metrics, queries, ids, column)
    further = {name: _means(values, metrics) for name, values in zip(views, result.views, strict=True)}
    job.write_json("pooled", {**_pooled(scores, query, column), **_summary(result, metrics), **further})


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


def _write(job: Job, result: Evaluation, metrics, queries: pa.ChunkedArray, ids: pa.Array, column) -> None:
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


def _pooled(scores: Grid, query: np.ndarray, column: np.ndarray) -> dict[str, float | None]:
    if len(np.unique(query)) * scores.shape[1] <= EXACT_CELLS:
        value, bound = pooled_auc(scores[:], query, column), 0.0
    else:
        pool = PooledAUC()
        for start, pairs in blocks(scores.shape[0], query):
            pool.add(scores[start : start + BLOCK], query[pairs] - start, column[pairs])
        value, bound = pool.value, pool.bound
    return {"auc_pooled": None if math.isnan(value) else value, "auc_pooled_bound": bound}


def _summary(result: Evaluation, metrics: tuple[Metric, ...]) -> dict:
    evaluated = result.n_relevant > 0
    return {
        "n_queries": int(evaluated.sum()),
        "n_excluded": int((~evaluated).sum()),
        "mean": _means(result.values, metrics),
        "best": _means(result.best, metrics),
        "worst": _means(result.worst, metrics),
    }


def _means(values: np.ndarray, metrics: tuple[Metric, ...]) -> dict[str, float | None]:
    """Over the queries that have a value."""
    return {str(metric): exact_mean(values[:, position]) for position, metric in enumerate(metrics)}
