"""Which systems are compared, and their figures side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from frostline.bootstrap import SeedResult
from frostline.results import Results

BASELINE_PAIRS, CHOICE_PAIRS = "baseline", "choice"

POOLED = "auc_pooled"
"""A figure of all users together: it has no per-user differences, only seeds."""

Pair = tuple[str, int, int]
"""Kind of comparison, and the places of system and reference among the systems and, after them, the choice."""


def pairs_of(systems: Sequence[str], chosen: Mapping[int, str], baseline: str) -> list[Pair]:
    base = systems.index(baseline)
    pairs = [(BASELINE_PAIRS, number, base) for number in range(len(systems)) if number != base]
    if chosen:
        always = set(chosen.values())
        pairs += [(CHOICE_PAIRS, len(systems), n) for n, system in enumerate(systems) if always != {system}]
    return pairs


def with_choice(results: Results, metrics: Sequence[str], chosen: Mapping[int, str]) -> list[SeedResult]:
    """What the bootstrap resamples, columns systems × metrics, and after them those of what each seed chose."""
    n_systems, n_metrics = len(results.systems), len(metrics)
    whole = []
    for seed, result in zip(results.seeds, results.by_seed(metrics), strict=True):
        systems = [*range(n_systems), *([results.systems.index(chosen[seed])] if chosen else [])]
        whole.append(result.take([system * n_metrics + metric for system in systems for metric in range(n_metrics)]))
    return whole


def differences(values: np.ndarray, pairs: Sequence[Pair], n_metrics: int) -> np.ndarray:
    """Columns systems × metrics to columns pairs × metrics."""
    first, second = (
        np.array([pair[side] * n_metrics + metric for pair in pairs for metric in range(n_metrics)]) for side in (1, 2)
    )
    return values[:, first] - values[:, second]


def seed_means(results: Results, seed: int, chosen: str | None, metrics: Sequence[str]) -> list[float]:
    systems = [*results.systems, *([chosen] if chosen else [])]
    figures = [results.pooled[seed, system] for system in systems]
    found = [(figure["mean"] | {POOLED: figure[POOLED]})[metric] for figure in figures for metric in metrics]
    return [math.nan if value is None else value for value in found]


def plain(value: np.generic) -> float | int | bool | None:
    found = value.item()
    return None if isinstance(found, float) and math.isnan(found) else found
