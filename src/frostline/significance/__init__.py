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
from frostline.bootstrap import ALPHA, FACTORS, SeedResult, draw_means, factors_drawn, interval
from frostline.folds import TEST, WARM
from frostline.marks import CHOICE
from frostline.ranking import metrics_at
from frostline.results import Results, read_results, rounded
from frostline.significance.holm import holm
from frostline.significance.over_seeds import SeedTests, seed_tests
from frostline.significance.over_users import POWER, UserTests, means_of_users, user_tests
from frostline.significance.variance import COLUMNS as VARIANCE_COLUMNS
from frostline.significance.variance import components
from frostline.tables import write_rows

BASELINE_PAIRS, CHOICE_PAIRS = "baseline", "choice"

POOLED = "auc_pooled"
"""A figure of all users together: it has no per-user differences, only seeds."""

COLUMNS = [
    *("metric", "comparison", "system", "reference", "kind", "n_seeds", "difference", "sd", "deterministic"),
    *("ci_low", "ci_high", "p", "p_holm", "detectable"),
    *("seeds_t", "seeds_p", "seeds_p_holm", "corrected_t", "corrected_p", "corrected_p_holm"),
    *("n_users", "users_mean", "users_ci_low", "users_ci_high", "users_t", "users_p", "users_p_holm"),
    *("users_randomisation_p", "users_randomisation_p_holm", "users_effect_size"),
    *("users_wins", "users_ties", "users_losses", "users_detectable", "note"),
]
TESTED = ("p", "seeds_p", "corrected_p", "users_p", "users_randomisation_p")

Pair = tuple[str, int, int]
"""Kind of comparison, and the places of system and reference among the systems and, after them, the choice."""


def run(job: Job) -> None:
    """Read `per_query`, `per_item` and `pooled` of test, `chosen` and `summary`; write `significance` and `variance`."""
    params = job.params
    chosen = {int(seed): job.read_json(name)["system"] for (seed,), name in job.family("chosen").items()}
    test_to_train = None
    if params["replicates"] == "draws":
        found = [job.read_json(name)["folds"] for name in job.family("summary").values()]
        test_to_train = statistics.fmean(folds[TEST]["items"] / folds[WARM]["items"] for folds in found)
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
    pairs = _pairs(results.systems, chosen, params["baseline"])
    whole = with_choice(results, metrics, chosen)
    crossed = _crossed(
        draw_means(whole, min(params["seeds"]), factors=factors_drawn(params["replicates"])).clip(0, 1),
        pairs,
        len(metrics),
    )
    over_users = user_tests(_differences(means_of_users(whole), pairs, len(metrics)), min(params["seeds"]))
    of_seeds = np.array([_seed_means(results, seed, chosen.get(seed), [*metrics, POOLED]) for seed in results.seeds])
    over_seeds = seed_tests(_differences(of_seeds, pairs, len(metrics) + 1), test_to_train)
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


def decompose(results: Results, chosen: Mapping[int, str], params: Mapping) -> list[dict[str, object]]:
    """Rows of the table of variance: of the primary metric of every system and of every difference, by factor."""
    metric, names = params["primary"], [*results.systems, *([CHOICE] if chosen else [])]
    pairs = [(first, second) for _, first, second in _pairs(results.systems, chosen, params["baseline"])]
    pairs = [(number, None) for number in range(len(names))] + pairs
    contrasts = np.zeros((len(names), len(pairs)))
    for column, (first, second) in enumerate(pairs):
        contrasts[first, column] = 1
        if second is not None:
            contrasts[second, column] = -1
    of_seeds = np.array([_seed_means(results, seed, chosen.get(seed), [metric]) for seed in results.seeds])
    found = components(with_choice(results, [metric], chosen), of_seeds, contrasts, min(params["seeds"]))
    seeds_vary = {"draws": "draw of items, models", "folds": "fold of items, models"}.get(
        params["replicates"], "models"
    )
    varies = {"seeds": seeds_vary, "users": "users", "items": "items"}
    rows = []
    for (first, second), variances in zip(pairs, found.T, strict=True):
        total = np.nansum(variances)
        for factor, variance in zip(FACTORS, variances, strict=True):
            row = {
                "metric": metric,
                "system": names[first],
                "reference": "" if second is None else names[second],
                "factor": factor,
                "varies": varies[factor],
                "variance": _plain(variance),
                "sd": _plain(np.sqrt(variance)),
                "share": _plain(variance / total) if total > 0 else None,
            }
            rows.append({name: rounded(value) for name, value in row.items()})
    return rows


