"""Rows C10, C11 and C14: metrics are exact, agree with others where definitions agree, and depend on nothing else.

Every formula is held against the textbook definition averaged over every order of the tied candidates.
"""

import subprocess
import sys
import tracemalloc
from itertools import permutations, product
from math import comb, log2

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, RR, P, R, Success, nDCG
from sklearn import config_context
from sklearn.metrics import ndcg_score, roc_auc_score

from frostline import ranking
from frostline.ranking import (
    CUT_METRICS,
    Metric,
    NonFiniteScore,
    PooledAUC,
    contributions,
    evaluate,
    metrics_at,
    pooled_auc,
    rank_lists,
    rank_relevant,
    relaimpr,
)

METRICS = metrics_at((1, 2, 3, 5, 10))
CUT_ONLY, AUC = METRICS[:-1], METRICS[-1:]


def textbook(order, relevant, metric):
    """A metric of one ranked list, from its definition."""
    k, wanted = metric.k, len(relevant)
    if metric.name == "auc":
        others = [item for item in order if item not in relevant]
        place = {item: rank for rank, item in enumerate(order)}
        return sum(place[r] < place[o] for r in relevant for o in others) / (wanted * len(others)) if others else np.nan
    hits = [rank for rank, item in enumerate(order[:k], 1) if item in relevant]
    return {
        "recall": len(hits) / wanted,
        "precision": len(hits) / k,
        "map": sum(n / rank for n, rank in enumerate(hits, 1)) / min(wanted, k),
        "ndcg": sum(1 / log2(r + 1) for r in hits) / sum(1 / log2(r + 1) for r in range(1, min(wanted, k) + 1)),
        "mrr": 1 / hits[0] if hits else 0.0,
        "hit_rate": float(bool(hits)),
    }[metric.name]


def all_orders(scores):
    """Every order of the columns in which scores do not rise."""
    groups = [np.flatnonzero(scores == score) for score in sorted(set(scores.tolist()), reverse=True)]
    return [[c for group in order for c in group] for order in product(*(permutations(g.tolist()) for g in groups))]


def grid(seed, n_queries=40, n_items=60, levels=None, share=0.1, dtype=np.float32):
    """Random scores, rounded to a number of levels so that they tie, and the pairs of a random relevance."""
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n_queries, n_items)).astype(dtype)
    if levels:
        scores = np.floor(scores * levels / 4).astype(dtype)
    return scores, *np.nonzero(rng.random((n_queries, n_items)) < share)


@st.composite
def tied_rows(draw):
    """One query: few candidates, fewer distinct scores, at least one relevant."""
    scores = draw(st.lists(st.sampled_from([-1.5, -0.0, 0.0, 2.0]), min_size=1, max_size=5))
    relevant = draw(st.sets(st.integers(0, len(scores) - 1), min_size=1))
    return np.array([scores], np.float32), sorted(relevant)


@given(tied_rows())
@settings(deadline=None, derandomize=True, max_examples=150)
def test_C11_expectation_best_and_worst_are_those_over_all_orders_of_the_ties(row):
    scores, relevant = row
    ranks = rank_relevant(scores, np.zeros(len(relevant), int), relevant)
    orders = all_orders(scores[0])
    each = np.array([[textbook(order, set(relevant), metric) for metric in METRICS] for order in orders])
    np.testing.assert_allclose(evaluate(ranks, METRICS)[0], each.mean(0), rtol=0, atol=1e-14)
    np.testing.assert_allclose(evaluate(ranks.best(), METRICS)[0], each.max(0), rtol=0, atol=1e-14)
    np.testing.assert_allclose(evaluate(ranks.worst(), METRICS)[0], each.min(0), rtol=0, atol=1e-14)


