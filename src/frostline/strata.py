"""Stage `strata`: how every system does on rare and on popular items, by category, and for idle and for active users."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from frostline.artifacts import Job
from frostline.bootstrap import SeedResult, draw_means, interval
from frostline.evaluation import exact_mean
from frostline.folds import TEST
from frostline.results import Results, read_results, rounded
from frostline.tables import write_rows

DRAWS = 2000
"""Fewer than for the leaderboard: these intervals describe, they decide nothing."""

BUCKETS = 5
QUERY_STRATA = ("activity", "history")
"""Numbers of a query, as far as `per_query` has them, that are bucketed by quantiles: 1 holds the lowest fifth."""

COLUMNS = ["system", "stratum", "value", "low", "high", "metric", "mean", "sd", "ci_low", "ci_high"]
COLUMNS += ["n_seeds", "n_queries", "n_relevant", "n_items", "kind"]


@dataclass(frozen=True)
class Stratum:
    """One value of one stratum in one seed, every system's figures in it.

    Attributes
    ----------
    values : ndarray of float64, shape (n_queries, n_systems, n_metrics)
        NaN where a query is not in it or has no value.
    n_relevant : int
    n_items : int or None
        Candidates in it; None where it divides the queries.
    low, high : float or None
        The least and the most of the number that was bucketed.
    """

    values: np.ndarray
    n_relevant: int
    n_items: int | None
    low: float | None
    high: float | None


def run(job: Job) -> None:
    """Read every `per_query`, `per_item`, `pooled` and `strata`; write `strata`.

    A row of the table is a system's mean over seeds of the mean over the queries that a stratum holds, or in which they have
    relevant items; `sd` is over seeds. The interval, of the primary metric, is the bootstrap over seeds and users: the items
    of a stratum are other ones in every seed. `low` and `high` tell what a bucket spans, of an item's relevant pairs and of
    a query's interactions.
    """
    results = read_results(job, TEST)
    tables = {
        (seed, system): job.read_table(f"strata[{seed},{system},{TEST}]")
        for seed in results.seeds
        for system in results.systems
    }
    write_rows(job, "", strata_rows(results, tables, job.params), COLUMNS)


def strata_rows(results: Results, tables: Mapping[tuple[int, str], pa.Table], params: Mapping) -> list[dict]:
    """Rows of `tables/strata`, by stratum, then as the systems are listed."""
    names = next(iter(tables.values())).column_names
    metrics = names[names.index("n_relevant") + 1 :]
    found: dict[tuple[str, str], dict[int, Stratum]] = {}
    for seed in results.seeds:
        for key, stratum in (*_of_items(results, tables, seed, metrics), *_of_queries(results, seed, metrics)):
            found.setdefault(key, {})[seed] = stratum
    whole = dict(zip(results.seeds, results.by_seed(metrics[:1]), strict=True))
    rows = []
    for (kind, value), by_seed in sorted(found.items(), key=lambda item: (item[0][0], len(item[0][1]), item[0][1])):
        low, high = _intervals([(whole[seed], stratum.values[:, :, 0]) for seed, stratum in by_seed.items()], params)
        for number, system in enumerate(results.systems):
            for position, metric in enumerate(metrics):
                means = [exact_mean(stratum.values[:, number, position]) for stratum in by_seed.values()]
                means = [mean for mean in means if mean is not None]
                row = {
                    "system": system,
                    "stratum": kind,
                    "value": value,
                    "low": _extreme(min, [stratum.low for stratum in by_seed.values()]),
                    "high": _extreme(max, [stratum.high for stratum in by_seed.values()]),
                    "metric": metric,
                    "mean": statistics.fmean(means) if means else None,
                    "sd": statistics.stdev(means) if len(means) > 1 else None,
                    "ci_low": float(low[number]) if position == 0 else None,
                    "ci_high": float(high[number]) if position == 0 else None,
                    "n_seeds": len(means),
                    "n_queries": sum(
                        int((~np.isnan(stratum.values[:, number, position])).sum()) for stratum in by_seed.values()
                    ),
                    "n_relevant": sum(stratum.n_relevant for stratum in by_seed.values()),
                    "n_items": _extreme(sum, [stratum.n_items for stratum in by_seed.values()]),
                    "kind": params["systems"][system],
                }
                rows.append({name: rounded(value) for name, value in row.items()})
    return rows


def _of_items(results: Results, tables: Mapping, seed: int, metrics: list[str]) -> Iterator:
    """Strata that divide the items, from what `evaluate` found for each (query, stratum)."""
    first = tables[seed, results.systems[0]]
    items = results.per_item[seed, results.systems[0]]
    queries = results.per_query[seed, results.systems[0]]["query"].to_pylist()
    place = {query: row for row, query in enumerate(queries)}
    row = np.array([place[query] for query in first["query"].to_pylist()], dtype=np.int64)
    figures = np.stack(
        [
            np.column_stack([tables[seed, system][metric].to_numpy(zero_copy_only=False) for metric in metrics])
            for system in results.systems
        ],
        axis=1,
    )
    keys = np.array([f"{k}\0{v}" for k, v in zip(*(first[c].to_pylist() for c in ("stratum", "value")), strict=True)])
    n_relevant = first["n_relevant"].to_numpy()
    labels = items["n_relevant"].to_numpy()
    for key in np.unique(keys).tolist():
        kind, _, value = key.partition("\0")
        own = keys == key
        values = np.full((len(queries), *figures.shape[1:]), np.nan)
        values[row[own]] = figures[own]
        of_pairs = kind not in items.column_names  # it divides the relevant pairs, and no items
        members = labels[:0] if of_pairs else labels[np.array(items[kind].to_pylist()) == value]
        span = (int(members.min()), int(members.max())) if kind == "popularity" else (None, None)
        n_items = None if of_pairs else len(members)
        yield (kind, value), Stratum(values, int(n_relevant[own].sum()), n_items, *span)


def _of_queries(results: Results, seed: int, metrics: list[str]) -> Iterator:
    """Strata that divide the queries, by the fifths of a number of theirs."""
    tables = [results.per_query[seed, system] for system in results.systems]
    n_relevant = tables[0]["n_relevant"].to_numpy()
    figures = np.stack(
        [np.column_stack([t[metric].to_numpy(zero_copy_only=False) for metric in metrics]) for t in tables], axis=1
    )
    for kind in QUERY_STRATA:
        if kind in tables[0].column_names:
            number = tables[0][kind].to_numpy()
            asked = n_relevant > 0
            if not np.ptp(number[asked]):
                continue  # alike in all queries
            edges = np.quantile(number[asked], np.arange(1, BUCKETS) / BUCKETS)
            bucket = np.searchsorted(edges, number, side="left")
            for value in np.unique(bucket[asked]).tolist():
                own = asked & (bucket == value)
                values = np.where(own[:, None, None], figures, np.nan)
                span = int(number[own].min()), int(number[own].max())
                yield (kind, str(value + 1)), Stratum(values, int(n_relevant[own].sum()), None, *span)


def _intervals(seeds: list[tuple[SeedResult, np.ndarray]], params: Mapping) -> tuple[np.ndarray, np.ndarray]:
    """Of every system's mean, over seeds and users."""
    results = []
    for whole, values in seeds:
        own = ~np.isnan(values).all(axis=1)
        nothing = np.zeros((1, values.shape[1]))
        results.append(
            replace(
                whole,
                user=whole.user[own],
                values=values[own],
                item=np.zeros(1, np.int64),
                shares=nothing,
                relevance=np.ones(1),
            )
        )
    draws = draw_means(results, min(params["seeds"]), DRAWS, factors=("seeds", "users"))
    return interval(np.clip(draws, 0, 1))


def _extreme(of, values: list):
    return None if None in values else of(values)
