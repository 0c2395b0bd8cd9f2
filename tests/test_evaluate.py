"""Scores against labels: rows C10, C11 and C14, and the shares of single items that the bootstrap needs."""

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frostline import evaluate as stage
from frostline import evaluation
from frostline.errors import FrostlineError
from frostline.evaluation import evaluate_scores, exact_mean
from frostline.folds import item_folds, meta_half
from frostline.ranking import Metric, contributions, evaluate, metrics_at, pooled_auc, rank_relevant
from frostline.scramble import scramble
from frostline.seeds import generator

METRICS = metrics_at((1, 3, 5))
OUTPUTS = ["per_query.parquet", "per_item.parquet", "pooled.json"]
STRATA = ["a", "b", "b", ""]


def grid(seed, n_queries=25, n_items=24, levels=6, share=0.15):
    """Scores with ties, and the pairs of a relevance that some queries have none of."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, (n_queries, n_items)).astype(np.float32)
    scores += rng.random(scores.shape).astype(np.float32) * (rng.random(n_queries)[:, None] < 0.5)
    relevant = rng.random(scores.shape) < share * rng.integers(0, 3, n_queries)[:, None]
    query, column = np.nonzero(relevant)
    order = rng.permutation(len(query))
    return scores, query[order], column[order]


def thirds(n_items, seed=0):
    part = np.random.default_rng(seed).integers(0, 3, n_items)
    return [np.flatnonzero(part == number) for number in range(3)]


def part_by_part(scores, query, column, parts, variant):
    """The mean over the parts in which a query has a value, with nothing but `ranking`."""
    values = []
    for columns in parts:
        own = np.isin(column, columns)
        ranks = rank_relevant(scores[:, columns].copy(), query[own], np.searchsorted(columns, column[own]))
        values.append(evaluate(getattr(ranks, variant)() if variant else ranks, METRICS))
    known = ~np.isnan(values)
    total, count = np.nansum(values, axis=0), known.sum(axis=0)
    return np.where(count, total / np.maximum(count, 1), np.nan)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_parts", [1, 3])
def test_C11_a_query_is_worth_the_mean_of_its_parts(seed, n_parts):
    scores, query, column = grid(seed)
    parts = thirds(24, seed) if n_parts == 3 else [np.arange(24)]
    found = evaluate_scores(scores, query, column, parts, METRICS)
    for variant in ("", "best", "worst"):
        expected = part_by_part(scores, query, column, parts, variant)
        np.testing.assert_allclose(getattr(found, variant or "values"), expected, rtol=1e-14)
    assert found.n_relevant.tolist() == np.bincount(query, minlength=25).tolist()
    assert np.isnan(found.values[found.n_relevant == 0]).all() and (found.n_relevant == 0).any()
    assert not np.isnan(found.values[found.n_relevant > 0, :-1]).any()
    assert (found.best - found.worst)[found.n_relevant > 0].mean() > 0.01


def test_C11_ties_by_id_reach_every_part():
    scores, parts = np.zeros((3, 24), np.float32), thirds(24)
    for place, recall in ((0, 1.0), (-1, 0.0)):
        column = np.array([columns[place] for columns in parts])
        found = evaluate_scores(scores, np.arange(3), column, parts, METRICS, "item_id")
        assert (found.values[:, 0] == recall).all()
        # What another order would have given stands beside it.
        assert (found.best[:, 0] == 1).all() and (found.worst[:, 0] == 0).all()
        fair = evaluate_scores(scores, np.arange(3), column, parts, METRICS)
        np.testing.assert_array_equal(found.any_order, fair.values)
        np.testing.assert_array_equal(fair.any_order, fair.values)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_parts", [1, 3])
def test_the_items_shares_add_up_to_the_sum_over_queries(seed, n_parts):
    scores, query, column = grid(seed)
    parts = thirds(24, seed) if n_parts == 3 else [np.arange(24)]
    found = evaluate_scores(scores, query, column, parts, METRICS)
    np.testing.assert_allclose(found.shares[:, :-1].sum(axis=0), np.nansum(found.values, axis=0), rtol=1e-12)
    assert found.shares[:, -1].sum() == pytest.approx((found.n_relevant > 0).sum())
    nobodys = ~np.isin(np.arange(24), column)
    assert (found.shares[nobodys] == 0).all() and (found.shares >= 0).all()


def test_an_items_share_is_what_its_own_pairs_contribute():
    scores, query, column = grid(7)
    found = evaluate_scores(scores, query, column, [np.arange(24)], METRICS)
    ranks = rank_relevant(scores, query, column)
    each = np.nan_to_num(contributions(ranks, METRICS))
    for item in range(24):
        np.testing.assert_allclose(found.shares[item, :-1], each[ranks.item == item].sum(axis=0), atol=1e-12)
        assert found.shares[item, -1] == pytest.approx((1 / found.n_relevant[query[column == item]]).sum())


def test_a_part_with_nothing_but_relevant_candidates_has_no_auc_and_does_not_lower_it():
    scores = np.array([[3, 2, 1, 0]], np.float32)
    parts = [np.array([0, 1]), np.array([2, 3])]
    found = evaluate_scores(scores, np.zeros(3, int), np.array([0, 1, 2]), parts, METRICS)
    assert found.values[0, -1] == 1 and found.shares[:, -2].tolist() == [0, 0, 1, 0]
    alone = evaluate_scores(scores, np.zeros(2, int), np.array([0, 1]), parts, METRICS)
    assert np.isnan(alone.values[0, -1]) and not np.isnan(alone.values[0, :-1]).any()


@pytest.mark.parametrize("block", [1, 7, 24, 25, 26, 100])
def test_C10_block_boundaries_change_nothing(block, monkeypatch):
    scores, query, column = grid(2)
    whole = evaluate_scores(scores, query, column, thirds(24), METRICS)
    monkeypatch.setattr(evaluation, "BLOCK", block)
    found = evaluate_scores(scores, query, column, thirds(24), METRICS)
    for name in ("values", "best", "worst", "n_relevant"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
    np.testing.assert_allclose(found.shares, whole.shares, rtol=1e-13)


@pytest.mark.parametrize("n_queries", [4095, 4096, 4097, 8192, 8193])
def test_C10_queries_around_a_whole_number_of_blocks(n_queries):
    scores, query, column = grid(3, n_queries=n_queries, n_items=6)
    found = evaluate_scores(scores, query, column, [np.arange(6)], METRICS)
    expected = evaluate(rank_relevant(scores, query, column), METRICS)
    np.testing.assert_array_equal(found.values, expected)
    assert found.shares[:, 0].sum() == pytest.approx(np.nansum(expected[:, 0]))


@given(st.lists(st.floats(-1e15, 1e15) | st.just(float("nan")), max_size=30), st.randoms(use_true_random=False))
def test_C10_the_mean_does_not_depend_on_the_order(values, random):
    shuffled = random.sample(values, len(values))
    one, two = exact_mean(np.array(values)), exact_mean(np.array(shuffled))
    known = [value for value in values if not math.isnan(value)]
    assert one == two and (one is None) == (not known)
    assert not known or one == math.fsum(known) / len(known)


def test_C10_a_naive_sum_would_depend_on_it():
    values = np.random.default_rng(0).random(1000)
    assert len({float(sum(np.random.default_rng(s).permutation(values))) for s in range(9)}) > 1
    assert len({exact_mean(np.random.default_rng(s).permutation(values)) for s in range(9)}) == 1


PARAMS = {
    "k": [1, 3, 5],
    "ties": "expected",
    "fold": "test",
    "system": "als+knn",
    "primary": "ndcg@5",
    "scrambled": True,
}


def lay_out(files, scores, query, column, users=None, items=None, labels_of="test"):
    """Files of a fold: `items` names its candidates, between warm ones. Tables are sorted by name, as split leaves them."""
    n_queries, n_items = scores.shape
    users = [f"u{n:03}" for n in range(n_queries)] if users is None else users
    items = [f"i{n:03}" for n in range(n_items)] if items is None else items
    names = sorted([*items, "a-warm", "i000-warm", "zz-warm"])
    fold = ["warm" if name.endswith("warm") else labels_of for name in names]
    user_order, item_order = np.argsort(users), np.argsort(items)
    place = {name: row for row, name in enumerate(names)}
    files.put("items.parquet", pa.table({"item_id": names, "fold": fold}))
    files.put("queries.parquet", pa.table({"query": [users[row] for row in user_order]}))
    files.put("scores.npy", scores[user_order][:, item_order])
    own = {name: number for number, name in enumerate(items)}
    kept = {
        "item": pa.array(range(len(names)), pa.int32()),
        "category": [STRATA[own.get(name, 0) % 4] for name in names],
        "bucket": pa.array([own.get(name, 0) % 5 // 2 for name in names], pa.int32()),
        "stratum": ["whatever" for _ in names],
    }
    files.put("strata.parquet", pa.table(kept))
    files.put(
        "train.parquet", pa.table({"query": pa.array(np.repeat(np.arange(n_queries), 1 + user_order % 3), pa.int32())})
    )
    labels = sorted(
        (int(np.flatnonzero(user_order == q)[0]), place[items[c]]) for q, c in zip(query, column, strict=True)
    )
    files.put(
        "labels.parquet",
        pa.table(
            {
                "query": pa.array([q for q, _ in labels], pa.int32()),
                "item": pa.array([i for _, i in labels], pa.int32()),
            }
        ),
    )


def run(files, inputs=("scores.npy",), **changes):
    outputs = {Path(name).stem: name for name in OUTPUTS}
    if "strata.parquet" in inputs:
        outputs["strata"] = "found/strata.parquet"
    named = ["items.parquet", "queries.parquet", "labels.parquet", "train.parquet", *inputs]
    files.run(stage.run, named, outputs, **(PARAMS | {"seed": 3} | changes))
    return [files.get(name) for name in OUTPUTS]


def test_C11_C14_the_files_hold_every_query_and_item(files):
    scores, query, column = grid(4)
    lay_out(files, scores, query, column)
    per_query, per_item, pooled = run(files)
    result = evaluate_scores(scores, query, column, [np.arange(24)], METRICS)
    names = [str(metric) for metric in METRICS]
    assert per_query.column_names == ["query", "n_candidates", "n_relevant", *names, "activity"]
    assert per_query["activity"].to_pylist() == [1 + user % 3 for user in range(25)]
    assert per_item.column_names == ["item", "n_relevant", *names, "relevance"]
    assert per_query["query"].to_pylist() == [f"u{n:03}" for n in range(25)]
    assert per_item["item"].to_pylist() == [f"i{n:03}" for n in range(24)]
    assert set(per_query["n_candidates"].to_pylist()) == {24}
    assert per_query["n_relevant"].to_pylist() == result.n_relevant.tolist()
    assert per_item["n_relevant"].to_pylist() == np.bincount(column, minlength=24).tolist()
    for position, name in enumerate(names):
        np.testing.assert_array_equal(per_query[name].to_numpy(), result.values[:, position])
        np.testing.assert_array_equal(per_item[name].to_numpy(), result.shares[:, position])
    excluded = result.n_relevant == 0
    assert per_query["recall@1"].null_count == excluded.sum() > 0
    assert (pooled["n_queries"], pooled["n_excluded"]) == ((~excluded).sum(), excluded.sum())
    for kind, values in (("mean", result.values), ("best", result.best), ("worst", result.worst)):
        assert list(pooled[kind]) == names
        np.testing.assert_allclose(list(pooled[kind].values()), np.nanmean(values, axis=0), rtol=1e-13)
    assert pooled["auc_pooled"] == pooled_auc(scores, query, column) and pooled["auc_pooled_bound"] == 0


@pytest.mark.parametrize("ties", ["expected", "item_id"])
def test_C13_in_a_stratum_the_relevant_are_restricted_and_the_candidates_are_not(files, ties):
    """Each stratum against an evaluation of its pairs alone on the whole grid."""
    scores, query, column = grid(4)
    lay_out(files, scores, query, column)
    per_query, per_item, _ = run(files, inputs=("scores.npy", "strata.parquet"), ties=ties)
    rows = files.get("found/strata.parquet").to_pylist()
    of_item = {
        "category": ["(none)" if number % 4 == 3 else STRATA[number % 4] for number in range(24)],
        "popularity": [str(number % 5 // 2 + 1) for number in range(24)],
    }
    found = {(row["query"], row["stratum"], row["value"]): row for row in rows}
    assert len(found) == len(rows)
    metrics = [Metric.parse(name) for name in rows[0] if "@" in name or name == "auc"]
    assert [str(metric) for metric in metrics] == [
        *("ndcg@5", "recall@5", "precision@5", "map@5", "mrr@5", "hit_rate@5", "auc")
    ]
    for kind, values in of_item.items():
        assert per_item[kind].to_pylist() == values
        for value in set(values):
            own = np.array(values)[column] == value
            ranks = rank_relevant(scores, query[own], column[own], ties=ties)
            for number, figures in enumerate(evaluate(ranks, metrics)):
                row = found.pop((f"u{number:03}", kind, value), None)
                n_relevant = (query[own] == number).sum()
                assert (row is None) == (n_relevant == 0)
                if row:
                    assert row["n_relevant"] == n_relevant
                    np.testing.assert_array_equal([row[str(metric)] for metric in metrics], figures)
    assert not found
    assert per_query.equals(run(files, ties=ties)[0]), "strata change no other figure"


def test_C13_what_divides_no_items_is_no_stratum(files):
    lay_out(files, *grid(4))
    table = files.get("strata.parquet")
    one = table.set_column(1, "category", pa.array([""] * len(table))).set_column(
        2, "bucket", pa.array([0] * len(table))
    )
    files.put("strata.parquet", one)
    *_, per_item, _ = run(files, inputs=("scores.npy", "strata.parquet"))
    assert files.get("found/strata.parquet").num_rows == 0
    assert "category" not in per_item.column_names


def test_C12_with_and_without_calibration_the_same_bytes(folder):
    """What calibration asks for is one more file of the stage, and moves no bit of the others."""
    found = []
    for extra in ({}, {"counts": "counts.npz"}):
        files = folder()
        scores, query, column = grid(4)
        lay_out(files, scores, query, column)
        inputs = ["items.parquet", "queries.parquet", "labels.parquet", "train.parquet", "scores.npy"]
        outputs = {Path(name).stem: name for name in OUTPUTS} | extra
        files.run(stage.run, inputs, outputs, **PARAMS, seed=3)
        found.append(files.bytes(*OUTPUTS))
    assert found[0] == found[1]
    counts = files.get("counts.npz")
    assert counts["n_relevant"].sum() == len(query) and counts["n"].sum() == 24 * len(np.unique(query))


def test_C16_scrambled_labels_are_evaluated_beside_the_real_ones_and_change_nothing(files):
    scores, query, column = grid(4)
    lay_out(files, scores, query, column)
    *tables, pooled = run(files)
    pairs = scramble(query, column, scores, generator(3, "evaluate", "scramble"))
    assert set(zip(*pairs, strict=True)) != set(zip(query, column, strict=True))
    expected = np.nanmean(evaluate(rank_relevant(scores, *pairs), METRICS), axis=0)
    np.testing.assert_allclose(list(pooled["scrambled"].values()), expected, rtol=1e-12)
    *without, other = run(files, scrambled=False)
    assert all(one.equals(two) for one, two in zip(tables, without, strict=True))
    assert "scrambled" not in other and other.items() <= pooled.items()


def test_C16_a_system_that_tells_nothing_apart_is_worth_the_same_on_scrambled_labels(files):
    scores, query, column = grid(4)
    lay_out(files, np.zeros_like(scores), query, column)
    *_, pooled = run(files)
    assert pooled["scrambled"] == pytest.approx(pooled["mean"], rel=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_C10_relabelling_from_the_scores_on_changes_no_metric(seed, folder):
    """Any map of the ids, which sorts all tables anew: the same bits for every user, and for every mean."""
    scores, query, column = grid(seed, n_queries=60)
    rng = np.random.default_rng(seed)
    files, renamed = folder(), folder()
    users, items = (
        rng.permutation([f"person {n}" for n in range(60)]),
        rng.permutation([f"{n}-thing" for n in range(24)]),
    )
    lay_out(files, scores, query, column)
    lay_out(renamed, scores, query, column, users.tolist(), items.tolist())
    one, two = run(files), run(renamed)
    assert files.bytes("pooled.json") == renamed.bytes("pooled.json")
    for table, other, key, new in ((one[0], two[0], "query", users), (one[1], two[1], "item", items)):
        back = {name: row for row, name in enumerate(other[key].to_pylist())}
        moved = other.take([back[name] for name in new])
        for name in table.column_names[1:]:
            if key == "query":
                assert moved[name].combine_chunks().equals(table[name].combine_chunks())
            else:
                np.testing.assert_allclose(moved[name].to_numpy(), table[name].to_numpy(), rtol=1e-12)


def test_C10_the_order_of_the_labels_changes_nothing(folder):
    scores, query, column = grid(5)
    files, shuffled = folder(), folder()
    for place in (files, shuffled):
        lay_out(place, scores, query, column)
    labels = shuffled.get("labels.parquet")
    shuffled.put("labels.parquet", labels.take(np.random.default_rng(0).permutation(labels.num_rows)))
    run(files), run(shuffled)
    assert files.bytes("per_query.parquet", "pooled.json") == shuffled.bytes("per_query.parquet", "pooled.json")


def test_val_is_judged_within_its_item_folds(files):
    """Rulings 4: candidates are the items of a fold, and a query's value the mean over the folds."""
    scores, query, column = grid(6)
    lay_out(files, scores, query, column, labels_of="val")
    per_query, _, _ = run(files, fold="val", val_folds=4)
    fold = item_folds(24, 4, 3)
    expected = part_by_part(scores, query, column, [np.flatnonzero(fold == n) for n in range(4)], "")
    for position, metric in enumerate(METRICS):
        np.testing.assert_allclose(per_query[str(metric)].to_numpy(), expected[:, position], rtol=1e-14)
    assert sorted(np.bincount(fold)) == [6, 6, 6, 6] and (item_folds(24, 4, 4) != fold).any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("val_folds", [None, 3])