@given(tied_rows())
@settings(deadline=None, derandomize=True, max_examples=150)
def test_C11_item_id_order_is_by_column_and_leaves_auc_alone(row):
    scores, relevant = row
    query = np.zeros(len(relevant), int)
    by_id = rank_relevant(scores, query, relevant, ties="item_id")
    order = np.argsort(-scores[0], kind="stable").tolist()
    expected = [textbook(order, set(relevant), metric) for metric in CUT_ONLY]
    np.testing.assert_allclose(evaluate(by_id, METRICS)[0, :-1], expected, rtol=0, atol=1e-14)
    auc = evaluate(rank_relevant(scores, query, relevant), AUC)
    np.testing.assert_array_equal(evaluate(by_id, AUC), auc)
    # What ties could make of it is the same as without an order.
    tied = rank_relevant(scores, query, relevant)
    for one, other in ((by_id.best(), tied.best()), (by_id.worst(), tied.worst()), (by_id.with_ties(), tied)):
        np.testing.assert_array_equal(evaluate(one, METRICS), evaluate(other, METRICS))


@given(tied_rows(), st.integers(1, 6))
@settings(deadline=None, derandomize=True, max_examples=150)
def test_a_tie_is_at_the_cut_where_orders_differ_in_what_is_among_the_first_k(row, k):
    scores, relevant = row
    found = {len(set(order[:k]) & set(relevant)) for order in all_orders(scores[0])}
    for ties in ("expected", "item_id"):
        ranks = rank_relevant(scores, np.zeros(len(relevant), int), relevant, ties=ties)
        assert ranks.tied_at(k).tolist() == [len(found) > 1]


def test_C11_item_id_ignores_excluded_columns_and_repeats_the_popularity_artefact():
    scores, relevant = np.zeros((1, 100), np.float32), [2, 4]
    ranks = rank_relevant(scores, [0, 0], relevant, excluded=([0], [1]), ties="item_id")
    assert ranks.greater.tolist() == [1, 3] and ranks.item.tolist() == relevant
    assert evaluate(ranks, [Metric("recall", 5)]) == 1
    chance = evaluate(rank_relevant(scores, [0, 0], relevant), [Metric("recall", 5)])
    assert chance == pytest.approx(5 / 100)


def test_C11_C14_golden_lists_of_three():
    a, b, c, d, e, f, z = range(7)
    lists, relevant = [[a, b, c], [d, a, e], [b, c, f], []], [{a}, {a, b, c, d, e}, {z}, {a, b}]
    metrics = [Metric(name, 3) for name in ("recall", "precision", "map", "ndcg", "mrr", "hit_rate")]
    ranks = rank_lists(lists, relevant)
    np.testing.assert_allclose(evaluate(ranks, metrics).mean(0), [0.4, 1 / 3, 0.5, 0.5, 0.5, 0.5], atol=1e-15)
    np.testing.assert_allclose(evaluate(ranks, [Metric("map", 3)], map_over="relevant").mean(), (1 + 3 / 5) / 4)


def test_C14_an_unlisted_item_is_worth_nothing_at_any_k_and_outside_auc():
    ranks = rank_lists([[5, 6, 7], [5], [6]], [[9, 6, 8], {9}, set()])
    huge = [Metric(name, 2**40) for name in CUT_METRICS]
    expected = [[1 / 3, 2**-40, 1 / 6, 1 / log2(3) / (1 + 1 / log2(3) + 0.5), 0.5, 1], [0] * 6, [np.nan] * 6]
    for case in (ranks, ranks.best(), ranks.worst()):
        np.testing.assert_allclose(evaluate(case, huge), expected, rtol=1e-14)
        np.testing.assert_array_equal(evaluate(case, AUC).ravel(), [0.5, np.nan, np.nan])
    np.testing.assert_array_equal(ranks.item, [6, 8, 9, 9])
    assert contributions(ranks, [Metric("recall", 3)]).ravel().tolist() == [1 / 3, 0, 0, 0]
    assert len(rank_lists([], []).query) == 0


