"""Row C12: probabilities fitted on val-cold and judged on test by logloss, Brier and ECE, against scikit-learn."""

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss

from frostline import calibrate, codeversion
from frostline.calibrate import BINS, Counts, fit, judge, reliability
from frostline.ranking import PooledAUC, pooled_auc


def pairs(seed, n=4000, levels=None):
    """Scores and labels whose odds rise with the score; with `levels`, few different scores."""
    rng = np.random.default_rng(seed)
    score = rng.integers(0, levels, n) / levels if levels else rng.normal(size=n)
    label = rng.random(n) < 1 / (1 + np.exp(2.5 - 1.5 * score))
    return score, label


def counted(score, label):
    level, of = np.unique(score, return_inverse=True)
    return Counts(level, np.bincount(of).astype(float), np.bincount(of, label).astype(float))


@pytest.mark.parametrize("levels", [None, 7])
def test_C12_platt_is_the_logistic_regression_of_the_pairs(levels):
    score, label = pairs(1, levels=levels)
    found = fit("platt", counted(score, label))
    expected = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(score[:, None], label)
    there = np.linspace(-3, 3, 50)
    np.testing.assert_allclose(found(there), expected.predict_proba(there[:, None])[:, 1], rtol=1e-4)
    # Maximum likelihood: what is predicted adds up to what is observed, with and without the score as a factor.
    assert found(score).sum() == pytest.approx(label.sum(), rel=1e-5)
    assert found(score) @ score == pytest.approx(label @ score, rel=1e-4)


@pytest.mark.parametrize("levels", [None, 7])
def test_C12_isotonic_is_that_of_the_pairs_and_never_certain(levels):
    score, label = pairs(2, levels=levels)
    found = fit("isotonic", counted(score, label))
    expected = IsotonicRegression(out_of_bounds="clip").fit(score, label)
    there = np.concatenate([score, [-99, 99]])
    least = 0.5 / len(score)
    np.testing.assert_allclose(found(there), np.clip(expected.predict(there), least, 1 - least), atol=1e-9)
    assert found(there).min() > 0 and found(there).max() < 1 and (np.diff(found(np.sort(there))) >= 0).all()


def test_C12_a_score_that_says_nothing_predicts_the_base_rate():
    counts = Counts(np.zeros(1), np.array([400.0]), np.array([100.0]))
    for method in ("platt", "isotonic"):
        assert fit(method, counts)(np.array([0.0])) == pytest.approx(0.25, abs=1e-6)


def test_C12_the_scale_of_the_scores_does_not_matter():
    score, label = pairs(3)
    for method in ("platt", "isotonic"):
        one, two = fit(method, counted(score, label)), fit(method, counted(score * 1e-6 + 7, label))
        np.testing.assert_allclose(one(score[:99]), two(score[:99] * 1e-6 + 7), rtol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_C12_logloss_and_brier_are_scikit_learns_and_ece_its_definition(seed):
    score, label = pairs(seed, n=3001)
    predicted = np.round(1 / (1 + np.exp(2.2 - score)), 2).clip(0.01, 0.99)  # wrong, and with ties
    counts = counted(predicted, label)
    found = judge(counts.score, counts.n, counts.n_relevant)
    assert found["logloss"] == pytest.approx(log_loss(label, predicted), rel=1e-12)
    assert found["brier"] == pytest.approx(brier_score_loss(label, predicted), rel=1e-12)
    number = np.minimum(((rankdata(predicted) - 0.5) / len(predicted) * BINS).astype(int), BINS - 1)
    gaps = [abs((predicted[number == b] - label[number == b]).sum()) for b in range(BINS)]
    assert found["ece"] == pytest.approx(sum(gaps) / len(predicted), rel=1e-10)


def test_C12_reliability_is_scikit_learns_curve_where_no_predictions_tie():
    score, label = pairs(5, n=5000)
    predicted = 1 / (1 + np.exp(2.2 - score))
    bins = reliability(predicted, np.ones(5000), label.astype(float))
    observed, mean = calibration_curve(label, predicted, n_bins=BINS, strategy="quantile")
    np.testing.assert_allclose([p for p, _, _ in bins], mean, rtol=1e-3)
    np.testing.assert_allclose([o for _, o, _ in bins], observed, atol=0.003)
    assert [m for _, _, m in bins] == [500] * BINS


def test_C12_calibration_mends_what_is_wrong():
    val, test = (counted(*pairs(seed, n=20000)) for seed in (7, 8))
    wrong = judge(1 / (1 + np.exp(-test.score)), test.n, test.n_relevant)
    for method in ("platt", "isotonic"):
        right = judge(fit(method, val)(test.score), test.n, test.n_relevant)
        assert right["ece"] < 0.02 < 0.2 < wrong["ece"]
        assert right["logloss"] < wrong["logloss"] and right["brier"] < wrong["brier"]


@pytest.mark.parametrize("most", [10**6, 50])
def test_the_counts_are_those_of_the_pairs_and_keep_their_order(most):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(300, 40)).astype(np.float32)
    scores[:, ::7] = 0
    query, column = np.nonzero(rng.random(scores.shape) < 0.1)
    pool = PooledAUC()
    pool.add(scores, query, column)
    score, n, n_relevant = pool.levels(most)
    asked = np.unique(query)
    assert (n.sum(), n_relevant.sum()) == (40 * len(asked), len(query)) and (np.diff(score) > 0).all()
    assert len(score) <= most and (n_relevant <= n).all()
    assert score @ n == pytest.approx(scores[asked].sum(dtype=float), abs=3e-4 * scores[asked].size)
    # The counts are all that the pooled AUC needs; joined levels cost it little.
    below = np.cumsum(n - n_relevant) - (n - n_relevant) / 2
    area = n_relevant @ below / (n_relevant.sum() * (n - n_relevant).sum())
    assert area == pytest.approx(pooled_auc(scores, query, column), abs=1e-4 if most > 50 else 0.01)