def test_a_score_that_is_not_finite_names_system_query_and_candidate(bad, val_folds, files, monkeypatch):
    monkeypatch.setattr(evaluation, "BLOCK", 8)
    scores, query, column = grid(8)
    scores[19, 13] = bad
    lay_out(files, scores, query, column)
    says = rf"system 'als\+knn' scored {bad} for query 'u019', candidate 'i013'\. Scores must be finite"
    with pytest.raises(FrostlineError, match=says):
        run(files, **({"val_folds": val_folds} if val_folds else {}))
    assert not (files.folder / "per_query.parquet").exists()


def test_scores_of_another_shape_are_refused(files):
    lay_out(files, *grid(9))
    files.put("scores.npy", np.zeros((25, 23), np.float32))
    with pytest.raises(FrostlineError, match=r"system 'als\+knn': scores have shape \(25, 23\), not \(25, 24\)"):
        run(files)


def test_C11_a_large_grid_has_its_pooled_auc_from_a_histogram_with_its_bound(files, monkeypatch):
    scores, query, column = grid(10, n_queries=60)
    lay_out(files, scores, query, column)
    exact = run(files)[2]
    monkeypatch.setattr(stage, "EXACT_CELLS", 0)
    monkeypatch.setattr(evaluation, "BLOCK", 16)
    streamed = run(files)[2]
    assert 0 < streamed["auc_pooled_bound"] < 0.2
    assert abs(streamed["auc_pooled"] - exact["auc_pooled"]) <= streamed["auc_pooled_bound"]
    assert {**streamed, "auc_pooled": 0, "auc_pooled_bound": 0} == {**exact, "auc_pooled": 0, "auc_pooled_bound": 0}