@pytest.mark.parametrize("lists, relevant", [([[1, 1]], [{1}]), ([[1]], [[2, 2]]), ([[1]], []), ([], [{1}])])
def test_C14_lists_that_repeat_an_item_or_miss_a_query_are_refused(lists, relevant):
    with pytest.raises(ValueError):
        rank_lists(lists, relevant)


def test_C11_lists_without_ties_are_what_scores_without_ties_are():
    scores, query, item = grid(1)
    order = np.argsort(-scores, axis=1)
    listed = rank_lists(order.tolist(), [item[query == q].tolist() for q in range(len(scores))])
    np.testing.assert_array_equal(evaluate(listed, METRICS), evaluate(rank_relevant(scores, query, item), METRICS))


@pytest.mark.parametrize("levels", [None, 4, 12])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_C11_sklearn_agrees_on_auc_and_ndcg_ties_averaged(levels, dtype):
    scores, query, item = grid(2, n_queries=250, n_items=50, levels=levels, dtype=dtype)
    labels = np.zeros(scores.shape, int)
    labels[query, item] = 1
    ks = (1, 5, 20)
    values = evaluate(rank_relevant(scores, query, item), [*(Metric("ndcg", k) for k in ks), *AUC])
    some = np.flatnonzero(labels.any(axis=1))
    assert 225 < len(some) < 250
    with config_context(skip_parameter_validation=True):
        for q in some:
            theirs = ndcg_score(labels[[q]], scores[[q]], k=ks[q % 3]), roc_auc_score(labels[q], scores[q])
            np.testing.assert_allclose(values[q, [q % 3, 3]], theirs, rtol=0, atol=1e-13)


@pytest.mark.parametrize("share", [0.01, 0.2])
def test_C11_pytrec_eval_agrees_where_nothing_ties(share):
    scores, query, item = grid(3, n_queries=150, n_items=80, share=share)
    run = {str(q): {str(i): float(s) for i, s in enumerate(row)} for q, row in enumerate(scores)}
    qrels = {str(q): {str(i): 1 for i in item[query == q]} for q in np.unique(query)}
    pairs = {RR: Metric("mrr", 80)}
    for k in (1, 5, 10, 100):
        pairs |= {P @ k: Metric("precision", k), R @ k: Metric("recall", k), AP @ k: Metric("map", k)}
        pairs |= {nDCG @ k: Metric("ndcg", k), Success @ k: Metric("hit_rate", k), RR @ k: Metric("mrr", k)}
    ours = evaluate(rank_relevant(scores, query, item), list(pairs.values()), map_over="relevant")
    column = {measure: m for m, measure in enumerate(pairs)}
    theirs = list(ir_measures.iter_calc(list(pairs), qrels, run))
    assert len(theirs) == len(qrels) * len(pairs)
    for one in theirs:
        assert ours[int(one.query_id), column[one.measure]] == pytest.approx(one.value, abs=1e-13), one


@pytest.mark.parametrize("relevant", [[0, 1, 2], [97, 98, 99], [0, 50, 99]])
def test_C10_C11_a_constant_scorer_gets_exactly_chance_whatever_the_ids(relevant):
    n, r, k = 100, 3, 10
    values = evaluate(rank_relevant(np.full((1, n), 7, np.float32), [0] * r, relevant), metrics_at([k]))[0]
    gain = [1 / log2(j + 1) for j in range(1, k + 1)]
    first = [comb(n - j, r - 1) / comb(n, r) for j in range(1, k + 1)]
    # At place j an item is relevant with r / n, and j - 1 places above it hold (j - 1) (r - 1) / (n - 1) of the others.
    ap = sum(r / n * (1 + (j - 1) * (r - 1) / (n - 1)) / j for j in range(1, k + 1)) / r
    chance = [
        k / n,
        r / n,
        ap,
        r / n * sum(gain) / sum(gain[:r]),
        sum(p / j for j, p in enumerate(first, 1)),
        sum(first),
        0.5,
    ]
    np.testing.assert_allclose(values, chance, rtol=1e-13)


