"""The verdict: each seed's choice against the baseline, on test."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping

import numpy as np

from frostline.bootstrap import SeedResult, draw_means, factors_drawn, interval
from frostline.results import Results, rounded


def give_verdict(results: Results, choices: Mapping[int, Mapping], params: Mapping) -> dict:
    """Compare each seed's choice with the baseline on test.

    `choices` is what the stage `select` wrote for each seed; empty where nothing is chosen: then the system that the config
    names is compared. The system that most seeds chose is named, of several the one
    with the highest mean on val.

    The difference is the mean over seeds of each seed's own choice minus the baseline, its interval the crossed
    bootstrap over seeds, users and items. Transfer is worth it if the interval is above zero.
    """
    metric, baseline = params["primary"], params["baseline"]
    chosen = {seed: choices[seed]["system"] if choices else params["comparison"] for seed in results.seeds}
    pairs: list[SeedResult] = []
    for seed, whole in zip(results.seeds, results.by_seed([metric]), strict=True):
        pairs.append(whole.take([results.systems.index(chosen[seed]), results.systems.index(baseline)]))
    draws = np.clip(draw_means(pairs, min(params["seeds"]), factors=factors_drawn(params["replicates"])), 0, 1)
    low, high = (rounded(float(bound)) for bound in interval(draws[:, 0] - draws[:, 1]))
    mean = {
        system: statistics.fmean(results.pooled[seed, system]["mean"][metric] for seed in results.seeds)
        for system in results.systems
        if params["systems"][system] in ("system", "baseline")
    }
    of_choice = statistics.fmean(results.pooled[seed, chosen[seed]]["mean"][metric] for seed in results.seeds)
    hindsight = min(mean, key=lambda name: (-mean[name], name))
    votes = Counter(chosen.values())
    majority = None
    if choices:
        on_val = {name: statistics.fmean(choice["val"][name] for choice in choices.values()) for name in votes}
        majority = min(votes, key=lambda name: (-votes[name], -on_val[name], name))
    return {
        "chosen": majority,
        **({} if choices else {"primary": params["comparison"]}),
        "chosen_by_seed": {str(seed): system for seed, system in chosen.items()} if choices else {},
        "baseline": baseline,
        "metric": metric,
        "chosen_mean": rounded(of_choice),
        "baseline_mean": rounded(mean[baseline]),
        "difference": rounded(of_choice - mean[baseline]),
        "ci_low": low,
        "ci_high": high,
        "decision": params["words"]["decision"] if low > 0 else "baseline",
        "hindsight": {
            "system": hindsight,
            "mean": rounded(mean[hindsight]),
            "gap": rounded(mean[hindsight] - of_choice),
        },
    }
