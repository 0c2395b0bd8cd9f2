"""Marks of significance, as they stand in every readable table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from frostline.bootstrap import ALPHA, resampled

CHOICE = "(choice)"
"""In tables, the composite of what each seed chose. No system can be called so."""

ABOVE, BELOW, LEVEL_WITH_CHOICE = "▲", "▼", "°"


def marks(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    """The mark of each system and metric that has one, by rows of `tables/significance`.

    By the crossed bootstrap after Holm's correction: `▲`, `▼` where a system is above or below the baseline, `°` where it is
    not told apart from what each seed chose.
    """
    found: dict[tuple[str, str], str] = {}
    for row in rows:
        if row["p_holm"] is None:
            continue
        is_told = row["p_holm"] < ALPHA
        if row["comparison"] == "baseline":
            system, mark = row["system"], (ABOVE if row["difference"] > 0 else BELOW) if is_told else ""
        else:
            system, mark = row["reference"], "" if is_told else LEVEL_WITH_CHOICE
        key = (system, row["metric"])
        found[key] = found.get(key, "") + mark
    return {key: mark for key, mark in found.items() if mark}


def legend(baseline: str, has_choice: bool, replicates: str) -> str:
    """What the marks mean, in one sentence."""
    choice = f" {LEVEL_WITH_CHOICE} not told apart from what each seed chose on val;" if has_choice else ""
    return (
        f"{ABOVE} {BELOW} above or below {baseline};{choice} by the crossed bootstrap over {resampled(replicates)}, "
        f"p < {ALPHA:.2f} after Holm’s correction over the competing systems of one metric."
    )
