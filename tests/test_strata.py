"""Row C13: the table by stratum against averages taken by hand from the files that `evaluate` writes."""

import itertools
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest

from frostline.results import Results
from frostline.strata import COLUMNS, strata_rows

SYSTEMS = {"a": "system", "b": "baseline"}
METRICS = ["ndcg@5", "recall@5", "auc"]
PARAMS = {"systems": SYSTEMS, "seeds": [1, 2]}


def world(seeds=(1, 2), n_queries=60, n_items=12, equal=False):
    """Random files of the right form, with queries that nothing is relevant to and figures that are undefined."""
    per_query, per_item, tables = {}, {}, {}
    for seed in seeds:
        rng = np.random.default_rng(seed)
        users = [f"u{n}" for n in rng.permutation(n_queries + 5)[:n_queries]]
        relevant = rng.random((n_queries, n_items)) < rng.random((n_queries, 1)) * 0.3
        bucket, category = rng.integers(1, 4, n_items).astype(str), rng.choice(["x", "y"], n_items)
        activity = rng.integers(1, 40, n_queries)
        pairs = sorted(
            {(kind, query, of[item]) for kind, of in (("popularity", bucket), ("category", category))
             for query, item in zip(*np.nonzero(relevant), strict=True)}
        )  # fmt: skip
        for system in SYSTEMS:
            n_relevant = relevant.sum(axis=1)
            value = {m: np.where(n_relevant > 0, rng.random(n_queries), np.nan) for m in METRICS}
            inside = {m: rng.random(len(pairs)) for m in METRICS}
            inside["auc"][rng.random(len(pairs)) < 0.1] = np.nan
            if equal:
                inside = {m: np.full(len(pairs), 0.25) for m in METRICS}
            per_query[seed, system] = pa.table(
                {"query": users, "n_relevant": pa.array(n_relevant, pa.int32())}
                | {m: pa.array(value[m], from_pandas=True) for m in METRICS}
                | {"activity": pa.array(activity, pa.int32())}
            )
            shares = {m: rng.random(n_items) for m in METRICS}
            per_item[seed, system] = pa.table(
                {"item": [f"i{n}" for n in range(n_items)], "n_relevant": relevant.sum(axis=0), **shares}
                | {"relevance": np.ones(n_items), "popularity": bucket, "category": category}
            )
            kinds, queries, values = zip(*pairs, strict=True)
            code = {"popularity": bucket, "category": category}
            sizes = [int(relevant[q][code[k] == v].sum()) for k, q, v in pairs]
            tables[seed, system] = pa.table(
                {
                    "query": pa.array([users[q] for q in queries]).dictionary_encode(),
                    "stratum": pa.array(kinds).dictionary_encode(),
                    "value": pa.array([str(v) for v in values]).dictionary_encode(),
                    "n_relevant": pa.array(sizes, pa.int32()),
                    **{m: pa.array(inside[m], from_pandas=True) for m in METRICS},
                }
            )
    return Results("test", tuple(seeds), tuple(SYSTEMS), per_query, per_item, {}), tables


def by_hand(results, tables):
    """(system, stratum, value, metric) → each seed's defined figures."""
    found = defaultdict(lambda: defaultdict(list))
    for (seed, system), table in tables.items():
        for row in table.to_pylist():
            for metric in METRICS:
                if row[metric] is not None:
                    found[system, row["stratum"], row["value"], metric][seed].append(row[metric])
    for (seed, system), table in results.per_query.items():
        rows = [row for row in table.to_pylist() if row["n_relevant"]]
        edges = np.quantile([row["activity"] for row in rows], [0.2, 0.4, 0.6, 0.8])
        for row in rows:
            fifth = str(1 + sum(row["activity"] > edge for edge in edges))
            for metric in METRICS:
                found[system, "activity", fifth, metric][seed].append(row[metric])
    return found


def test_C13_every_row_is_the_mean_over_seeds_of_the_mean_over_its_queries():
    results, tables = world()
    rows = strata_rows(results, tables, PARAMS)
    expected = by_hand(results, tables)
    assert list(rows[0]) == COLUMNS
    assert len(rows) == len(expected) == len({(r["system"], r["stratum"], r["value"], r["metric"]) for r in rows})
    for row in rows:
        seeds = expected[row["system"], row["stratum"], row["value"], row["metric"]].values()
        means = [np.mean(values) for values in seeds]
        assert row["mean"] == pytest.approx(np.mean(means), rel=1e-11)
        assert row["sd"] == pytest.approx(np.std(means, ddof=1), rel=1e-9)
        assert (row["n_seeds"], row["n_queries"]) == (2, sum(map(len, seeds)))
        assert row["kind"] == SYSTEMS[row["system"]]
        assert (row["ci_low"] is None) == (row["metric"] != "ndcg@5")
        assert row["ci_low"] is None or 0 <= row["ci_low"] <= row["mean"] <= row["ci_high"] <= 1


def test_C13_counts_and_spans_are_those_of_the_files():
    results, tables = world()
    rows = {(row["stratum"], row["value"]): row for row in strata_rows(results, tables, PARAMS) if row["system"] == "a"}
    items = [row for seed in (1, 2) for row in results.per_item[seed, "a"].to_pylist()]
    for kind in ("popularity", "category"):
        for value in {item[kind] for item in items}:
            own = [item["n_relevant"] for item in items if item[kind] == value]
            row = rows[kind, value]
            assert (row["n_items"], row["n_relevant"]) == (len(own), sum(own))
            assert (row["low"], row["high"]) == ((min(own), max(own)) if kind == "popularity" else (None, None))
    fifths = [rows["activity", str(number)] for number in range(1, 6)]
    assert all(low["high"] <= high["high"] for low, high in itertools.pairwise(fifths))
    assert sum(row["n_relevant"] for row in fifths) == sum(item["n_relevant"] for item in items)
    assert {row["n_items"] for row in fifths} == {None}


def test_C13_the_interval_has_the_width_of_the_standard_error():
    """With one seed it is a bootstrap of a mean over users: about ± 1.96 standard errors."""
    results, tables = world(seeds=(1,), n_queries=800)
    for row in strata_rows(results, tables, PARAMS | {"seeds": [1]}):
        if row["metric"] == "ndcg@5" and row["stratum"] == "popularity":
            values = [r["ndcg@5"] for r in tables[1, row["system"]].to_pylist() if r["value"] == row["value"]]
            error = np.std(values, ddof=1) / np.sqrt(len(values))
            assert row["ci_high"] - row["ci_low"] == pytest.approx(2 * 1.96 * error, rel=0.1)
            assert row["sd"] is None


def test_C13_equal_figures_have_an_interval_of_no_width():
    rows = strata_rows(*world(equal=True), PARAMS)
    assert {(r["mean"], r["ci_low"], r["ci_high"]) for r in rows if r["stratum"] == "category" and r["ci_low"]} == {
        (0.25, 0.25, 0.25)
    }