@pytest.mark.parametrize("value", [-3.5, -1e-20, 0.0, 1e-8, 0.25, 1.0, 1234.5])
def test_a_level_is_within_its_bin_of_the_score(value):
    pool = PooledAUC()
    pool.add(np.full((2, 3), value, np.float32), [0], [1])
    assert pool.levels(9)[0] == pytest.approx([value], rel=2**-12, abs=1e-37)


def test_C12_no_stage_before_the_tables_knows_of_calibration(monkeypatch):
    """With and without it the same code gives the same per_query: no stage that makes or judges scores imports it."""
    before = {stage: codeversion.digest(f"frostline.{stage}") for stage in ("score", "evaluate", "select", "aggregate")}
    original = codeversion._source
    changed = {"frostline.calibrate": b"# changed"}
    monkeypatch.setattr(codeversion, "_source", lambda name: changed.get(name, original(name)))
    codeversion.digest.cache_clear()
    try:
        assert before == {stage: codeversion.digest(f"frostline.{stage}") for stage in before}
    finally:
        codeversion.digest.cache_clear()


def test_C12_the_tables_have_every_system_and_method(files):
    inputs = {}
    for number, (seed, system, fold) in enumerate([(s, n, f) for s in (1, 2) for n in "ab" for f in ("val", "test")]):
        name = f"{seed}{system}{fold}.npz"
        counts = counted(*pairs(number, n=1500))
        files.put(name, {"score": counts.score, "n": counts.n, "n_relevant": counts.n_relevant})
        inputs[f"counts[{seed},{system},{fold}]"] = name
    outputs = {"parquet": "a.parquet", "csv": "a.json", "reliability_parquet": "b.parquet", "reliability_csv": "b.json"}
    params = {"systems": {"a": "system", "b": "control"}, "seeds": [1, 2], "calibration": ["platt", "isotonic"]}
    files.run(calibrate.run, inputs, outputs, **params)
    rows = files.get("a.parquet").to_pylist()
    assert len({(row["system"], row["method"], row["metric"]) for row in rows}) == len(rows) == 2 * 2 * 3
    for system in "ab":
        for method in ("platt", "isotonic"):
            values = []
            for seed in (1, 2):
                val, test = (Counts(**files.get(inputs[f"counts[{seed},{system},{fold}]"])) for fold in ("val", "test"))
                values.append(judge(fit(method, val)(test.score), test.n, test.n_relevant)["brier"])
            row = next(r for r in rows if (r["system"], r["method"], r["metric"]) == (system, method, "brier"))
            assert row["mean"] == pytest.approx(np.mean(values)) and row["sd"] == pytest.approx(np.std(values, ddof=1))
    bins = [r for r in files.get("b.parquet").to_pylist() if (r["system"], r["method"]) == ("a", "platt")]
    assert [r["bin"] for r in bins] == list(range(1, BINS + 1)) and sum(r["n"] for r in bins) == 3000