def test_C14_where_every_candidate_is_relevant_there_is_no_auc_and_no_crash(files):
    scores = np.zeros((2, 3), np.float32)
    lay_out(files, scores, np.array([0, 0, 0]), np.array([0, 1, 2]))
    per_query, _, pooled = run(files)
    assert pooled["auc_pooled"] is None and pooled["mean"]["auc"] is None and pooled["mean"]["recall@5"] == 1
    assert per_query["auc"].null_count == 2
    assert json.loads(files.bytes("pooled.json")[0])["mean"]["auc"] is None


def test_the_oracle_is_scored_from_the_truth_whatever_its_order(files):
    rng = np.random.default_rng(11)
    _, query, column = grid(11)
    left, right = rng.standard_normal((25, 3)).astype(np.float32), rng.standard_normal((24, 3)).astype(np.float32)
    lay_out(files, left @ right.T, query, column)
    expected = run(files)
    users, items = rng.permutation(25), rng.permutation(24)
    truth = {
        "users": np.array([*(f"u{n:03}" for n in users), "nobody"]),
        "items": np.array(["i000-warm", *(f"i{n:03}" for n in items)]),
        "user_factors": np.vstack([left[users], [[9, 9, 9]]]).astype(np.float32),
        "item_factors": np.vstack([[[9, 9, 9]], right[items]]).astype(np.float32),
    }
    files.put("truth.npz", truth)
    found = run(files, inputs=["truth.npz"])
    for one, two in zip(expected[:2], found[:2], strict=True):
        assert one.equals(two)


def test_C7_disjoint_leaves_the_meta_users_out_and_no_other(files):
    """Rulings 14: half of the users taught the meta-models, so their labels judge nothing."""
    scores, query, column = grid(4)
    lay_out(files, scores, query, column)
    whole, _, pooled = run(files)
    rest, _, pooled_rest = run(files, meta_users="disjoint")
    taught = meta_half(25, 3)
    assert taught.sum() == 13 and not np.isnan(rest["recall@5"].to_numpy()).all()
    for metric in ("recall@5", "ndcg@3", "auc"):
        before, after = whole[metric].to_numpy(), rest[metric].to_numpy()
        assert np.isnan(after[taught]).all()
        np.testing.assert_array_equal(after[~taught], before[~taught])
    assert pooled_rest["n_queries"] == (~np.isnan(whole["recall@5"].to_numpy()) & ~taught).sum() < pooled["n_queries"]
