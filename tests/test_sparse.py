"""Sparse scores mean what the whole grid means: ranks, lists, pooled AUC, and the metrics of the written definition (B4)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from frostline.evaluation import evaluate_scores
from frostline.lists import NOBODY, top_lists
from frostline.ranking import Metric, NonFiniteScore, View, auc_of_levels, metrics_at, pooled_auc, rank_relevant
from frostline.sparse import NEVER, SparseScores, best_of, mixed_rows

METRICS = metrics_at((1, 3, 5))


def case(seed, partial=False, many_fills=False):
    """Scores of few levels, so that there are ties; a grid, its sparse form, relevant pairs and excluded ones."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 6), rng.integers(3, 12)
    stored = rng.random((n, m)) < 0.4
    values = rng.integers(-2, 3, (n, m)).astype(np.float32)
    fill = rng.integers(-1, 2, m).astype(np.float32) if many_fills else np.float32(rng.integers(-1, 2))
    column = np.nonzero(stored)[1]
    sparse = SparseScores(
        csr_array((values[stored], column, np.concatenate([[0], np.cumsum(stored.sum(axis=1))])), shape=(n, m)),
        NEVER if partial else fill,
    )
    dense = np.where(stored, values, np.broadcast_to(fill, m)).astype(np.float32)
    relevant, out = rng.random((n, m)) < 0.25, rng.random((n, m)) < 0.15
    relevant &= ~out
    if not relevant.any():
        relevant[0, 0], out[0, 0] = True, False
    return dense, sparse, np.nonzero(relevant), np.nonzero(out), stored


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from(["expected", "item_id"]))
def test_ranks_metrics_lists_and_pooled_auc_are_those_of_the_whole_grid(seed, many_fills, ties):
    dense, sparse, relevant, out, _ = case(seed, many_fills=many_fills)
    whole = [np.arange(dense.shape[1])]
    found, expected = (
        evaluate_scores(scores, *relevant, whole, METRICS, ties, excluded=out) for scores in (sparse, dense)
    )
    for name in ("values", "best", "worst", "shares", "any_order", "n_relevant"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12, err_msg=name)
    np.testing.assert_array_equal(*(top_lists(scores, 4, seed, out) for scores in (sparse, dense)))
    _, n, n_relevant = sparse.levels(*relevant, out)
    assert auc_of_levels(n, n_relevant) == pytest.approx(pooled_auc(dense, *relevant, excluded=out), nan_ok=True)
    exact = dense.copy()
    exact[out] = -np.inf
    asked = np.unique(relevant[0])
    assert n.sum() == (exact[asked] > -np.inf).sum() and n_relevant.sum() == len(relevant[0])


@given(st.integers(0, 10**6))
def test_what_was_never_retrieved_is_worth_zero_and_outside_the_auc(seed):
    dense, sparse, relevant, out, stored = case(seed, partial=True)
    ranks = rank_relevant(sparse, *relevant, excluded=out)
    metrics = [Metric("ndcg", 3), Metric("hit_rate", 3), Metric("auc")]
    found = evaluate_scores(sparse, *relevant, [np.arange(dense.shape[1])], tuple(metrics), excluded=out).values
    # The whole grid, with everything that was not retrieved below, one after another and the relevant ones last.
    lowest = np.where(stored, dense, -1000 - np.arange(dense.shape[1], dtype=np.float32))
    lowest[relevant] = np.where(stored[relevant], lowest[relevant], -5000 - np.arange(len(relevant[0])))
    expected = evaluate_scores(lowest, *relevant, [np.arange(dense.shape[1])], tuple(metrics), excluded=out).values
    lists = top_lists(sparse, 3, 0, out)
    barred = np.zeros_like(stored)
    barred[out] = True
    for query in np.unique(relevant[0]):
        listed = np.flatnonzero(stored[query] & ~barred[query])
        assert set(lists[query][lists[query] != NOBODY]) <= set(listed) and (lists[query] != NOBODY).sum() == min(
            3, len(listed)
        )
        gold = relevant[1][relevant[0] == query]
        if len(listed) >= 3 or stored[query, gold].all():
            assert found[query, :2] == pytest.approx(expected[query, :2])
        if not stored[query, gold].any():
            assert found[query, 0] == found[query, 1] == 0 and math.isnan(found[query, 2])
        inside, others = gold[stored[query, gold]], np.setdiff1d(listed, gold)
        if len(inside) and len(others):
            won = dense[query, inside][:, None] - dense[query, others]
            assert found[query, 2] == pytest.approx(((won > 0) + 0.5 * (won == 0)).mean())
    assert len(ranks.query) == len(relevant[0])