@pytest.mark.parametrize("levels", [None, 4])
def test_C10_permuting_rows_columns_or_pairs_changes_no_bit(levels):
    scores, query, item = grid(4, levels=levels, share=0.3)
    rng = np.random.default_rng(0)
    rows, columns, shuffle = (rng.permutation(n) for n in (*scores.shape, len(query)))
    ranks = rank_relevant(scores, query, item)
    moved = rank_relevant(
        scores[rows][:, columns], np.argsort(rows)[query][shuffle], np.argsort(columns)[item][shuffle]
    )
    np.testing.assert_array_equal(evaluate(moved, METRICS), evaluate(ranks, METRICS)[rows])
    order, other = np.lexsort((ranks.item, ranks.query)), np.lexsort((columns[moved.item], rows[moved.query]))
    np.testing.assert_array_equal(contributions(moved, METRICS)[other], contributions(ranks, METRICS)[order])
    assert pooled_auc(scores, query, item) == pooled_auc(scores[rows], np.argsort(rows)[query], item)


def test_C10_only_the_order_of_scores_matters():
    scores, query, item = grid(5, levels=12)
    expected = evaluate(rank_relevant(scores, query, item), METRICS)
    for transformed in (
        scores * 2 - 1,
        scores.astype(np.float64),
        np.exp(scores),
        np.arctan(scores.astype(np.float64)),
    ):
        np.testing.assert_array_equal(evaluate(rank_relevant(transformed, query, item), METRICS), expected)


def test_C11_float64_scores_are_told_apart_beyond_float32():
    scores = np.array([[1.0, 1.0 + 1e-12]])
    assert evaluate(rank_relevant(scores, [0], [1]), AUC) == 1
    assert evaluate(rank_relevant(scores.astype(np.float32), [0], [1]), AUC) == 0.5


