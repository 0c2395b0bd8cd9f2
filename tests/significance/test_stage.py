"""The table of significance, on known results: every figure by another way (B7, P4, A7)."""

import math
import statistics
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from frostline import significance
from frostline.bootstrap import draw_means, interval
from frostline.ranking import metrics_at
from frostline.results import Results
from frostline.significance import CHOICE, COLUMNS, TESTED, compare, decompose

METRICS = [str(metric) for metric in metrics_at((5,))]
KINDS = {"base": "baseline", "good": "system", "fair": "system", "same": "system", "random": "control"}
LEVEL = {"base": 0.3, "good": 0.36, "fair": 0.31, "same": 0.3, "random": 0.1}
SEEDS = (1, 2, 3)
PARAMS = {"systems": KINDS, "baseline": "base", "k": [5], "seeds": list(SEEDS)} | {
    "primary": "ndcg@5",
    "replicates": "draws",
    "restarts": [["good", "fair"]],
}
CHOSEN = {1: "good", 2: "fair", 3: "good"}


def results(seeds=SEEDS, n_users=40, n_items=25, names=lambda kind, n: f"{kind}{n:02}"):
    """Figures of every metric; `same` equals the baseline, a third of the users of a seed have none."""
    per_query, per_item, pooled = {}, {}, {}
    for seed in seeds:
        rng = np.random.default_rng(seed)
        asked = rng.random(n_users) < 0.67
        base = rng.normal(0, 0.15, (n_users, len(METRICS)))
        items, relevance = rng.random((n_items, len(METRICS))), rng.integers(1, 5, n_items) / 4
        for number, system in enumerate(KINDS):
            own = np.random.default_rng([seed, 0 if system == "same" else number])
            level = LEVEL[system] + own.normal(0, 0.01)
            values = np.where(asked[:, None], (base + level + own.normal(0, 0.08, base.shape)).round(2), np.nan)
            shares = items + own.normal(level, 0.3, items.shape)
            columns = {metric: pa.array(values[:, m], from_pandas=True) for m, metric in enumerate(METRICS)}
            user, item = ([names(kind, n) for n in range(count)] for kind, count in (("u", n_users), ("i", n_items)))
            per_query[seed, system] = pa.table({"query": user, **columns}).sort_by("query")
            columns = {metric: shares[:, m] for m, metric in enumerate(METRICS)}
            per_item[seed, system] = pa.table({"item": item, "relevance": relevance, **columns}).sort_by("item")
            means = {metric: math.fsum(values[asked, m]) / asked.sum() for m, metric in enumerate(METRICS)}
            pooled[seed, system] = {"mean": means, "auc_pooled": means["auc"] + 0.1}
    return Results("test", tuple(seeds), tuple(KINDS), per_query, per_item, pooled)


@pytest.fixture(scope="module")
def rows():
    return compare(results(), CHOSEN, 0.25, PARAMS)


def of(rows, metric, comparison):
    return [row for row in rows if (row["metric"], row["comparison"]) == (metric, comparison)]


def test_every_system_meets_the_baseline_and_the_choice_meets_every_system(rows):
    assert len(rows) == (len(METRICS) + 1) * 9 and all(list(row) == COLUMNS for row in rows)
    for metric in [*METRICS, "auc_pooled"]:
        pairs = [(row["system"], row["reference"]) for row in of(rows, metric, "baseline")]
        assert pairs == [(system, "base") for system in KINDS if system != "base"]
        assert [(r["system"], r["reference"]) for r in of(rows, metric, "choice")] == [(CHOICE, s) for s in KINDS]


def test_C9_where_time_splits_neither_test_takes_the_seeds_for_draws_of_items():
    """Under a split by time the interval is over users and items, Nadeau and Bengio's test is not given, and both say so."""
    found = compare(results(), CHOSEN, None, PARAMS | {"replicates": "models"})
    resampled = draw_means(results().by_seed(["ndcg@5"]), min(SEEDS), factors=("users", "items")).clip(0, 1)
    good, base = (list(KINDS).index(system) for system in ("good", "base"))
    low, high = interval(resampled[:, good] - resampled[:, base])
    row = next(row for row in of(found, "ndcg@5", "baseline") if row["system"] == "good")
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(low), pytest.approx(high))
    assert all(row["corrected_p"] is None for row in found)
    assert "seeds are no random draws of items: no corrected test" in row["note"]


def per_user(found, metric):
    """Mean over seeds of each user's figure, by plain loops."""
    seen = {}
    for (seed, system), table in found.per_query.items():
        for user, value in zip(table["query"].to_pylist(), table[metric].to_pylist(), strict=True):
            if value is not None:
                seen.setdefault(user, {}).setdefault(system, {})[seed] = value
    for by_system in seen.values():
        by_system[CHOICE] = {seed: by_system[CHOSEN[seed]][seed] for seed in by_system["base"]}
    return {user: {s: statistics.fmean(v.values()) for s, v in by.items()} for user, by in seen.items()}