@pytest.mark.parametrize("seed", range(10))
def test_B4_a_thousand_random_cases_follow_the_written_definition(seed):
    """One gold: HR@K = [rank ≤ K], NDCG@K = 1 / log₂(rank + 1) if rank ≤ K, else 0; a gold that is not listed is a miss."""
    rng = np.random.default_rng(seed)
    for _ in range(100):
        n, length = int(rng.integers(1, 40)), int(rng.integers(0, 30))
        listed = rng.permutation(n)[:length]
        scores = np.sort(rng.permutation(1000)[: len(listed)]).astype(np.float32)[::-1]  # no ties: the rank is plain
        order = np.argsort(listed)
        sparse = SparseScores(csr_array((scores[order], listed[order], [0, len(listed)]), shape=(1, n)), NEVER)
        gold, ks = int(rng.integers(n)), (1, 5, 10, 20)
        place = np.flatnonzero(listed == gold)
        rank = int(place[0]) + 1 if len(place) else math.inf
        metrics = tuple(Metric(name, k) for k in ks for name in ("hit_rate", "ndcg"))
        found = evaluate_scores(sparse, np.array([0]), np.array([gold]), [np.arange(n)], metrics).values[0]
        expected = [v for k in ks for v in (float(rank <= k), 1 / math.log2(rank + 1) if rank <= k else 0)]
        assert found == pytest.approx(expected)


def test_B4_a_list_cut_off_in_a_tie_would_be_wrong_so_ties_with_the_last_are_kept():
    block = np.array([[3, 1, 1, 1, 0], [5, 4, 3, 2, 1]], np.float32)
    kept = best_of(block, 2)
    assert kept.toarray().tolist() == [[3, 1, 1, 1, 0], [5, 4, 0, 0, 0]] and kept.nnz == 6


def test_rows_of_several_grids_keep_their_scores():
    rng = np.random.default_rng(0)
    shape = (3, 7)
    parts = [
        SparseScores(
            csr_array(np.where(rng.random(shape) < 0.4, rng.random(shape), 0).astype("f4")), rng.random(7).astype("f4")
        )
        for _ in range(2)
    ]
    whole = [np.where(p.matrix.toarray() != 0, p.matrix.toarray(), p.fill) for p in parts]
    mixed = mixed_rows(parts, np.array([1, 0, 1]))
    stored = np.zeros(shape, bool)
    for query in range(3):
        stored[query, mixed.row(query)[0]] = True
    found = np.where(stored, mixed.matrix.toarray(), mixed.fill)
    np.testing.assert_array_equal(found, np.stack([whole[1][0], whole[0][1], whole[1][2]]))


def test_a_score_that_is_not_finite_is_named():
    sparse = SparseScores(csr_array(np.array([[0, 1], [np.inf, 0]], np.float32)), np.float32(0))
    with pytest.raises(NonFiniteScore) as caught:
        rank_relevant(sparse, [0], [0])
    assert (caught.value.row, caught.value.column) == (1, 0)
    with pytest.raises(NonFiniteScore):
        rank_relevant(SparseScores(csr_array((1, 2), dtype=np.float32), np.array([0, np.nan], "f4")), [0], [0])
    assert View([0], [0]).row is None