@pytest.mark.parametrize("n_items", [700, 6000])
def test_C11_counting_is_the_same_by_comparison_and_by_sorting(n_items):
    """Rows with 0, 1, 2, 5 and 40 relevant candidates take both ways of counting; also in blocks of any size."""
    rng = np.random.default_rng(6)
    scores = rng.integers(-n_items // 8, n_items // 8, (60, n_items)).astype(np.float32)
    pairs = [(q, i) for q in range(60) for i in rng.choice(n_items, (0, 1, 2, 5, 40)[q % 5], replace=False)]
    ranks = rank_relevant(scores, *np.transpose(pairs))
    assert sorted(zip(ranks.query, ranks.item, strict=True)) == sorted(pairs)
    hits = np.zeros(scores.shape, bool)
    hits[tuple(np.transpose(pairs))] = True
    for at in range(len(pairs)):
        q, i = ranks.query[at], ranks.item[at]
        above, same = scores[q] > scores[q, i], scores[q] == scores[q, i]
        found = ranks.greater[at], ranks.tied[at], ranks.relevant_greater[at], ranks.relevant_tied[at]
        assert found == (above.sum(), same.sum(), above[hits[q]].sum(), same[hits[q]].sum())
        below = n_items - above.sum() - same.sum() - (hits[q].sum() - above[hits[q]].sum() - same[hits[q]].sum())
        assert ranks.beaten[at] == below + (same.sum() - same[hits[q]].sum()) / 2
    assert np.all(np.diff((ranks.query << 31) + ranks.greater) >= 0) and ranks.item.dtype == np.int32


def test_C11_memory_is_bounded_by_blocks_not_by_the_grid():
    scores = np.zeros((4000, 2000), np.float32)
    query, item = np.divmod(np.arange(0, scores.size, 200), 2000)
    tracemalloc.start()
    rank_relevant(scores, query, item)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < scores.nbytes / 2


@pytest.mark.parametrize("cells", [1, 130, 1000])
def test_C10_blocks_change_nothing(cells, monkeypatch):
    scores, query, item = grid(7, levels=8)
    out = np.nonzero(np.random.default_rng(0).random(scores.shape) < 0.2)
    kept = ~np.isin(query * 60 + item, out[0] * 60 + out[1])
    args, options = (scores, query[kept], item[kept]), {"excluded": out}
    ranks, pooled = rank_relevant(*args, **options), pooled_auc(*args, **options)
    whole = PooledAUC()
    whole.add(*args, **options)
    monkeypatch.setattr(ranking, "_BLOCK_CELLS", cells)
    for name, column in vars(rank_relevant(*args, **options)).items():
        np.testing.assert_array_equal(column, getattr(ranks, name))
    assert pooled_auc(*args, **options) == pooled
    blocks = PooledAUC()
    blocks.add(*args, **options)
    np.testing.assert_array_equal(blocks.counts, whole.counts)


def test_C11_best_is_at_least_expected_is_at_least_worst():
    scores, query, item = grid(8, n_queries=300, levels=6)
    ranks = rank_relevant(scores, query, item)
    some = ranks.n_relevant > 0
    best, expected, worst = (evaluate(r, METRICS)[some] for r in (ranks.best(), ranks, ranks.worst()))
    assert np.all(best >= expected - 1e-14) and np.all(expected >= worst - 1e-14)
    assert np.all((best - worst).mean(0) > 0.001)


@pytest.mark.parametrize("levels", [None, 5])
def test_C11_contributions_add_up_to_the_values_and_belong_to_their_items(levels):
    scores, query, item = grid(9, levels=levels)
    ranks = rank_relevant(scores, query, item)
    shares, values = contributions(ranks, METRICS), evaluate(ranks, METRICS)
    assert shares.shape == (len(query), len(METRICS))
    for m in range(len(METRICS)):
        sums = np.bincount(ranks.query, shares[:, m], len(scores))
        np.testing.assert_allclose(sums[ranks.n_relevant > 0], values[ranks.n_relevant > 0, m], rtol=1e-13, atol=1e-15)
    for q, i, auc in zip(ranks.query, ranks.item, shares[:, -1], strict=True):
        others = np.delete(scores[q], item[query == q])
        won = (others < scores[q, i]).sum() + (others == scores[q, i]).sum() / 2
        assert auc == won / (len(others) * (query == q).sum())


def test_C11_perfect_and_inverted_rankings_score_exactly_one_and_zero():
    rng = np.random.default_rng(10)
    query, item = np.nonzero(rng.random((200, 60)) < 0.2)
    scores = rng.permuted(np.tile(np.arange(60, dtype=np.float32), (200, 1)), axis=1)
    scores[query, item] += 60
    metrics = [Metric("recall", 60), *(Metric(name, k) for name in CUT_METRICS[1:] for k in (1, 3)), Metric("auc")]
    np.testing.assert_allclose(evaluate(rank_relevant(scores, query, item), metrics), 1, rtol=4e-16)
    np.testing.assert_array_equal(evaluate(rank_relevant(-scores, query, item), metrics[1:]), 0)


def test_C14_queries_without_relevant_are_nan_and_counted_and_auc_needs_another_candidate():
    scores = np.arange(9, dtype=np.float32).reshape(3, 3)
    ranks = rank_relevant(scores, [0, 2, 2, 2], [1, 0, 1, 2])
    values = evaluate(ranks, METRICS)
    assert np.isnan(values[1]).all() and np.isfinite(values[0]).all() and np.isfinite(values[2, :-1]).all()
    assert values[0, -1] == 0.5 and np.isnan(values[2, -1])
    assert ranks.n_relevant.tolist() == [1, 0, 3] and ranks.n_candidates.tolist() == [3, 3, 3]
    for empty in (scores, scores[:0]):
        nothing = rank_relevant(empty, np.zeros(0, int), np.zeros(0, int))
        assert evaluate(nothing, METRICS).shape == (len(empty), len(METRICS))
        assert np.isnan(evaluate(nothing, METRICS)).all() and contributions(nothing, METRICS).shape == (0, len(METRICS))


def test_C14_k_beyond_the_candidates_is_fine():
    scores, query, item = grid(11, n_items=20, levels=4)
    at_n, beyond = (
        evaluate(rank_relevant(scores, query, item), [Metric(m, k) for m in CUT_METRICS]) for k in (20, 10**12)
    )
    some = np.bincount(query, minlength=40) > 0
    np.testing.assert_array_equal(at_n[some, 0], 1)
    np.testing.assert_array_equal(np.delete(beyond, 1, axis=1), np.delete(at_n, 1, axis=1))
    np.testing.assert_allclose(beyond[:, 1] * 10**12, at_n[:, 1] * 20)


@pytest.mark.parametrize("levels", [None, 6])
def test_C11_excluded_cells_are_as_good_as_absent(levels):
    scores, query, item = grid(12, n_queries=30, n_items=40, levels=levels)
    gone = np.random.default_rng(1).random(scores.shape) < 0.3
    kept = ~gone[query, item]
    query, item = query[kept], item[kept]
    values = evaluate(rank_relevant(scores, query, item, excluded=np.nonzero(gone)), METRICS)
    marked = np.where(gone, -np.inf, scores).astype(np.float32)
    out = tuple(np.tile(side, 2) for side in np.nonzero(gone))  # said twice, meant once
    ranks = rank_relevant(marked, query, item, excluded=out)
    np.testing.assert_array_equal(evaluate(ranks, METRICS), values)
    np.testing.assert_array_equal(ranks.n_candidates, (~gone).sum(1))
    for q in range(30):
        columns = np.flatnonzero(~gone[q])
        own = columns.searchsorted(item[query == q])
        alone = rank_relevant(scores[[q]][:, columns], np.zeros(len(own), int), own)
        np.testing.assert_array_equal(evaluate(alone, METRICS)[0], values[q])


def test_C11_C14_what_was_never_retrieved_is_worth_nothing_and_not_tied():
    """Sparse scores: lists with ties, whose values are the mean over every order of the list."""
    rng = np.random.default_rng(18)
    metrics = [*METRICS, Metric("recall", 10**9), Metric("map", 10**9), Metric("hit_rate", 10**9)]
    scores, relevant = rng.integers(0, 3, (60, 7)).astype(np.float32), rng.random((60, 7)) < 0.5
    listed = rng.permuted(np.arange(7) < rng.integers(0, 6, (60, 1)), axis=1)
    args, options = (scores, *np.nonzero(relevant)), {"excluded": np.nonzero(~listed), "unlisted": True}
    ranks, by_id = rank_relevant(*args, **options), rank_relevant(*args, **options, ties="item_id")
    assert np.isin(np.flatnonzero(relevant), np.flatnonzero(~listed)).sum() > 50
    cases = [evaluate(r, metrics) for r in (ranks, ranks.best(), ranks.worst(), by_id)]
    for q in range(60):
        columns, wanted = np.flatnonzero(listed[q]), np.flatnonzero(relevant[q]).tolist()
        orders = [columns[order].tolist() for order in all_orders(scores[q, columns])]
        each = evaluate(rank_lists(orders, [wanted] * len(orders)), metrics)
        for case, expected in zip(cases, (each.mean(0), each.max(0), each.min(0)), strict=False):
            np.testing.assert_allclose(case[q], expected, rtol=0, atol=1e-14)
        by_column = columns[np.argsort(-scores[q, columns], kind="stable")].tolist()
        expected = evaluate(rank_lists([by_column], [wanted]), CUT_ONLY)[0]
        np.testing.assert_array_equal(cases[3][q, : len(CUT_ONLY)], expected)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("function", [rank_relevant, pooled_auc, PooledAUC().add])
def test_C11_the_first_score_that_is_not_finite_is_named(bad, function):
    scores, query, item = grid(13, n_queries=9000)
    scores[[8000, 8000, 8500], [17, 30, 2]] = bad  # not in the first block
    with pytest.raises(NonFiniteScore, match=rf"row 8000, candidate column 17 is {bad}") as caught:
        function(scores, query, item)
    assert (caught.value.row, caught.value.column) == (8000, 17)
    np.testing.assert_equal(caught.value.value, bad)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_C11_an_excluded_cell_may_be_minus_infinity_and_no_other_oddity(bad):
    scores = np.array([[0, 1, bad]], np.float32)
    with pytest.raises(NonFiniteScore, match="column 2"):
        rank_relevant(scores, [0], [0], excluded=([0], [2]))


@pytest.mark.parametrize(
    "scores, query, item, options, error, says",
    [
        (np.zeros((2, 3), int), [0], [0], {}, TypeError, "int64"),
        (np.zeros((2, 3), np.float16), [0], [0], {}, TypeError, "float16"),
        (np.zeros(3), [0], [0], {}, ValueError, "shape"),
        (np.zeros((2, 0)), [0], [0], {}, ValueError, "shape"),
        (np.zeros((2, 3)), [0, 1, 0], [2, 1, 2], {}, ValueError, r"\(0, 2\) is repeated"),
        (np.zeros((2, 3)), [1, 2], [0, 1], {}, ValueError, r"relevant pair \(2, 1\) is outside"),
        (np.zeros((2, 3)), [1, 1], [0, 3], {}, ValueError, r"relevant pair \(1, 3\) is outside"),
        (np.zeros((2, 3)), [1, 1], [0, -1], {}, ValueError, r"relevant pair \(1, -1\) is outside"),
        (np.zeros((2, 3)), [-1, 1], [0, 1], {}, ValueError, r"relevant pair \(-1, 0\) is outside"),
        (np.zeros((2, 3)), [0], [0], {"excluded": ([0], [3])}, ValueError, r"excluded pair \(0, 3\) is outside"),
        (np.zeros((2, 3)), [1], [2], {"excluded": ([0, 1], [2, 2])}, ValueError, r"\(1, 2\) is excluded"),
        (np.zeros((2, 3)), [0.5], [0], {}, TypeError, "float64"),
        (np.zeros((2, 3)), [0, 1], [0], {}, ValueError, "inhomogeneous"),
        (np.zeros((2, 3)), [0], [0], {"ties": "random"}, ValueError, "expected"),
    ],
)
def test_C11_what_cannot_be_ranked_is_refused_by_name(scores, query, item, options, error, says):
    with pytest.raises(error, match=says):
        rank_relevant(scores, query, item, **options)


def test_C11_scores_are_not_written_to():
    scores, query, item = grid(14)
    scores.setflags(write=False)
    before, out = scores.copy(), (np.delete(np.arange(40), query), np.zeros(40 - len(np.unique(query)), int))
    rank_relevant(scores, query, item, excluded=out)
    pooled_auc(scores, query, item, excluded=out)
    np.testing.assert_array_equal(scores, before)


@pytest.mark.parametrize("levels", [None, 6])
def test_C11_pooled_auc_is_sklearns_over_all_pairs(levels):
    scores, query, item = grid(15, n_queries=50, levels=levels, share=0.03)
    labels = np.zeros(scores.shape, int)
    labels[query, item] = 1
    pooled = np.isin(np.arange(50), query)
    assert 5 < (~pooled).sum() < 20
    assert pooled_auc(scores, query, item) == pytest.approx(
        roc_auc_score(labels[pooled].ravel(), scores[pooled].ravel()), abs=1e-14
    )
    gone = (np.random.default_rng(0).random(scores.shape) < 0.2) & (labels == 0)
    kept = ~gone & pooled[:, None]
    expected = roc_auc_score(labels[kept], scores[kept])
    marked = np.where(gone, -np.inf, scores)
    assert pooled_auc(marked, query, item, excluded=np.nonzero(gone)) == pytest.approx(expected, abs=1e-14)
    histogram = PooledAUC()
    histogram.add(marked, query, item, excluded=np.nonzero(gone))
    assert histogram.counts.sum() == kept.sum()
    assert abs(histogram.value - expected) <= histogram.bound + 1e-14


@pytest.mark.parametrize(
    "scale, centre, tight", [(1, 0, True), (1e-30, 0, True), (1e30, 0, True), (1e-4, -1, False), (1e60, 0, False)]
)
def test_C11_streamed_pooled_auc_is_within_its_bound(scale, centre, tight):
    scores, query, item = grid(16, n_queries=200, dtype=np.float64)
    scores = scores * scale + centre
    scores[query, item] += scale / 2
    exact = pooled_auc(scores, query, item)
    shards = [PooledAUC(), PooledAUC()]
    shards[0].add(scores[:90], query[query < 90], item[query < 90])
    shards[1].add(scores[90:], query[query >= 90] - 90, item[query >= 90])
    shards[0].merge(shards[1])
    assert exact > 0.6 and abs(shards[0].value - exact) <= shards[0].bound
    assert (shards[0].bound < 1e-3) == tight
    whole = PooledAUC()
    whole.add(scores, query, item)
    np.testing.assert_array_equal(whole.counts, shards[0].counts)
    assert (whole.value, whole.bound) == (shards[0].value, shards[0].bound)


def test_C11_streamed_pooled_auc_knows_order_signs_and_zeros():
    histogram = PooledAUC()
    histogram.add(np.array([[-2.0, -1, -0.0, 0.0, 1, 2]], np.float32), [0, 0], [2, 4])
    # Against -2, -1, 0, 2: zero wins twice and ties once, one wins three times.
    assert histogram.value == (2.5 + 3) / 8 and histogram.bound == 0.5 / 8


def test_C14_pooled_auc_of_one_class_is_undefined():
    scores = np.zeros((2, 2), np.float32)
    for query, item in ([0, 0], [0, 1]), (np.zeros(0, int), np.zeros(0, int)):
        histogram = PooledAUC()
        histogram.add(scores, query, item)
        assert np.isnan([pooled_auc(scores, query, item), histogram.value, histogram.bound]).all()


@pytest.mark.parametrize("auc, base, expected", [(0.7, 0.6, 1.0), (0.6, 0.7, -0.5), (0.4, 0.6, -2.0)])
def test_C11_relaimpr(auc, base, expected):
    assert relaimpr(auc, base) == pytest.approx(expected)
    assert np.isnan(relaimpr(auc, 0.5)) and np.isnan(relaimpr(auc, 0.3)) and np.isnan(relaimpr(auc, np.nan))


def test_C11_metrics_are_values_with_a_name():
    assert [str(m) for m in metrics_at([1, 5])[::6]] == ["recall@1", "recall@5", "auc"]
    assert len(metrics_at([1, 5, 10])) == 19
    for metric in METRICS:
        assert Metric.parse(str(metric)) == metric and hash(Metric.parse(str(metric))) == hash(metric)


@pytest.mark.parametrize("text", ["ndgc@10", "ndcg", "ndcg@", "ndcg@0", "ndcg@-1", "ndcg@x", "auc@5", "", "@5"])
def test_C11_a_metric_that_does_not_exist_is_refused_with_what_does(text):
    with pytest.raises(ValueError, match=r"ndcg@k.*auc"):
        Metric.parse(text)
    with pytest.raises(ValueError, match="relevant"):
        evaluate(rank_lists([[1]], [[1]]), [Metric("map", 1)], map_over=text)


def test_importing_ranking_needs_numpy_alone():
    heavy = "{'pandas', 'scipy', 'sklearn', 'pyarrow', 'lightgbm'} & set(sys.modules)"
    code = f"import sys, frostline.ranking; sys.exit(str({heavy}) if {heavy} else 0)"
    subprocess.run([sys.executable, "-c", code], check=True)
