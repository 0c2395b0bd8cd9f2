"""The section that says which differences are more than chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from frostline.bootstrap import resampled
from frostline.definitions import measure
from frostline.marks import CHOICE, legend, marks
from frostline.numbers import percent

Row = Mapping[str, Any]

CHOSEN = "what each seed chose"


def section(compared: Sequence[Row], variance: Sequence[Row], params: Row) -> dict[str, Any]:
    """What the section shows of the primary metric: a line a system, with its two comparisons, and the shares of variance.

    `compared` and `variance` are rows of `tables/significance` and `tables/variance`.
    """
    metric = params["primary"]
    rows = [row for row in compared if row["metric"] == metric]
    to_baseline = {row["system"]: row for row in rows if row["comparison"] == "baseline"}
    to_choice = {row["reference"]: row for row in rows if row["comparison"] == "choice"}
    mark = marks(rows)
    means = {system: row["difference"] or 0.0 for system, row in to_baseline.items()}
    systems = sorted(params["systems"], key=lambda system: (-means.get(system, 0.0), system))
    return {
        "metric": measure(metric),
        "lines": [
            {
                "system": system,
                "kind": params["systems"][system],
                "mark": mark.get((system, metric), ""),
                "baseline": to_baseline.get(system),
                "choice": to_choice.get(system),
            }
            for system in systems
        ],
        "pairs": [
            (system, CHOSEN if row["comparison"] == "choice" else None, row)
            for row in sorted(rows, key=lambda row: (row["comparison"], -(row["difference"] or 0.0)))
            for system in [row["reference"] if row["comparison"] == "choice" else row["system"]]
        ],
        "legend": legend(params["baseline"], bool(to_choice), params["replicates"]),
        "shares": _shares(variance, params["baseline"]),
        "has_choice": bool(to_choice),
        "resampled": resampled(params["replicates"]),
    }


def _shares(variance: Sequence[Row], baseline: str) -> str:
    """How much of the uncertainty of the verdict's difference is due to what, in one sentence."""
    rows = [
        row for row in variance if (row["system"], row["reference"]) == (CHOICE, baseline) and row["share"] is not None
    ]
    if not rows:
        return ""
    *first, last = (
        f"{percent(row['share'])} to the {row['factor']}" for row in sorted(rows, key=lambda row: -row["share"])
    )
    parts = f"{', '.join(first)} and {last}"
    return f"Of the variance of the difference between {CHOSEN} and {baseline}, {parts} are due."
