"""What is the order of tied candidates worth? A rank that depends on it is an accident of the ids."""

from __future__ import annotations

import statistics
from itertools import combinations

from frostline.audit.checks import WARNING, check
from frostline.results import Results, rounded

NAME = "no figure depends on the ids of tied candidates"


def tie_checks(results: Results, metric: str, ties: str) -> tuple[list[dict], list[dict]]:
    """The check of one fold, and its evidence.

    Parameters
    ----------
    results : Results
    metric : str
        The primary metric.
    ties : {'expected', 'item_id'}

    Returns
    -------
    checks : list of {name, result, detail}
    systems : list of dict
        Best first: `system`; `mean`, `any_order` (the expectation over all orders of tied candidates), `worst` and `best`
        (order against and for the relevant ones), all means over seeds; `tied_at_cut`, the share of queries in which a tie
        decides whether a relevant candidate is among the first k (None without a k); `rank`, and `could_change_with`: the
        systems below whose figure some order of ties would put above.
    """
    cut = metric.partition("@")[2]
    systems = []
    for system in results.systems:
        pooled = [results.pooled[seed, system] for seed in results.seeds]
        row: dict = {"system": system}
        for name in ("mean", "any_order", "worst", "best"):
            row[name] = rounded(statistics.fmean(part[name][metric] for part in pooled))
        row["tied_at_cut"] = rounded(statistics.fmean(part["tied_at"][cut] for part in pooled)) if cut else None
        systems.append(row)
    systems.sort(key=lambda row: (-row["mean"], row["system"]))
    for rank, row in enumerate(systems, 1):
        row |= {"rank": rank, "could_change_with": []}
    for above, below in combinations(systems, 2):
        if above["worst"] < below["best"] and not (above["worst"] == above["best"] and below["worst"] == below["best"]):
            above["could_change_with"].append(below["system"])

    most = max(systems, key=lambda row: row["tied_at_cut"] or row["best"] - row["worst"])
    if cut:
        share = f"a tie is at the cut in at most {100 * most['tied_at_cut']:.1f} % of the queries ({most['system']})"
    else:
        share = f"ties move {metric} by at most {most['best'] - most['worst']:.4f} ({most['system']})"
    pairs = [(row["system"], other) for row in systems for other in row["could_change_with"]]
    named = ", ".join(f"{one} and {other}" for one, other in pairs[:3])
    could = (
        f"; by some other rule {named}{' and others' if len(pairs) > 3 else ''} could change places" if pairs else ""
    )
    moved = [row for row in systems if row["mean"] != row["any_order"]] if ties != "expected" else []
    fair = sorted(moved, key=lambda row: -abs(row["mean"] - row["any_order"]))
    problems = [
        f"{row['system']} gets {metric} {row['mean']:.4f}, and {row['any_order']:.4f} over all orders" for row in fair
    ]
    if problems:
        by_any = sorted(systems, key=lambda row: (-row["any_order"], row["system"]))
        changed = [row["system"] for row, other in zip(systems, by_any, strict=True) if row is not other]
        ranks = f"the ranks of {', '.join(changed)} are owed to it" if changed else "no rank is owed to it"
        problems = [f"ties were put in order of the ids (ties: item_id), {share}, {ranks}", *problems]
    return [check(NAME, problems, f"each is the mean over all orders; {share}{could}", WARNING)], systems
