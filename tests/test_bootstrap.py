"""The intervals that decide (Rulings 8): of the right width, paired, and blind to names (C10)."""

import numpy as np
import pyarrow as pa
import pytest

from frostline.bootstrap import LEVEL, SeedResult, draw_means, factors_drawn, interval
from frostline.evaluation import evaluate_scores
from frostline.ranking import metrics_at
from frostline.results import Results

Z = 1.959964


def one_seed(values, shares, relevance=None):
    values, shares = (np.asarray(part, dtype=np.float64).reshape(len(part), -1) for part in (values, shares))
    relevance = np.ones(len(shares)) if relevance is None else relevance
    return SeedResult(np.arange(len(values)), values, np.arange(len(shares)), shares, relevance)


def half_width(results, seed=0):
    low, high = interval(draw_means(results, seed))
    return (high - low)[0] / 2


def normal(seed, n, sd):
    """Numbers whose mean is 0.5 and whose standard deviation is `sd`, exactly."""
    values = np.random.default_rng(seed).standard_normal(n)
    return 0.5 + (values - values.mean()) / values.std() * sd


@pytest.mark.parametrize(
    "user_sd, item_sd", [(0.2, 0.0), (0.0, 0.3), (0.2, 0.3), (0.0, 0.0)], ids=["users", "items", "both", "neither"]
)
def test_the_interval_has_the_width_that_theory_gives(user_sd, item_sd):
    n_users, n_items = 500, 200
    result = one_seed(normal(1, n_users, user_sd), normal(2, n_items, item_sd))
    expected = Z * np.sqrt(user_sd**2 / n_users + item_sd**2 / n_items)
    assert half_width([result]) == pytest.approx(expected, rel=0.08, abs=1e-12)
    assert draw_means([result], 0).mean() == pytest.approx(0.5, abs=0.002)


def test_an_item_counts_by_its_share_of_the_relevance():
    """A ratio: items of more relevance are more of the mean. Its variance by the delta method."""
    rng = np.random.default_rng(3)
    relevance = rng.pareto(3, 400) + 0.2
    quality = rng.normal(0.5, 0.2, 400)
    result = one_seed(np.full(50, (relevance * quality).sum() / relevance.sum()), relevance * quality, relevance)
    level = (relevance * quality).sum() / relevance.sum()
    expected = Z * np.sqrt(((relevance * (quality - level)) ** 2).sum()) / relevance.sum()
    assert half_width([result]) == pytest.approx(expected, rel=0.1)


def test_seeds_are_drawn_too():
    levels = np.array([0.3, 0.4, 0.5, 0.6, 0.7])
    results = [one_seed(np.full(40, level), np.full(30, level)) for level in levels]
    draws = draw_means(results, 0)[:, 0]
    assert draws.std() == pytest.approx(levels.std() / np.sqrt(5), rel=0.08)
    assert draws.mean() == pytest.approx(0.5, abs=0.01) and draws.min() > 0.299 and draws.max() < 0.701


def test_C9_seeds_that_vary_the_model_only_are_not_drawn():
    """Under a split by time the seeds have the same items: their mean is of these seeds, and only users and items could
    have been others."""
    levels = np.array([0.3, 0.4, 0.5, 0.6, 0.7])
    results = [one_seed(np.full(40, level), np.full(30, level)) for level in levels]
    assert draw_means(results, 0, factors=factors_drawn("models")) == pytest.approx(0.5, abs=1e-12)
    # Five seeds of one model that is deterministic are as good as one.
    result = one_seed(normal(1, 500, 0.2), normal(2, 200, 0.3))
    one, five = (interval(draw_means([result] * n, 0, factors=factors_drawn("models"))) for n in (1, 5))
    assert np.ptp(five) == pytest.approx(np.ptp(one), rel=0.05)