@pytest.mark.parametrize("metric", ["ndcg@5", "auc"])
def test_B7_P4_tests_equal_scipy(rows, metric):
    found = results()
    users = per_user(found, metric)
    for row in (row for row in rows if row["metric"] == metric):
        one, two = ([by[row[side]] for by in users.values()] for side in ("system", "reference"))
        difference = np.subtract(one, two)
        assert row["n_users"] == len(users) and row["users_mean"] == pytest.approx(difference.mean(), abs=1e-12)
        assert row["users_wins"] == (difference > 1e-9).sum() and row["users_losses"] == (difference < -1e-9).sum()
        figure = lambda seed, name: found.pooled[seed, CHOSEN[seed] if name == CHOICE else name]["mean"][metric]  # noqa: E731
        seeds = [figure(seed, row["system"]) - figure(seed, row["reference"]) for seed in SEEDS]
        assert row["difference"] == pytest.approx(statistics.fmean(seeds), abs=1e-12)
        assert row["sd"] == pytest.approx(statistics.stdev(seeds), abs=1e-12)
        if row["system"] == "same":
            assert (row["seeds_t"], row["users_t"], row["p"], row["users_randomisation_p"]) == (None, None, 1, 1)
            assert row["deterministic"] and row["sd"] == 0 and "deterministic" in row["note"]
            continue
        over_seeds, over_users = stats.ttest_1samp(seeds, 0), stats.ttest_rel(one, two)
        assert (row["seeds_t"], row["seeds_p"]) == pytest.approx((over_seeds.statistic, over_seeds.pvalue))
        assert (row["users_t"], row["users_p"]) == pytest.approx((over_users.statistic, over_users.pvalue))
        corrected = statistics.fmean(seeds) / math.sqrt((1 / 3 + 0.25) * statistics.variance(seeds))
        assert row["corrected_t"] == pytest.approx(corrected)
        assert row["corrected_p"] == pytest.approx(2 * stats.t.sf(abs(corrected), 2))


def test_P4_holm_equals_statsmodels_and_leaves_out_what_does_not_compete(rows):
    n_families = 0
    for metric in ("ndcg@5", "auc"):
        for comparison in ("baseline", "choice"):
            for name in TESTED:
                family = of(rows, metric, comparison)
                assert all(row[f"{name}_holm"] is None for row in family if row["kind"] == "control")
                tested = [row for row in family if row["kind"] != "control" and row[name] is not None]
                expected = multipletests([row[name] for row in tested], method="holm")[1]
                assert [row[f"{name}_holm"] for row in tested] == pytest.approx(expected.tolist())
                n_families += len(tested) > 1
    assert n_families == 2 * 2 * len(TESTED)


def test_A7_the_interval_is_that_of_the_crossed_bootstrap_and_p_agrees_with_it(rows):
    found = results()
    draws = [draw_means([r.take([0, m, m + len(METRICS)]) for r in found.by_seed(METRICS)], 1) for m in range(2)]
    for metric, drawn in zip(METRICS[:2], draws, strict=True):
        row = next(row for row in of(rows, metric, "baseline") if row["system"] == "good")
        moved = drawn[:, 2].clip(0, 1) - drawn[:, 1].clip(0, 1)
        low, high = interval(moved)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high), abs=1e-10)
        assert row["detectable"] == pytest.approx(2.801585 * moved.std(), rel=1e-4)
    for row in rows:
        if row["p"] is not None and abs(row["p"] - 0.05) > 0.002:
            assert (row["p"] < 0.05) == (row["ci_low"] > 0 or row["ci_high"] < 0)
    told = {row["p"] < 0.05 for row in rows if row["p"] is not None}
    assert told == {True, False}


@pytest.mark.parametrize("chosen", [CHOSEN, {}])
def test_the_variance_of_a_figure_is_told_by_factor(chosen):
    """Seeds: the square of the standard error; users and items: by the definitions of resampling, for one seed."""
    found = results()
    rows = {(r["system"], r["reference"], r["factor"]): r for r in decompose(found, chosen, PARAMS)}
    assert len(rows) == 3 * (5 + 4 + (6 if chosen else 0)) + 2
    starts = [[found.pooled[seed, name]["mean"]["ndcg@5"] for name in ("good", "fair")] for seed in SEEDS]
    for system in ("good", "fair"):
        row = rows[system, "", "donor"]
        assert row["variance"] == pytest.approx(statistics.fmean(map(statistics.variance, starts)) / 3)
        items = rows[system, "", "items"]
        assert row["share"] / items["share"] == pytest.approx(row["variance"] / items["variance"])
    for system, reference in (("good", ""), ("good", "base")):
        parts = [rows[system, reference, factor] for factor in ("seeds", "users", "items")]
        assert sum(part["share"] for part in parts) == pytest.approx(1)
        means = [found.pooled[seed, system]["mean"]["ndcg@5"] for seed in SEEDS]
        if reference:
            means = [
                mean - found.pooled[seed, reference]["mean"]["ndcg@5"] for mean, seed in zip(means, SEEDS, strict=True)
            ]
        assert parts[0]["variance"] == pytest.approx(statistics.variance(means) / 3)
        assert all(part["sd"] == pytest.approx(math.sqrt(part["variance"])) for part in parts)
    same = [rows["same", "base", factor] for factor in ("seeds", "users", "items")]
    assert [part["variance"] for part in same] == [0, 0, 0] and {part["share"] for part in same} == {None}

    one = {(r["system"], r["reference"], r["factor"]): r for r in decompose(results((1,)), {}, PARAMS | {"seeds": [1]})}
    assert one["good", "", "seeds"]["variance"] is None
    users = np.array(found.per_query[1, "good"]["ndcg@5"].drop_null())
    assert one["good", "", "users"]["variance"] == pytest.approx(users.var() / len(users), rel=0.12)
    items = found.per_item[1, "good"]
    share, relevance = items["ndcg@5"].to_numpy(), items["relevance"].to_numpy()
    residual = share - relevance * share.sum() / relevance.sum()
    assert one["good", "", "items"]["variance"] == pytest.approx((residual**2).sum() / relevance.sum() ** 2, rel=0.25)


