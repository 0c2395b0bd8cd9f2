"""The embedded catalogue: its numbers are exact, its draw follows the stated law, and its oracle is one."""

import numpy as np
import pyarrow as pa
import pytest

from frostline.adapters.synthetic import BLOCK, Synthetic


def codes(dataset):
    """User and item of each interaction as positions in the truth's ids."""
    return (dataset.interactions[name].combine_chunks().indices.to_numpy() for name in ("user", "item"))


@pytest.fixture(scope="module")
def demo():
    return Synthetic().read({}, {})


def test_has_the_stated_size_and_no_pair_twice(demo):
    user, item = codes(demo)
    assert (len(demo.truth["users"]), demo.items.num_rows, len(user)) == (2000, 1200, 100_000)
    assert len(np.unique(user * 1200 + item)) == 100_000
    activity = np.bincount(user, minlength=2000)
    assert activity.min() >= 1 and activity.max() == 300, (
        "a user has one interaction at least, a quarter of the items at most"
    )
    assert demo.interactions["user"].combine_chunks().dictionary.to_pylist() == demo.truth["users"].tolist()


def test_c10_same_seed_same_data_and_another_seed_other_data():
    options = {"users": 200, "items": 100, "interactions": 2000}
    one, same, other = (Synthetic(**options, seed=seed).read({}, {}) for seed in (1, 1, 2))
    assert one.interactions.equals(same.interactions) and one.items.equals(same.items)
    assert all(np.array_equal(one.truth[name], same.truth[name]) for name in one.truth)
    assert not one.interactions.equals(other.interactions)


def test_blocks_leave_no_seam():
    options = Synthetic(users=3000, items=1200, interactions=int(2.5 * BLOCK))
    user, item = codes(options.read({}, {}))
    assert len(np.unique(user.astype(np.int64) * 1200 + item)) == options.interactions
    assert len(np.unique(user)) == options.users


def test_popularity_and_activity_have_long_tails_that_ids_do_not_show(demo):
    for code in codes(demo):
        count = np.sort(np.bincount(code))[::-1]
        assert count[: len(count) // 10].sum() > 0.25 * count.sum()
        order = np.bincount(code).argsort().argsort()
        assert abs(np.corrcoef(order, np.arange(len(order)))[0, 1]) < 0.1


def test_no_interaction_precedes_its_items_release(demo):
    _, item = codes(demo)
    year = demo.interactions["time"].to_numpy().astype("M8[s]").astype("M8[Y]").astype(int) + 1970
    assert (year >= demo.items["year"].to_numpy()[item]).all()


@pytest.mark.parametrize("k", [1, 2])
def test_items_are_drawn_without_replacement_with_the_weights_of_the_truth(k):
    """Of users with k interactions, each item gets as many as the law predicts (chi-square, p > .0001)."""
    dataset = Synthetic(users=20_000, items=24, interactions=20_000 * k, seed=3).read({}, {})
    user, item = codes(dataset)
    chosen = np.flatnonzero(np.bincount(user) == k)
    weight = np.exp((dataset.truth["user_factors"][chosen] @ dataset.truth["item_factors"].T).astype(float))
    p = weight / weight.sum(1, keepdims=True)
    # Either first, or second after any other.
    expected = p if k == 1 else p + p * ((p / (1 - p)).sum(1, keepdims=True) - p / (1 - p))
    observed = np.bincount(item[np.isin(user, chosen)], minlength=24)
    chi2 = ((observed - expected.sum(0)) ** 2 / expected.sum(0)).sum()
    assert len(chosen) > 3000
    # The .9999 quantile of chi-square with 23 degrees of freedom, which is an upper bound for k = 2.
    assert chi2 < 57


def test_content_explains_a_part_of_taste_and_popularity(demo):
    categories = demo.items["categories"].to_pylist()
    names = sorted({name for row in categories for name in row})
    content = np.array([[name in row for name in names] for row in categories], float)
    year = demo.items["year"].to_numpy()[:, None] - 1994
    design = np.hstack([content, year, year**2, np.ones_like(year)])
    factors = demo.truth["item_factors"]
    residual = factors - design @ np.linalg.lstsq(design, factors, rcond=None)[0]
    explained = 1 - residual.var(0) / factors.var(0)
    assert len(names) == 18 and {len(row) for row in categories} == {1, 2, 3, 4}
    assert 0.3 < explained[:-1].mean() < 0.85 and 0.3 < explained[-1] < 0.85


def test_the_truth_ranks_far_better_than_popularity(demo):
    """AUC of chosen against not chosen items, per user."""
    user, item = codes(demo)
    chosen = np.zeros((2000, 1200), bool)
    chosen[user, item] = True

    def auc(scores):
        rank = scores.argsort(1).argsort(1)
        n = chosen.sum(1)
        return (((rank * chosen).sum(1) - n * (n - 1) / 2) / (n * (1200 - n))).mean()

    truth = auc(demo.truth["user_factors"] @ demo.truth["item_factors"].T)
    assert truth > auc(np.tile(chosen.sum(0), (2000, 1))) + 0.1


def test_text_is_short_and_made_of_words_of_the_items_topics(demo):
    from frostline.adapters.synthetic import COMMON_WORDS, TOPICS

    for row in demo.items.slice(0, 50).to_pylist():
        allowed = set(COMMON_WORDS.split()).union(*(TOPICS[name].split() for name in row["categories"]))
        words = row["text"].split()
        assert 8 <= len(words) <= 12 and set(words) <= allowed


def test_declares_kinds_that_fit_its_columns(demo):
    from frostline.dataset import KINDS

    for name, kind in Synthetic().kinds().items():
        assert demo.items.schema.field(name).type == KINDS[kind]
    assert demo.interactions.schema.field("time").type == pa.int64()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"users": 0}, "users is 0"),
        ({"items": 3}, "items 3"),
        ({"interactions": 1999}, "allow 2000 to 600000"),
        ({"interactions": 600_001}, "allow 2000 to 600000"),
    ],
)
def test_p5_impossible_numbers_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Synthetic(**options)
