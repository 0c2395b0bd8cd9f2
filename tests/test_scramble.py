"""Row C16: labels rewired with every query's and every item's number of pairs kept."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from frostline import evaluation, scramble
from frostline.ranking import Metric, evaluate, rank_relevant


def rewired(query, column, scores, seed=0, excluded=None):
    found = scramble.scramble(query, column, scores, np.random.default_rng(seed), excluded)
    return [end.astype(int) for end in found]


@st.composite
def tasks(draw):
    n_queries, n_items = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    cells = [(q, i) for q in range(n_queries) for i in range(n_items)]
    pairs = draw(st.lists(st.sampled_from(cells), min_size=1, unique=True))
    rest = [cell for cell in cells if cell not in pairs]
    excluded = draw(st.lists(st.sampled_from(rest), unique=True)) if rest else []
    levels = draw(st.integers(1, 4))
    scores = np.random.default_rng(draw(st.integers(0, 99))).integers(0, levels, (n_queries, n_items))
    return np.array(pairs).T, np.array(excluded, int).reshape(-1, 2).T, scores.astype(np.float32)


@given(tasks(), st.integers(0, 5))
def test_C16_every_query_and_every_item_keeps_its_number_and_nobody_gets_what_is_excluded(task, seed):
    pairs, excluded, scores = task
    for barred in (None, tuple(excluded)):
        query, item = rewired(*pairs, scores, seed, barred)
        for axis, end in enumerate((query, item)):
            n = scores.shape[axis]
            assert np.bincount(end, minlength=n).tolist() == np.bincount(pairs[axis], minlength=n).tolist()
        found = set(zip(query.tolist(), item.tolist(), strict=True))
        assert len(found) == len(query)
        assert barred is None or found.isdisjoint(zip(*excluded.tolist(), strict=True))


def all_rewirings(pairs, shape, excluded=()):
    """Every set of cells with the same margins, by trying all."""
    cells = [cell for cell in itertools.product(*map(range, shape)) if cell not in excluded]
    margins = [np.bincount(end, minlength=n).tolist() for end, n in zip(pairs, shape, strict=True)]
    return [
        frozenset(chosen)
        for chosen in itertools.combinations(cells, len(pairs[0]))
        if [np.bincount(e, minlength=n).tolist() for e, n in zip(zip(*chosen, strict=True), shape, strict=True)]
        == margins
    ]


@pytest.mark.parametrize("excluded", [(), ((2, 2),)])
def test_C16_all_rewirings_are_equally_likely(excluded):
    """Against every matrix of these margins, listed by brute force: chi-squared at the 99.9 % point."""
    pairs = np.array([(0, 0), (0, 1), (0, 2), (1, 0), (1, 3), (2, 1), (3, 0)]).T
    whole = all_rewirings(pairs, (4, 4), excluded)
    scores = np.random.default_rng(0).random((4, 4), dtype=np.float32)
    barred = tuple(np.array(excluded).T) if excluded else None
    counts = dict.fromkeys(whole, 0)
    n = 60 * len(whole)
    for seed in range(n):
        query, item = rewired(*pairs, scores, seed, barred)
        counts[frozenset(zip(query.tolist(), item.tolist(), strict=True))] += 1
    expected = n / len(whole)
    statistic = sum((count - expected) ** 2 / expected for count in counts.values())
    assert len(whole) >= 8 and statistic < chi2.ppf(0.999, len(whole) - 1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("alike", [False, True])
def test_C10_renaming_users_and_items_renames_the_scrambled_labels_alike(seed, alike):
    rng = np.random.default_rng(seed)
    shape = (40, 25)
    scores = rng.random(shape, dtype=np.float32)
    # With one item a user, hardly any two users can be told apart by the labels.
    relevant = np.eye(25, dtype=bool)[rng.integers(0, 25, 40)] if alike else rng.random(shape) < 0.2
    query, column = np.nonzero(relevant)
    users, items = rng.permutation(40), rng.permutation(25)
    moved = np.empty_like(scores)
    moved[users[:, None], items] = scores
    order = rng.permutation(len(query))
    expected = rewired(query, column, scores)
    found = rewired(users[query][order], items[column][order], moved)
    assert sorted(zip(users[expected[0]], items[expected[1]], strict=True)) == list(zip(*found, strict=True))


def test_C10_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(1)
    scores, (query, column) = rng.random((50, 9), dtype=np.float32), (np.arange(50), rng.integers(0, 9, 50))
    whole = rewired(query, column, scores)
    monkeypatch.setattr(scramble, "BLOCK", 7)
    assert all((one == two).all() for one, two in zip(whole, rewired(query, column, scores), strict=True))


def test_C16_the_labels_alone_decide_where_they_can_so_that_all_systems_see_the_same():
    rng = np.random.default_rng(2)
    query, column = np.nonzero(rng.random((80, 40)) < 0.3)
    one, two = (rewired(query, column, rng.random((80, 40), dtype=np.float32)) for _ in range(2))
    assert all((a == b).all() for a, b in zip(one, two, strict=True))
    assert any((a != b).any() for a, b in zip(one, rewired(query, column, rng.random((80, 40)), seed=1), strict=True))


def test_C16_taste_is_lost_and_popularity_is_kept():
    """A system that knows each user's taste falls to chance where items are equally popular; popularity keeps its worth."""
    rng = np.random.default_rng(3)
    taste = rng.random((300, 60)) < 0.15
    popularity = np.sort(rng.random(60))[::-1] ** 3
    popular = rng.random((300, 60)) < popularity * 0.5
    metric = (Metric("auc"),)

    def auc(scores, relevant):
        query, column = np.nonzero(relevant)
        pairs = rewired(query, column, scores)
        return [np.nanmean(evaluate(rank_relevant(scores, *ends), metric)) for ends in ((query, column), pairs)]

    before, after = auc(taste.astype(np.float32) + rng.random((300, 60), dtype=np.float32), taste)
    assert before == 1 and abs(after - 0.5) < 0.03
    before, after = auc(np.tile(popularity.astype(np.float32), (300, 1)), popular)
    assert before > 0.75 and abs(before - after) < 0.01


def test_the_other_views_of_a_grid_are_ranked_as_if_alone():
    """Views share one pass over the scores; each must be worth what it is worth by itself."""
    rng = np.random.default_rng(4)
    scores = rng.integers(0, 5, (30, 12)).astype(np.float32)
    main, other = (np.nonzero(rng.random((30, 12)) < 0.2) for _ in range(2))
    metrics = (Metric("ndcg", 3), Metric("recall", 2), Metric("mrr", 5), Metric("auc"))
    view = evaluation.View(*other, row=other[0], row_query=np.arange(30))
    parts = [np.arange(0, 7), np.arange(7, 12)]
    for split in ([np.arange(12)], parts):
        both = evaluation.evaluate_scores(scores, *main, split, metrics, views=[(view, metrics)])
        for found, pairs in ((both.values, main), (both.views[0], other)):
            alone = evaluation.evaluate_scores(scores, *pairs, split, metrics)
            np.testing.assert_array_equal(found, alone.values)