def test_users_weigh_the_same_in_every_seed():
    """Seeds that repeat one another tell no more than one of them."""
    result = one_seed(normal(1, 300, 0.2), np.full(50, 0.5))
    assert half_width([result] * 5) == pytest.approx(half_width([result]), rel=0.1)
    others = [one_seed(normal(seed, 300, 0.2), np.full(50, 0.5)) for seed in range(5)]
    assert half_width(others) < 0.75 * half_width([result])


def test_A7_the_interval_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(4)
    covered = 0
    for trial in range(200):
        result = one_seed(rng.normal(0.5, 0.2, 80), np.full(20, 1.0), np.full(20, 2.0))
        low, high = interval(draw_means([result], trial, draws=500))
        covered += low[0] < 0.5 < high[0]
    assert LEVEL == 0.95 and 0.91 <= covered / 200 <= 0.98


@pytest.mark.parametrize("n_columns", [2, 3, 7, 8, 17])
@pytest.mark.parametrize("n_users", [30, 1001])
def test_the_difference_of_identical_systems_is_exactly_zero(n_users, n_columns):
    rng = np.random.default_rng(5)
    values, shares = rng.random((n_users, 1)), rng.random((67, 1))
    values[::7] = np.nan
    result = one_seed(np.repeat(values, n_columns, axis=1), np.repeat(shares, n_columns, axis=1), rng.random(67))
    draws = draw_means([result, result], 0, draws=400)
    assert (draws == draws[:, :1]).all() and len(np.unique(draws[:, 0])) > 300


def test_differences_are_paired():
    """Two systems that differ by a constant on every user and item differ by it in every draw."""
    values, shares = normal(1, 200, 0.3), normal(2, 80, 0.3)
    result = one_seed(np.column_stack([values, values + 0.1]), np.column_stack([shares, shares + 0.1]))
    draws = draw_means([result], 0)
    np.testing.assert_allclose(draws[:, 1] - draws[:, 0], 0.1, atol=1e-12)


def test_undefined_values_are_left_out():
    values = normal(1, 300, 0.2)
    with_gaps = np.insert(values, np.arange(0, 300, 3), np.nan)
    result = one_seed(with_gaps, np.full(40, 0.5))
    draws = draw_means([result], 0)[:, 0]
    assert np.isfinite(draws).all() and draws.mean() == pytest.approx(0.5, abs=0.003)
    assert half_width([result]) == pytest.approx(Z * 0.2 / np.sqrt(300), rel=0.1)


def test_a_draw_that_picks_nobody_leaves_the_mean_where_it_is():
    lonely = np.full(3, np.nan)
    lonely[1] = 0.25
    draws = draw_means([one_seed(lonely, np.array([0.25]))], 0, draws=300)
    assert np.isfinite(draws).all() and np.unique(draws.round(12)).tolist() == [0.25]


def test_C10_draws_are_repeatable_and_follow_the_seed():
    result = one_seed(normal(1, 50, 0.2), normal(2, 30, 0.2))
    assert draw_means([result], 7).tobytes() == draw_means([result], 7).tobytes()
    assert (draw_means([result], 7) != draw_means([result], 8)).any()


def test_C10_the_memory_bound_changes_nothing(monkeypatch):
    result = one_seed(normal(1, 50, 0.2), normal(2, 30, 0.2))
    whole = draw_means([result], 7)
    monkeypatch.setattr("frostline.bootstrap._CELLS", 50 * 33)
    np.testing.assert_allclose(draw_means([result], 7), whole, atol=1e-14)


METRICS = ["ndcg@10", "auc"]
SYSTEMS = ("a", "b")


