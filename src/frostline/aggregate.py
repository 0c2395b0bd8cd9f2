"""Stage `aggregate`: from per-query figures to tables over seeds."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping

import numpy as np

from frostline.artifacts import Job
from frostline.bootstrap import draw_means, factors_drawn, interval
from frostline.ranking import metrics_at, relaimpr
from frostline.results import Results, read_results, rounded
from frostline.stratified import POPULARITY
from frostline.tables import write_rows

TUNING_COLUMNS = ["seed", "system", "donor_params", "method_params", "metric", "mean", "sd", "chosen"]


def run(job: Job) -> None:
    """Read every `per_query`, `per_item`, `pooled` and `tuned`; write `leaderboard`, `tuning`, `left_out`."""
    rows: list[dict] = []
    for fold in job.params["folds"]:
        rows.extend(leaderboard(read_results(job, fold), job.params))
    write_rows(job, "", rows, list(rows[0]))
    tuned = {key: job.read_json(name) for key, name in sorted(job.family("tuned").items())}
    write_rows(job, "tuning_", tuning(tuned), TUNING_COLUMNS)
    left_out = [{"system": system, "reason": reason} for system, reason in job.params["left_out"].items()]
    write_rows(job, "left_out_", left_out, ["system", "reason"])


def tuning(tuned: Mapping[tuple[str, str], Mapping]) -> list[dict]:
    """A row a point of every grid: `tuned` maps (seed, system) to what the stage `tune` wrote.

    `mean` and `sd` are over item folds of val-cold; `chosen` marks the point that fit and test scores use.
    """
    return [
        {
            "seed": int(seed),
            "system": system,
            "donor_params": json.dumps(point["donor"]),
            "method_params": json.dumps(point["options"]),
            "metric": found["metric"],
            "mean": rounded(point["mean"]),
            "sd": rounded(statistics.stdev(point["folds"])),
            "chosen": number == found["point"],
        }
        for (seed, system), found in tuned.items()
        for number, point in enumerate(found["points"])
    ]


def leaderboard(results: Results, params: dict) -> list[dict]:
    """Rows of the tidy table of one fold, best primary metric first.

    `mean`, `best` and `worst` are means over seeds of means over queries, `sd` is over seeds (ddof 1, empty for one
    seed), `ci_low` and `ci_high` the crossed bootstrap of `frostline.bootstrap`. `n_queries` and `n_excluded` are sums
    over seeds: queries that count, and those without a relevant candidate. `scrambled` is the mean on the fold's labels
    rewired at random (see `frostline.scramble`): what activity and popularity alone are worth. `bucket_low` and
    `bucket_high` are the lowest and the highest mean among the popularity buckets of the cold items.
    """
    metrics = [str(metric) for metric in metrics_at(params["k"])]
    # Every metric lies between 0 and 1, which a sum of two resampling terms does not know.
    draws = np.clip(
        draw_means(results.by_seed(metrics), min(params["seeds"]), factors=factors_drawn(params["replicates"])), 0, 1
    )
    low, high = interval(draws)
    base_auc = {seed: results.pooled[seed, params["baseline"]]["mean"]["auc"] for seed in results.seeds}
    rows = []
    for number, system in enumerate(results.systems):
        pooled = [results.pooled[seed, system] for seed in results.seeds]
        common = {
            "n_seeds": len(pooled),
            "n_queries": sum(part["n_queries"] for part in pooled),
            "n_excluded": sum(part["n_excluded"] for part in pooled),
            "kind": params["systems"][system],
        }
        for position, metric in enumerate(metrics):
            at = number * len(metrics) + position
            rows.append(
                _row(results.fold, system, metric, [part["mean"][metric] for part in pooled], common)
                | {
                    "ci_low": float(low[at]),
                    "ci_high": float(high[at]),
                    "best": _mean([part["best"][metric] for part in pooled]),
                    "worst": _mean([part["worst"][metric] for part in pooled]),
                    "scrambled": _mean([part.get("scrambled", {}).get(metric) for part in pooled]),
                    **_bucket_range([part.get(POPULARITY, {}) for part in pooled], metric),
                }
            )
        rows.append(_row(results.fold, system, "auc_pooled", [part["auc_pooled"] for part in pooled], common))
        gains = [
            _relaimpr(part["mean"]["auc"], base_auc[seed]) for seed, part in zip(results.seeds, pooled, strict=True)
        ]
        note = (
            ""
            if None not in gains
            else f"undefined: {params['baseline']} is not above chance in every seed, or has no AUC"
        )
        rows.append(_row(results.fold, system, "relaimpr", gains, common) | {"note": note})
    place = {
        row["system"]: position
        for position, row in enumerate(
            sorted(
                (r for r in rows if r["metric"] == params["primary"]), key=lambda r: (-(r["mean"] or 0), r["system"])
            )
        )
    }
    return [
        {name: rounded(value) for name, value in row.items()} for row in sorted(rows, key=lambda r: place[r["system"]])
    ]


def _row(fold: str, system: str, metric: str, values: list[float | None], common: dict) -> dict:
    sd = statistics.stdev(values) if len(values) > 1 and None not in values else None
    return {
        "system": system,
        "fold": fold,
        "metric": metric,
        "mean": _mean(values),
        "sd": sd,
        "ci_low": None,
        "ci_high": None,
        "n_seeds": common["n_seeds"],
        "n_queries": common["n_queries"],
        "best": None,
        "worst": None,
        "scrambled": None,
        "bucket_low": None,
        "bucket_high": None,
        "n_excluded": common["n_excluded"],
        "kind": common["kind"],
        "deterministic": sd == 0,
        "note": "the generating probabilities, no competitor" if common["kind"] == "oracle" else "",
    }


def _bucket_range(by_seed: list[Mapping[str, Mapping]], metric: str) -> dict[str, float]:
    """Nothing where the metric is not measured in buckets."""
    buckets = {name for found in by_seed for name in found}
    means = [_known_mean([found[name].get(metric) for found in by_seed if name in found]) for name in sorted(buckets)]
    known = [mean for mean in means if mean is not None]
    return {"bucket_low": min(known), "bucket_high": max(known)} if known else {}


def _known_mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def _relaimpr(auc: float | None, base: float | None) -> float | None:
    gain = math.nan if auc is None or base is None else relaimpr(auc, base)
    return None if math.isnan(gain) else gain


def _mean(values: list[float | None]) -> float | None:
    return None if None in values else statistics.fmean(values)
