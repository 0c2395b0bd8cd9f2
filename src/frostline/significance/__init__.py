"""Stage `significance`: is the difference of two systems on test more than chance?

Every system is compared with the baseline, and what each seed chose on val with every system. What decides is the crossed
bootstrap over seeds, users and items (`frostline.bootstrap`); tests over seeds alone and over users alone stand beside it.
docs/statistics.md defines every column.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import fields

import numpy as np
from scipy.special import ndtri

from frostline.artifacts import Job
from frostline.bootstrap import ALPHA, draw_means, factors_drawn, interval
from frostline.folds import TEST, WARM
from frostline.marks import CHOICE
from frostline.ranking import metrics_at
from frostline.results import Results, read_results, rounded
from frostline.significance.holm import holm
from frostline.significance.over_seeds import SeedTests, seed_tests
from frostline.significance.over_users import POWER, UserTests, means_of_users, user_tests
from frostline.significance.pairs import (
    BASELINE_PAIRS,
    CHOICE_PAIRS,
    POOLED,
    Pair,
    differences,
    pairs_of,
    plain,
    seed_means,
    with_choice,
)
from frostline.significance.variance import COLUMNS as VARIANCE_COLUMNS
from frostline.significance.variance import decompose
from frostline.tables import write_rows

COLUMNS = [
    *("metric", "comparison", "system", "reference", "kind", "n_seeds", "difference", "sd", "deterministic"),
    *("ci_low", "ci_high", "p", "p_holm", "detectable"),
    *("seeds_t", "seeds_p", "seeds_p_holm", "corrected_t", "corrected_p", "corrected_p_holm"),
    *("n_users", "users_mean", "users_ci_low", "users_ci_high", "users_t", "users_p", "users_p_holm"),
    *("users_randomisation_p", "users_randomisation_p_holm", "users_effect_size"),
    *("users_wins", "users_ties", "users_losses", "users_detectable", "note"),
]
TESTED = ("p", "seeds_p", "corrected_p", "users_p", "users_randomisation_p")


def run(job: Job) -> None:
    """Read `per_query`, `per_item` and `pooled` of test, `chosen` and `summary`; write `significance` and `variance`."""
    params = job.params
    chosen = {int(seed): job.read_json(name)["system"] for (seed,), name in job.family("chosen").items()}
    test_to_train = None
    if params["replicates"] == "draws":
        found = [job.read_json(name)["folds"] for name in job.family("summary").values()]
        test_to_train = statistics.fmean(folds[TEST][params["drawn"]] / folds[WARM][params["drawn"]] for folds in found)
    results = read_results(job, TEST)
    write_rows(job, "", compare(results, chosen, test_to_train, params), COLUMNS)
    write_rows(job, "variance_", decompose(results, chosen, params), VARIANCE_COLUMNS)


def compare(
    results: Results, chosen: Mapping[int, str], test_to_train: float | None, params: Mapping
) -> list[dict[str, object]]:
    """Rows of the table, a row a metric and pair.

    Parameters
    ----------
    results : Results
        Of the test fold.
    chosen : dict
        The system that each seed chose on val; empty where nothing can be chosen.
    test_to_train : float or None
        n_test / n_train of the draws of items, None where the seeds are no random draws.
    params : dict
        `systems` (their kinds by name), `baseline`, `k`, `seeds`.
    """
    metrics = [str(metric) for metric in metrics_at(params["k"])]
    pairs = pairs_of(results.systems, chosen, params["baseline"])
    whole = with_choice(results, metrics, chosen)
    crossed = _crossed(
        draw_means(whole, min(params["seeds"]), factors=factors_drawn(params["replicates"])).clip(0, 1),
        pairs,
        len(metrics),
    )
    over_users = user_tests(differences(means_of_users(whole), pairs, len(metrics)), min(params["seeds"]))
    of_seeds = np.array([seed_means(results, seed, chosen.get(seed), [*metrics, POOLED]) for seed in results.seeds])
    over_seeds = seed_tests(differences(of_seeds, pairs, len(metrics) + 1), test_to_train)
    rows = []
    for position, metric in enumerate([*metrics, POOLED]):
        for comparison in (BASELINE_PAIRS, CHOICE_PAIRS):
            family = [
                _row(results, number, pair, metric, params)
                | _seeds_part(over_seeds, number * (len(metrics) + 1) + position)
                | _users_part(over_users, None if metric == POOLED else number * len(metrics) + position)
                | _crossed_part(crossed, None if metric == POOLED else number * len(metrics) + position)
                for number, pair in enumerate(pairs)
                if pair[0] == comparison
            ]
            _correct(family)
            rows += family
    for row in rows:
        row["note"] = _note(row, test_to_train is None)
    return [{name: rounded(row[name]) for name in COLUMNS} for row in rows]


def _crossed(draws: np.ndarray, pairs: Sequence[Pair], n_metrics: int) -> dict[str, np.ndarray]:
    moved = differences(draws, pairs, n_metrics)
    low, high = interval(moved)
    # The level at which the percentile interval would just touch zero; a draw for what was observed keeps it above zero.
    beyond = 1 + np.minimum((moved <= 0).sum(axis=0), (moved >= 0).sum(axis=0))
    p = np.minimum(2 * beyond / (len(moved) + 1), 1)
    return {
        "ci_low": low,
        "ci_high": high,
        "p": p,
        "detectable": (ndtri(1 - ALPHA / 2) + ndtri(POWER)) * moved.std(axis=0),
    }


def _row(results: Results, number: int, pair: Pair, metric: str, params: Mapping) -> dict[str, object]:
    names = [*results.systems, CHOICE]
    comparison, system, reference = pair[0], names[pair[1]], names[pair[2]]
    other = system if comparison == BASELINE_PAIRS else reference
    return {
        "metric": metric,
        "comparison": comparison,
        "system": system,
        "reference": reference,
        "kind": params["systems"][other],
        "n_seeds": len(results.seeds),
    }


def _seeds_part(tests: SeedTests, at: int) -> dict[str, object]:
    names = {"mean": "difference", "t": "seeds_t", "p": "seeds_p"}
    found = {names.get(field.name, field.name): getattr(tests, field.name)[at] for field in fields(SeedTests)}
    return {name: plain(value) for name, value in found.items()}


def _users_part(tests: UserTests, at: int | None) -> dict[str, object]:
    names = {"n_users": "n_users", "low": "users_ci_low", "high": "users_ci_high"}
    return {
        names.get(field.name, f"users_{field.name}"): None if at is None else plain(getattr(tests, field.name)[at])
        for field in fields(UserTests)
    }


def _crossed_part(crossed: Mapping[str, np.ndarray], at: int | None) -> dict[str, object]:
    return {name: None if at is None else plain(values[at]) for name, values in crossed.items()}


def _correct(family: Sequence[dict]) -> None:
    """Add Holm's correction over the competitors of one metric; controls and the oracle are no part of the question."""
    competing = [row for row in family if row["kind"] in ("system", "baseline")]
    for name in TESTED:
        for row in family:
            row[f"{name}_holm"] = None
        p = np.array([math.nan if row[name] is None else row[name] for row in competing])
        for row, value in zip(competing, holm(p), strict=True):
            row[f"{name}_holm"] = plain(value)


def _note(row: Mapping, is_no_draw: bool) -> str:
    notes = []
    if row["kind"] not in ("system", "baseline"):
        notes.append("does not compete, so it is no part of Holm's correction")
    if row["difference"] is None:
        notes.append("undefined in a seed")
    elif row["n_seeds"] == 1:
        notes.append("one seed: no test over seeds")
    elif row["deterministic"]:
        notes.append("deterministic: the same difference in every seed, so no test over seeds")
    elif is_no_draw:
        notes.append("seeds are no random draws of items: no corrected test")
    if row["metric"] == POOLED:
        notes.append("a figure of all users together: neither interval nor test over users")
    elif row["n_users"] < 2:
        notes.append("fewer than two users: no test over users")
    elif row["users_t"] is None:
        notes.append("the same difference for every user, so no t over users")
    return "; ".join(notes)