def tables(seed=0, users=None, items=None, seeds=(1, 2)):
    """Figures of two systems in two seeds, that share most users and items. Rows are sorted by name, as written."""
    rng = np.random.default_rng(seed)
    users = [f"u{n:02}" for n in range(40)] if users is None else users
    items = [f"i{n:02}" for n in range(25)] if items is None else items
    per_query, per_item = {}, {}
    for number in seeds:
        its_users, its_items = np.sort(rng.permutation(40)[:32]), np.sort(rng.permutation(25)[:18])
        undefined = rng.random(32) < 0.2
        # Many users and items are alike in some figures; items that were never found still differ in relevance.
        relevance = rng.integers(1, 5, 18) / 4
        for system in SYSTEMS:
            values = {m: np.where(undefined, np.nan, rng.integers(0, 3, 32) / 4) for m in METRICS}
            shares = {m: rng.integers(0, 2, 18) * rng.random(18).round(1) for m in METRICS}
            query, item = [users[n] for n in its_users], [items[n] for n in its_items]
            one = pa.table({"query": query, **{m: pa.array(v, from_pandas=True) for m, v in values.items()}})
            other = pa.table({"item": item, "relevance": relevance, **shares})
            per_query[number, system], per_item[number, system] = one.sort_by("query"), other.sort_by("item")
    return Results("test", tuple(seeds), SYSTEMS, per_query, per_item, {})


@pytest.mark.parametrize("metrics", [METRICS, METRICS[:1]])
@pytest.mark.parametrize("trial", range(6))
def test_C10_renaming_users_and_items_changes_no_draw(trial, metrics):
    """Any map of the names, which puts the rows into another order; only the last bits of sums may move."""
    rng = np.random.default_rng(trial)
    renamed = tables(trial, [f"p{n}" for n in rng.permutation(40)], [f"t{n}" for n in rng.permutation(25)])
    one, two = (draw_means(results.by_seed(metrics), 3, draws=200) for results in (tables(trial), renamed))
    np.testing.assert_allclose(two, one, atol=1e-12)


def test_a_name_has_one_number_in_all_seeds_and_columns_are_systems_by_metrics():
    results = tables()
    found = results.by_seed(METRICS, ["b"])
    known = {}
    for number, result in zip(results.seeds, found, strict=True):
        table = results.per_query[number, "b"]
        for name, user in zip(table["query"].to_pylist(), result.user.tolist(), strict=True):
            assert known.setdefault(name, user) == user
        np.testing.assert_array_equal(result.values[:, 1], table["auc"].to_numpy())
        np.testing.assert_array_equal(result.shares[:, 0], results.per_item[number, "b"]["ndcg@10"].to_numpy())
    assert len(set(known.values())) == len(known)
    assert results.by_seed(METRICS)[0].values.shape == (32, 4)


@pytest.mark.parametrize("trial", range(3))
def test_C10_renaming_users_from_the_scores_on_changes_no_draw(trial):
    """An item's share is a sum over users, whose last bits depend on their order: they must not deal its weights anew."""
    rng = np.random.default_rng(trial)
    metrics = metrics_at((10,))
    scores = rng.random((2, 300, 40)).astype(np.float32)
    query, column = np.nonzero(rng.random((300, 40)) < 0.2)
    found = []
    for users in (np.arange(300), rng.permutation(300)):
        per_query, per_item = {}, {}
        for seed in (1, 2):
            moved = np.argsort(users)  # row r of the renamed is user moved[r]
            result = evaluate_scores(scores[seed - 1][moved], users[query], column, [np.arange(40)], metrics)
            names = [str(metric) for metric in metrics]
            values = {name: pa.array(result.values[:, m], from_pandas=True) for m, name in enumerate(names)}
            shares = {name: result.shares[:, m] for m, name in enumerate([*names, "relevance"])}
            per_query[seed, "a"] = pa.table({"query": [f"u{n:03}" for n in range(300)], **values})
            per_item[seed, "a"] = pa.table({"item": [f"i{n:02}" for n in range(40)], **shares})
        results = Results("test", (1, 2), ("a",), per_query, per_item, {})
        found.append(draw_means(results.by_seed(names), 3, draws=100))
    np.testing.assert_allclose(found[1], found[0], atol=1e-9)