def with_choice(results: Results, metrics: Sequence[str], chosen: Mapping[int, str]) -> list[SeedResult]:
    """What the bootstrap resamples, columns systems × metrics, and after them those of what each seed chose."""
    n_systems, n_metrics = len(results.systems), len(metrics)
    whole = []
    for seed, result in zip(results.seeds, results.by_seed(metrics), strict=True):
        systems = [*range(n_systems), *([results.systems.index(chosen[seed])] if chosen else [])]
        whole.append(result.take([system * n_metrics + metric for system in systems for metric in range(n_metrics)]))
    return whole


def _pairs(systems: Sequence[str], chosen: Mapping[int, str], baseline: str) -> list[Pair]:
    base = systems.index(baseline)
    pairs = [(BASELINE_PAIRS, number, base) for number in range(len(systems)) if number != base]
    if chosen:
        always = set(chosen.values())
        pairs += [(CHOICE_PAIRS, len(systems), n) for n, system in enumerate(systems) if always != {system}]
    return pairs


def _differences(values: np.ndarray, pairs: Sequence[Pair], n_metrics: int) -> np.ndarray:
    """Columns systems × metrics to columns pairs × metrics."""
    first, second = (
        np.array([pair[side] * n_metrics + metric for pair in pairs for metric in range(n_metrics)]) for side in (1, 2)
    )
    return values[:, first] - values[:, second]


def _crossed(draws: np.ndarray, pairs: Sequence[Pair], n_metrics: int) -> dict[str, np.ndarray]:
    moved = _differences(draws, pairs, n_metrics)
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


def _seed_means(results: Results, seed: int, chosen: str | None, metrics: Sequence[str]) -> list[float]:
    systems = [*results.systems, *([chosen] if chosen else [])]
    figures = [results.pooled[seed, system] for system in systems]
    found = [(figure["mean"] | {POOLED: figure[POOLED]})[metric] for figure in figures for metric in metrics]
    return [math.nan if value is None else value for value in found]


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
    return {name: _plain(value) for name, value in found.items()}


def _users_part(tests: UserTests, at: int | None) -> dict[str, object]:
    names = {"n_users": "n_users", "low": "users_ci_low", "high": "users_ci_high"}
    return {
        names.get(field.name, f"users_{field.name}"): None if at is None else _plain(getattr(tests, field.name)[at])
        for field in fields(UserTests)
    }


def _crossed_part(crossed: Mapping[str, np.ndarray], at: int | None) -> dict[str, object]:
    return {name: None if at is None else _plain(values[at]) for name, values in crossed.items()}


def _plain(value: np.generic) -> float | int | bool | None:
    found = value.item()
    return None if isinstance(found, float) and math.isnan(found) else found


def _correct(family: Sequence[dict]) -> None:
    """Add Holm's correction over the competitors of one metric; controls and the oracle are no part of the question."""
    competing = [row for row in family if row["kind"] in ("system", "baseline")]
    for name in TESTED:
        for row in family:
            row[f"{name}_holm"] = None
        p = np.array([math.nan if row[name] is None else row[name] for row in competing])
        for row, value in zip(competing, holm(p), strict=True):
            row[f"{name}_holm"] = _plain(value)


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
