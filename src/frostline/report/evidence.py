"""What stands behind the leaderboard: the figures by stratum, and what the lists are like apart from being right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from frostline.numbers import count, span
from frostline.report import reliability

Row = Mapping[str, Any]

TITLES = {
    "popularity": "By popularity of the {candidate}",
    "category": "By category of the {candidate}",
    "activity": "By activity of the {user}",
}
BUCKETED = {"popularity": "{relevant}", "activity": "{active}"}


def strata_tables(rows: Sequence[Row], systems: Sequence[str], words: Mapping[str, str]) -> list[dict[str, Any]]:
    """One table a stratum: a row a system, in the order given, and a column a value, of the metric that has intervals."""
    kinds = sorted({row["stratum"] for row in rows}, key=lambda kind: (kind not in TITLES, [*TITLES, kind].index(kind)))
    tables = []
    for kind in kinds:
        own = [row for row in rows if row["stratum"] == kind]
        metric = next(row["metric"] for row in own if row["ci_low"] is not None)
        cells = {(row["system"], row["value"]): row for row in own if row["metric"] == metric}
        values = list(dict.fromkeys(row["value"] for row in own))
        heads = [_head(BUCKETED.get(kind, "").format(**words), cells[systems[0], value]) for value in values]
        lines = [
            {
                "system": system,
                "kind": cells[system, values[0]]["kind"],
                "cells": [cells[system, value] for value in values],
            }
            for system in systems
        ]
        title = TITLES.get(kind, f"By {kind}").format(**words)
        tables.append({"kind": kind, "title": title, "metric": metric, "heads": heads, "rows": lines})
    return tables


def beyond_table(rows: Sequence[Row], systems: Sequence[str], k: int) -> dict[str, Any] | None:
    """What lists of length k are like: a row a system, a column a measure. None without rows."""
    cells = {(row["system"], row["metric"]): row for row in rows if row["metric"].endswith(f"@{k}")}
    if not cells:
        return None
    names = list(dict.fromkeys(metric.partition("@")[0] for _, metric in cells))
    first = cells[systems[0], f"{names[0]}@{k}"]
    note = next((row["note"] for row in rows if row["note"]), "")
    return {
        "k": k,
        "names": names,
        "n_queries": first["n_queries"],
        "digests": first["reference"],
        "note": note,
        "rows": [
            {
                "system": system,
                "kind": cells[system, f"{names[0]}@{k}"]["kind"],
                "cells": [cells[system, f"{name}@{k}"] for name in names],
            }
            for system in systems
        ],
    }


def calibration(
    rows: Sequence[Row], bins: Sequence[Row], systems: Sequence[str], shown: Sequence[str]
) -> dict[str, Any] | None:
    """Logloss, Brier and ECE of every system and method, and the reliability plots of the systems `shown`."""
    if not rows:
        return None
    cells = {(row["system"], row["method"], row["metric"]): row for row in rows}
    methods, metrics = (list(dict.fromkeys(row[key] for row in rows)) for key in ("method", "metric"))
    plots = []
    for system in dict.fromkeys(shown):
        curves = {m: [b for b in bins if (b["system"], b["method"]) == (system, m)] for m in methods}
        plots.append((system, reliability.draw(curves, f"Reliability of {system}: observed against predicted")))
    return {
        "methods": methods,
        "metrics": metrics,
        "plots": plots,
        "rows": [
            {
                "system": system,
                "kind": cells[system, methods[0], metrics[0]]["kind"],
                "cells": [cells[system, method, metric] for method in methods for metric in metrics],
            }
            for system in systems
        ],
    }


def _head(unit: str, row: Row) -> dict[str, str]:
    """What a column is about: its value, what a bucket spans, and how much is in it over all seeds."""
    spanned = f"{span([row['low'], row['high']])} {unit}".strip() if row["low"] is not None else ""
    about = [] if row["n_items"] is None else [f"{count(row['n_items'])} items"]
    about += [f"{count(row['n_queries'])} queries", f"{count(row['n_relevant'])} relevant"]
    return {"value": row["value"], "spanned": spanned, "about": ", ".join(about)}
