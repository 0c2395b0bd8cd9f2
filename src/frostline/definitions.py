"""Every measure and statistic of the tables and the report, defined as it was computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from frostline.bootstrap import DRAWS, LEVEL, resampled
from frostline.numbers import NARROW_SPACE, PROSE, count, decimal

MEASURES = {"recall": "Recall", "precision": "Precision", "map": "MAP", "ndcg": "NDCG", "mrr": "MRR"}
"""The measures with a cut-off that lead the table, as they are written."""

WHOLE_LIST = {"auc": "AUC per query", "auc_pooled": "AUC pooled", "relaimpr": "RelaImpr"}
"""The measures of the whole ranking, beside them."""

CONFIDENCE = f"{LEVEL * 100:.0f}{NARROW_SPACE}%"

WIDE_TIES = 0.001
"""Worst and best case are shown where they are further apart than this."""


def measure(metric: str) -> str:
    """A metric's name as people write it.

    >>> measure("ndcg@10"), measure("hit_rate@5"), measure("auc")
    ('NDCG@10', 'Hit rate@5', 'AUC per query')
    """
    name, at, k = metric.partition("@")
    return MEASURES.get(name, WHOLE_LIST.get(name, name.replace("_", " ").capitalize())) + at + k


_MEASURED = {
    "recall": ("Recall@k", "relevant candidates among the first k, divided by |R|."),
    "precision": ("Precision@k", "relevant candidates among the first k, divided by k."),
    "map": (
        "MAP@k",
        "mean over queries of AP@k: the precision at the place of each relevant candidate among the first k, summed and "
        "divided by min(|R|, k).",
    ),
    "ndcg": (
        "NDCG@k",
        "discounted gain 1 / log₂(place + 1) of the relevant candidates among the first k, divided by that of an ideal "
        "list, which has min(|R|, k) relevant candidates in front.",
    ),
    "mrr": ("MRR@k", "1 / place of the first relevant candidate, zero if it is not among the first k."),
    "hit_rate": ("Hit rate@k", "share of the queries with a relevant candidate among the first k."),
    "auc": (
        "AUC per query",
        "Mann–Whitney: the share of pairs of a relevant and another candidate that are in the right order, a tie counting "
        "half; the mean over queries.",
    ),
    "auc_pooled": (
        "AUC pooled",
        "the share of pairs in the right order, over the pairs of all queries together. It also rewards telling active "
        "users apart.",
    ),
}

_SCRAMBLED = (
    "On scrambled labels",
    "the same measure after the user–item pairs of the fold were rewired at random, every user keeping the number of "
    "relevant items and every item that of users (curveball; Strona et al., 2014). It is what knowing the popular items "
    "and the active users is worth; what a system has above it is taste.",
)

_POSSIBLE = (
    "Of the possible",
    "(system − chance) / (oracle − chance). Chance is the control constant, which ties all candidates; the oracle ranks "
    "by the probabilities that generated the data. It exists only where these are known.",
)


def of_metrics(metrics: Sequence[str], baseline: str) -> list[tuple[str, str]]:
    """Name and definition of the measures behind metrics such as `ndcg@10`, each measure once."""
    names = dict.fromkeys(metric.partition("@")[0] for metric in metrics)
    return [_relaimpr(baseline) if name == "relaimpr" else _MEASURED[name] for name in names]


def _relaimpr(baseline: str) -> tuple[str, str]:
    return (
        "RelaImpr",
        f"(AUC − ½) / (AUC of {baseline} − ½) − 1, of the AUC per query, in each seed. Undefined where the baseline is not "
        "above chance.",
    )


def interval(replicates: str) -> str:
    """How the intervals were made, by what the seeds are, see `frostline.split_options`."""
    seeds = "each seed counts once" if replicates == "models" else "seeds are drawn with replacement"
    return (
        f"{CONFIDENCE} percentile interval of a crossed bootstrap over {resampled(replicates)}, {count(DRAWS)} draws (after "
        "Owen, 2007): "
        f"{seeds}, users and items get Poisson weights that are the same in every seed and for every system. It is "
        "conservative."
    )


def definitions(params: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Every measure and statistic on the page, defined as it was computed."""
    n_seeds = len(params["seeds"])
    spread = (
        f"standard deviation over {n_seeds} seeds of each seed’s mean (ddof 1)." if n_seeds > 1 else "needs two seeds."
    )
    if params["replicates"] == "models":
        fixed = params["words"]["fixed"]
        spread += (
            f" {fixed[0].upper()}{fixed[1:]}, so seeds vary the model only (and the halves and folds that are drawn "
            "within val): the spread says nothing of what other items would give."
        )
    return [
        ("Question", params["words"]["question"]),
        *_MEASURED.values(),
        _relaimpr(params["baseline"]),
        _SCRAMBLED,
        _POSSIBLE,
        ("Ties", _ties(params["ties"])),
        ("Interval", interval(params["replicates"])),
        ("± sd", spread),
        *([("Val figures", _val(params))] if "val" in params["folds"] else []),
        *(
            [("Meta-methods", params["words"]["learned"] or _META_USERS[params["split"]["meta_users"]])]
            if params.get("learns")
            else []
        ),
    ]


_OUT_OF_FOLD = (
    "They learn from val-cold labels how to combine the scores of other systems. On val, an item’s score comes from a model "
    "that saw no label of its item fold."
)
_META_USERS = {
    "crossfit": f"{_OUT_OF_FOLD} Users are halved, and each half is scored by the model trained on the other’s labels: no "
    "user’s own taste in val items reaches the scores of his test items (meta_users: crossfit).",
    "disjoint": f"{_OUT_OF_FOLD} Half of the users train the models and are left out of the figures of every system, which "
    "halves the queries (meta_users: disjoint).",
    "shared": f"{_OUT_OF_FOLD} All users train one model, so a user’s own taste in val items has a part in the scores of "
    "his test items, as it may where the users of tomorrow are those of today (meta_users: shared).",
}


def _ties(rule: str) -> str:
    both = (
        "Beside a figure stand its worst and best case over all orders of tied candidates, where they are more than "
        f"{decimal(WIDE_TIES, PROSE)} apart."
    )
    if rule == "item_id":
        return f"Tied candidates were ordered by ascending item id, for comparison with others; AUC counts half. {both}"
    return (
        "Every figure is the exact expectation over a random order of tied candidates (McSherry & Najork, ECIR 2008), "
        f"so it depends neither on ids nor on the order of rows. {both}"
    )


def _val(params: Mapping[str, Any]) -> str:
    place, split = params["words"]["val_figures"] or f"on the {params['words']['val']}", params["split"]
    if split.get("val_folds"):
        place = (
            f"within {split['val_folds']} folds of the val-cold items, with a fold’s items as candidates, and averaged"
        )
    return f"computed {place}. They choose; they are not comparable with test figures."
