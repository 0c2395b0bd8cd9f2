"""Row C16 (Rulings 6): `constant` is exactly chance, `random` is within luck of it, and the audit says when not."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import norm, ttest_1samp

from frostline.audit.controls import BOUND, chance, control_checks
from frostline.ranking import Metric, evaluate, metrics_at, rank_lists, rank_relevant
from frostline.results import Results

METRICS = metrics_at((1, 2, 3, 9))


@pytest.mark.parametrize(("n", "relevant"), [(4, 1), (5, 2), (5, 3), (4, 4), (1, 1)])
def test_C16_chance_is_the_mean_over_all_orders(n, relevant):
    """Every order of the candidates in turn, judged as a list without ties."""
    orders = list(itertools.permutations(range(n)))
    expected = evaluate(rank_lists(orders, [range(relevant)] * len(orders)), METRICS).mean(axis=0)
    for metric, value in zip(METRICS, expected, strict=True):
        np.testing.assert_allclose(chance(metric, np.array([n]), np.array([relevant])), value, rtol=1e-12)


def test_C16_chance_of_each_query_goes_by_its_own_sizes():
    sizes = np.array([(30, 4), (30, 0), (7, 7), (700, 33), (30, 4)]).T
    found = np.stack([chance(metric, *sizes) for metric in METRICS], axis=1)
    for row, (n, relevant) in enumerate(sizes.T):
        ranks = rank_relevant(np.zeros((1, n), np.float32), np.zeros(relevant, int), np.arange(relevant))
        np.testing.assert_allclose(found[row], evaluate(ranks, METRICS)[0], rtol=1e-9)


def results(constant_shift=0.0, random_shift=0.0, n=400, seed=0):
    rng = np.random.default_rng(seed)
    metric = Metric("ndcg", 5)
    scores = {"constant": np.zeros((n, 20), np.float32), "random": rng.random((n, 20), dtype=np.float32)}
    query, column = np.nonzero(rng.random((n, 20)) < 0.1)
    shifts = {"constant": constant_shift, "random": random_shift}
    n_relevant = np.bincount(query, minlength=n)
    per_query = {}
    for name, grid in scores.items():
        values = evaluate(rank_relevant(grid, query, column), [metric])[:, 0] + shifts[name]
        sizes = {"n_candidates": pa.array(np.full(n, 20), pa.int32()), "n_relevant": pa.array(n_relevant, pa.int32())}
        per_query[1, name] = pa.table({**sizes, str(metric): pa.array(values, from_pandas=True)})
    return Results("test", (1,), tuple(scores), per_query, {}, {})


def outcome(**changed):
    ties = changed.pop("ties", "expected")
    return [check["result"] for check in control_checks(results(**changed), "ndcg@5", ties)]


def test_C16_the_audit_passes_honest_controls_and_fails_others():
    assert outcome() == ["passed", "passed"]
    assert outcome(constant_shift=1e-6) == ["failed", "passed"]
    assert outcome(random_shift=0.1) == outcome(random_shift=-0.1) == ["passed", "failed"]
    # With ties by id, constant is not chance and need not be.
    assert outcome(ties="item_id", constant_shift=0.5) == ["passed"]


def test_C16_the_interval_of_random_is_that_of_its_standard_error():
    assert pytest.approx(norm.ppf(0.9995)) == BOUND
    found = results()
    random = found.per_query[1, "random"]
    expected = chance(Metric("ndcg", 5), *(random[name].to_numpy() for name in ("n_candidates", "n_relevant")))
    difference = random["ndcg@5"].to_numpy() - expected
    test = ttest_1samp(difference[~np.isnan(difference)], 0)
    detail = control_checks(found, "ndcg@5", "expected")[1]["detail"]
    width = BOUND * abs(np.nanmean(difference) / test.statistic)
    assert detail == f"ndcg@5 is {np.nanmean(difference):+.5f} from chance, and {width:.5f} is what luck allows"
    assert sum(outcome(seed=seed)[1] == "failed" for seed in range(60)) <= 1


def test_an_experiment_without_controls_has_no_such_checks():
    found = results()
    assert control_checks(Results("test", (1,), ("constant",), found.per_query, {}, {}), "ndcg@5", "expected") == []
