"""Do the tests reject true null hypotheses as often as they say? (A7, Rulings 8.) `make check-statistics` prints the rates.

Differences of two systems that are equal in truth, on users who each want some of the items and answer in every seed. A
seed draws a fifth of the items as test-cold and trains on seven tenths. Under the null "users, this split" only users and
their single answers are random; with re-drawn items the items differ too, in how well each system finds them and in what
it learns from them.
"""

from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array

from frostline.bootstrap import ALPHA, SeedResult, draw_means, interval
from frostline.significance.over_seeds import seed_tests
from frostline.significance.over_users import means_of_users, user_tests

pytestmark = pytest.mark.slow

N_SEEDS, N_ITEMS, N_TEST, N_TRAIN = 5, 200, 40, 140
N_BATCHES, N_COLUMNS, DRAWS = 40, 250, 1999
USER_SD, ANSWER_SD = 0.1, 0.3


def skewed(rng, sd, size):
    """Centred at zero, with the long tail that gains of a ranking metric have."""
    return sd * (rng.exponential(size=size) - 1)


def one_batch(rng, n_users, item_sd, training_sd):
    """Experiments with the same users, items and draws: a column each. Figures of the seeds, as `evaluate` writes them."""
    popularity = rng.pareto(2, N_ITEMS) + 0.3
    user, item = np.nonzero(rng.random((n_users, N_ITEMS)) < 0.15 * popularity / popularity.mean())
    gain = skewed(rng, ANSWER_SD, (len(user), N_COLUMNS))
    gain += skewed(rng, USER_SD, (n_users, N_COLUMNS))[user] + skewed(rng, item_sd, (N_ITEMS, N_COLUMNS))[item]
    lesson = skewed(rng, training_sd, (N_ITEMS, N_COLUMNS))
    results = []
    for _ in range(N_SEEDS):
        drawn = rng.permutation(N_ITEMS)
        test, train = drawn[:N_TEST], drawn[-N_TRAIN:]
        pair = np.flatnonzero(np.isin(item, test))
        asked, row, n_relevant = np.unique(user[pair], return_inverse=True, return_counts=True)
        column = np.searchsorted(np.sort(test), item[pair])
        found = gain[pair] + lesson[train].mean(axis=0)
        weight = 1 / n_relevant[row]
        by_user, by_item = (
            csr_array((weight, (place, np.arange(len(pair)))), shape=(size, len(pair)))
            for place, size in ((row, len(asked)), (column, N_TEST))
        )
        results.append(SeedResult(asked, by_user @ found, np.sort(test), by_item @ found, by_item.sum(axis=1)))
    return results


@cache
def rates(n_users, item_sd=0.0, training_sd=0.0):
    """How often each test rejects, and each interval covers zero, in 10,000 experiments."""
    counts = {}
    for batch in range(N_BATCHES):
        results = one_batch(np.random.default_rng([batch, n_users]), n_users, item_sd, training_sd)
        users = user_tests(means_of_users(results), batch, DRAWS)
        seeds = seed_tests(np.array([result.values.mean(axis=0) for result in results]), N_TEST / N_TRAIN)
        low, high = interval(draw_means(results, batch, DRAWS))
        found = {
            "paired t over users rejects": users.p < ALPHA,
            "randomisation test over users rejects": users.randomisation_p < ALPHA,
            "bootstrap interval over users covers": (users.low <= 0) & (users.high >= 0),
            "paired t over seeds rejects": seeds.p < ALPHA,
            "corrected t over seeds rejects": seeds.corrected_p < ALPHA,
            "crossed bootstrap interval covers": (low <= 0) & (high >= 0),
        }
        for name, values in found.items():
            counts[name] = counts.get(name, 0) + values.sum()
    found = {name: count / (N_BATCHES * N_COLUMNS) for name, count in counts.items()}
    print(f"\n{n_users} users, item sd {item_sd}, training sd {training_sd}")
    print("\n".join(f"  {name:40} {rate:.3f}" for name, rate in found.items()))
    return found


def test_A7_tests_over_users_hold_their_level_under_the_null_of_this_split():
    found = rates(400)
    assert 0.04 <= found["paired t over users rejects"] <= 0.06
    assert 0.04 <= found["randomisation test over users rejects"] <= 0.06
    assert 0.94 <= found["bootstrap interval over users covers"] <= 0.96
    assert found["crossed bootstrap interval covers"] >= 0.95


def test_B7_the_corrected_t_holds_its_level_where_items_are_drawn_anew_and_the_plain_t_does_not():
    found = rates(400, item_sd=0.1)
    assert found["corrected t over seeds rejects"] <= 0.06 < found["paired t over seeds rejects"]
    assert found["crossed bootstrap interval covers"] >= 0.94


def test_A7_tests_over_users_say_nothing_of_other_items():
    """Why the report never leads with them."""
    found = rates(400, item_sd=0.1)
    assert found["paired t over users rejects"] > 0.2 and found["bootstrap interval over users covers"] < 0.8


def test_B7_what_is_learned_from_shared_items_is_reported():
    found = rates(400, item_sd=0.1, training_sd=0.1)
    assert found["crossed bootstrap interval covers"] >= 0.93
