"""Systems of next-item, each against its written definition, on sequences of a handful of users."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics.pairwise import cosine_similarity

from frostline.registry import load
from frostline.systems import Events, Known, Queries
from frostline.systems.als import folded_in

N_ITEMS, SEED, DAY = 12, 5, 86_400
NAMES = ["popularity", "recent_popularity", "markov", "sequential_rules", "item_knn", "ease", "als", "user_session_knn"]


def sequences(seed=0, n_users=9):
    rng = np.random.default_rng(seed)
    return [rng.permutation(N_ITEMS)[: rng.integers(3, 8)].tolist() for _ in range(n_users)]


def events(rows):
    query = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    return Events(query, np.concatenate([np.array(row, int) for row in rows]), 40 * DAY + np.arange(len(query)) * DAY)


def world(rows=None):
    """Training sequences, and queries whose history is one event longer."""
    rows = rows or sequences()
    rng = np.random.default_rng(9)
    longer = [[*row, int(rng.choice(np.setdiff1d(np.arange(N_ITEMS), row)))] for row in rows]
    known = Known(len(rows), N_ITEMS, SEED, N_ITEMS, events(rows))
    history = events(longer)
    return known, Queries([f"u{n}" for n in range(len(rows))], history, (history.query, history.item)), rows, longer


def scored(name, given=None, **options):
    known, queries, *_ = given or world()
    system = load("systems", name)(**options)
    found = system.score(system.fit(known), known, queries)
    found.check()
    grid = np.tile(np.broadcast_to(np.asarray(found.fill, float), N_ITEMS), (len(queries), 1))
    for query in range(len(queries)):
        items, values = found.row(query)
        grid[query, items] = values
    return grid


def candidates():
    _, _, _, longer = world()
    return np.array([[item not in row for item in range(N_ITEMS)] for row in longer])


def fading(rows, decay):
    weights = np.zeros((len(rows), N_ITEMS))
    for query, row in enumerate(rows):
        for lag, item in enumerate(reversed(row)):
            weights[query, item] = decay**lag
    return weights


def taken(rows):
    return (fading(rows, 1.0) > 0).astype(float)


def test_markov_counts_what_came_directly_after_the_last_item():
    _, _, rows, longer = world()
    expected = [
        [
            sum((row[-1], item) == pair for other in rows for pair in itertools.pairwise(other))
            for item in range(N_ITEMS)
        ]
        for row in longer
    ]
    np.testing.assert_array_equal(scored("markov"), expected)


@pytest.mark.parametrize("discount", [0.0, 0.5, 1.0])
def test_sequential_rules_are_their_formula(discount):
    _, _, rows, longer = world()
    rule = np.zeros((N_ITEMS, N_ITEMS))
    for row in rows:
        for later in range(len(row)):
            for before in range(max(0, later - 3), later):
                rule[row[before], row[later]] += 1 / (later - before)
    out = rule.sum(axis=1, keepdims=True)
    rule = np.divide(rule, out**discount, out=np.zeros_like(rule), where=out > 0)
    found = scored("sequential_rules", window=3, decay=0.7, discount=discount)
    np.testing.assert_allclose(found, fading(longer, 0.7) @ rule, rtol=1e-6)


def test_item_knn_is_the_cosine_of_sklearn():
    _, _, rows, longer = world()
    cosine = cosine_similarity(taken(rows).T)
    np.fill_diagonal(cosine, 0)
    np.testing.assert_allclose(scored("item_knn", decay=0.6), fading(longer, 0.6) @ cosine, rtol=1e-6, atol=1e-7)


def test_ease_by_way_of_the_users_is_ease_by_way_of_the_items():
    """Steck's closed form, with the inverse that is never made."""
    _, _, rows, longer = world()
    inverse = np.linalg.inv(taken(rows).T @ taken(rows) + 3.0 * np.eye(N_ITEMS))
    weights = np.eye(N_ITEMS) - inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0)
    expected = fading(longer, 0.8) @ weights
    found = scored("ease", regularization=3.0)
    np.testing.assert_allclose(found[candidates()], expected[candidates()], rtol=1e-5, atol=1e-7)
    assert np.isnan(found[~candidates()]).all()


def test_factors_of_a_query_minimise_the_loss_of_implicit_feedback():
    rng = np.random.default_rng(2)
    items, history = rng.normal(size=(N_ITEMS, 3)), world()[1].history.matrix(9, N_ITEMS, 0.9)
    found = folded_in(items, history, alpha=4.0, regularization=0.3)

    def loss(factors, query):
        weight = history.toarray()[query]
        confidence, wanted = 1 + 4.0 * weight, weight > 0
        return (confidence * (wanted - items @ factors) ** 2).sum() + 0.3 * (factors**2).sum()

    for query in range(9):
        best = loss(found[query], query)
        assert all(loss(found[query] + step, query) > best for step in rng.normal(scale=0.01, size=(20, 3)))


def test_als_ranks_by_factors_that_the_library_itself_would_fold_in():
    from implicit.cpu.als import AlternatingLeastSquares

    _, queries, *_ = world()
    system = load("systems", "als")(factors=4, alpha=5.0, decay=1.0, regularization=0.1)
    factors = system.fit(world()[0])
    library = AlternatingLeastSquares(factors=4, regularization=0.1, num_threads=1)
    library.item_factors = factors.astype(np.float32)
    history = queries.history.matrix(9, N_ITEMS)
    history.data[:] = 6.0
    users = library.recalculate_user(np.arange(9), csr_matrix(history.astype(np.float32)))
    found = scored("als", factors=4, alpha=5.0, decay=1.0, regularization=0.1)
    np.testing.assert_allclose(found[candidates()], (users @ library.item_factors.T)[candidates()], atol=2e-3)


def test_user_session_knn_sums_over_the_nearest_users():
    _, _, rows, longer = world()
    history, others = fading(longer, 0.8), taken(rows)
    near = history @ others.T / np.linalg.norm(others, axis=1)
    expected = np.zeros((len(rows), N_ITEMS))
    for query in range(len(rows)):
        for other in np.argsort(-near[query])[:3]:
            expected[query] += near[query, other] * others[other]
    np.testing.assert_allclose(scored("user_session_knn", k=3), expected, rtol=1e-6, atol=1e-7)


def test_recent_popularity_halves_with_every_half_life():
    known, *_ = world()
    expected = np.zeros(N_ITEMS)
    for item, time in zip(known.train.item, known.train.time, strict=True):
        expected[item] += 0.5 ** ((known.train.time.max() - time) / (10 * DAY))
    np.testing.assert_allclose(scored("recent_popularity", half_life=10.0)[0], expected, rtol=1e-6)
    counts = np.bincount(known.train.item, minlength=N_ITEMS)
    np.testing.assert_array_equal(scored("popularity")[0], counts)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "als"])
def test_C10_renumbered_items_get_the_same_scores(name):
    order = np.random.default_rng(4).permutation(N_ITEMS)
    place = np.argsort(order)
    _, queries, rows, longer = world()
    moved = [[int(place[item]) for item in row] for row in rows]
    history = events([[int(place[item]) for item in row] for row in longer])
    other = (
        Known(len(rows), N_ITEMS, SEED, N_ITEMS, events(moved)),
        Queries(queries.names, history, (history.query, history.item)),
    )
    found = scored(name, other)
    np.testing.assert_allclose(found, scored(name)[:, order], rtol=1e-5, atol=1e-7)