def test_pooled_auc_has_seeds_alone(rows):
    for row in of(rows, "auc_pooled", "baseline"):
        assert row["difference"] is not None and (row["system"] == "same" or row["seeds_t"] is not None)
        assert {row[n] for n in COLUMNS if n.startswith("users_")} | {row["ci_low"], row["p"], row["n_users"]} == {None}


def test_C10_renaming_users_and_items_changes_no_row(rows):
    rng = np.random.default_rng(0)
    new = {"u": rng.permutation(40), "i": rng.permutation(25)}
    renamed = compare(results(names=lambda kind, n: f"x{new[kind][n]:02}"), CHOSEN, 0.25, PARAMS)
    for one, two in zip(rows, renamed, strict=True):
        assert one == pytest.approx(two, abs=1e-9, nan_ok=True)


def test_one_seed_no_draws_and_no_choice():
    one = compare(results(seeds=(1,)), {1: "good"}, 0.25, PARAMS | {"seeds": [1]})
    assert all(row["sd"] is None and row["seeds_t"] is None and row["corrected_t"] is None for row in one)
    assert all("one seed" in row["note"] and not row["deterministic"] for row in one)
    # What every seed chose is not compared with itself.
    assert [row["reference"] for row in of(one, "auc", "choice")] == ["base", "fair", "same", "random"]
    none = compare(results(), {}, None, PARAMS)
    assert {row["comparison"] for row in none} == {"baseline"}
    assert all(row["corrected_t"] is None for row in none) and "no random draws" in none[0]["note"]


def test_undefined_auc_in_a_seed_leaves_the_rest_alone():
    found = results()
    without = {key: figures | {"mean": figures["mean"] | {"auc": None}} for key, figures in found.pooled.items()}
    rows = compare(replace(found, pooled=without), CHOSEN, 0.25, PARAMS)
    assert all(row["difference"] is None and row["seeds_p_holm"] is None for row in of(rows, "auc", "baseline"))
    assert "undefined in a seed" in of(rows, "auc", "baseline")[0]["note"]
    assert all(row["difference"] is not None for row in of(rows, "ndcg@5", "baseline"))


def test_the_stage_reads_the_share_of_test_items_and_writes_both_files(files):
    found = results()
    inputs = {}
    for (seed, system), table in found.per_query.items():
        for name, value in {"per_query": table, "per_item": found.per_item[seed, system]}.items():
            files.put(f"{name}-{seed}-{system}.parquet", value)
            inputs[f"{name}[{seed},{system},test]"] = f"{name}-{seed}-{system}.parquet"
        files.put(f"pooled-{seed}-{system}.json", found.pooled[seed, system])
        inputs[f"pooled[{seed},{system},test]"] = f"pooled-{seed}-{system}.json"
    for seed in SEEDS:
        folds = {fold: {"items": n} for fold, n in (("warm", 100), ("val", 50), ("test", 25))}
        files.put(f"summary-{seed}.json", {"folds": folds})
        files.put(f"chosen-{seed}.json", {"system": CHOSEN[seed]})
        inputs |= {f"summary[{seed}]": f"summary-{seed}.json", f"chosen[{seed}]": f"chosen-{seed}.json"}
    outputs = {"parquet": "significance.parquet", "csv": "significance.csv"}
    outputs |= {"variance_parquet": "variance.parquet", "variance_csv": "variance.csv"}
    files.run(significance.run, inputs, outputs, **PARAMS)
    assert files.get("variance.parquet").to_pylist() == decompose(found, CHOSEN, PARAMS)
    written = files.get("significance.parquet").to_pylist()
    assert written == compare(found, CHOSEN, 0.25, PARAMS)
    lines = (files.folder / "significance.csv").read_text().splitlines()
    assert lines[0].split(",") == COLUMNS and len(lines) == 1 + len(written)
