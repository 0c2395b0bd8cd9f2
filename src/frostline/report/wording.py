"""The sentences of the page: what the verdict says, and what each measure means."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from frostline.bootstrap import DRAWS, LEVEL
from frostline.report.numbers import NARROW_SPACE, PROSE, count, decimal

MEASURES = {"recall": "Recall", "precision": "Precision", "map": "MAP", "ndcg": "NDCG", "mrr": "MRR"}
"""The measures with a cut-off that lead the table, as they are written."""

WHOLE_LIST = {"auc": "AUC per query", "auc_pooled": "AUC pooled", "relaimpr": "RelaImpr"}
"""The measures of the whole ranking, beside them."""

CONFIDENCE = f"{LEVEL * 100:.0f}{NARROW_SPACE}%"

WIDE_TIES = 0.001
"""Worst and best case are shown where they are further apart than this."""

REASONS = {
    "no_content": "the item has no content",
    "weight_not_positive": "the weight is zero or negative",
    "weight_below_minimum": "the weight is below the minimum that makes an interaction",
    "repeated_header": "the header once more",
    "repeated_pair": "the same user and item again, joined into one interaction",
    "repeated_item": "the same item again, with the same content",
    "repeated_key": "the same item again; the longest text stayed",
    "repeated_link": "the same link again",
    "self_reference": "the item refers to itself",
    "outside_reference": "the reference leads outside of the catalogue",
    "ambiguous_reference": "two items are spelt as the reference is",
    "title_fragment": "no reference, but the rest of a title with a comma in it",
    "judged_not_relevant": "judged, and not relevant",
    "repeated_judgement": "the same judgement again",
}


def measure(metric: str) -> str:
    """A metric's name as people write it.

    >>> measure("ndcg@10"), measure("hit_rate@5"), measure("auc")
    ('NDCG@10', 'Hit rate@5', 'AUC per query')
    """
    name, at, k = metric.partition("@")
    return MEASURES.get(name, WHOLE_LIST.get(name, name.replace("_", " ").capitalize())) + at + k


def reason(code: str) -> str:
    """Why rows were dropped, in words."""
    return REASONS.get(code, code.replace("_", " "))


def verdict_sentence(verdict: Mapping[str, Any]) -> Markup:
    """The verdict in one sentence; names from the data are escaped."""
    baseline, chosen = _name(verdict["baseline"], "baseline"), _name(verdict["chosen"])
    gives = Markup("gives {} <b class=figure>{}</b>")
    gives = gives.format(measure(verdict["metric"]), decimal(verdict["chosen_mean"], PROSE))
    interval = f"{decimal(verdict['ci_low'], PROSE)} to {decimal(verdict['ci_high'], PROSE)}"
    distance = Markup("{} {} {}").format(*_distance(verdict["difference"]), baseline)
    who = chosen if _is_unanimous(verdict) else Markup("what each seed chose")
    if verdict["decision"] == "transfer":
        lead = (
            Markup("Use {}").format(chosen) if verdict["chosen"] != verdict["baseline"] else "Choose on val-cold items"
        )
        subject = "it" if _is_unanimous(verdict) else who
        sentence = Markup("{}: on items nobody has touched {} {}, {} ({} interval {}).")
        return sentence.format(lead, subject, gives, distance, CONFIDENCE, interval)
    if set(verdict["chosen_by_seed"].values()) == {verdict["baseline"]}:
        sentence = Markup("Keep {}: nothing did better on val-cold items. On items nobody has touched it {}.")
        return sentence.format(baseline, gives)
    doubt = "" if verdict["ci_high"] < 0 else ", which does not exclude zero"
    sentence = Markup("Keep {}: on items nobody has touched {} {}, {} ({} interval {}{}).")
    return sentence.format(baseline, who, gives, distance, CONFIDENCE, interval, doubt)


def choice_sentence(verdict: Mapping[str, Any]) -> Markup:
    """How the winner was chosen: by which figures, and in which seeds."""
    by_system: dict[str, list[str]] = {}
    for seed, system in verdict["chosen_by_seed"].items():
        by_system.setdefault(system, []).append(seed)
    votes = sorted(by_system.items(), key=lambda item: (-len(item[1]), item[0]))
    if len(votes) == 1:
        told = Markup("{} {}").format(_name(votes[0][0]), _all_seeds(len(votes[0][1])))
    else:
        told = Markup("; ").join(
            Markup("{} in {} {}").format(_name(system), "seed" if len(seeds) == 1 else "seeds", ", ".join(seeds))
            for system, seeds in votes
        )
    sentence = Markup("Each seed chose its winner by {} on its own val-cold items, without a look at test: {}.")
    return sentence.format(measure(verdict["metric"]), told)


def hindsight_sentence(verdict: Mapping[str, Any]) -> Markup:
    """What choosing without looking at test has cost."""
    best, mean, gap = (verdict["hindsight"][key] for key in ("system", "mean", "gap"))
    if set(verdict["chosen_by_seed"].values()) == {best}:
        return Markup("In hindsight, {} is also the best on test, so choosing blindly cost nothing.").format(
            _name(best)
        )
    value = decimal(mean, PROSE)
    if gap <= 0:
        sentence = Markup("In hindsight no single system does better on test: the best of them, {}, gives {}.")
        return sentence.format(_name(best), value)
    more = decimal(gap, PROSE) if round(gap, PROSE) else f"less than {decimal(10.0**-PROSE, PROSE)}"
    sentence = Markup("In hindsight {} would have given {} on test, {} more: the price of choosing blindly.")
    return sentence.format(_name(best), value, more)


def breakable(name: str) -> Markup:
    """A long name, escaped, with places where a line may break."""
    return Markup("").join(
        Markup("{}<wbr>").format(part) if part in ("_", "+", "-", ".") else escape(part)
        for part in re.split("([-_+.])", name)
    )


def _name(system: str, kind: str = "system") -> Markup:
    return Markup("<b class={}>{}</b>").format(kind, breakable(system))


def _distance(difference: float) -> tuple[str, str]:
    if not round(difference, PROSE):
        return "level", "with"
    return decimal(abs(difference), PROSE), "above" if difference > 0 else "below"


def _is_unanimous(verdict: Mapping[str, Any]) -> bool:
    return set(verdict["chosen_by_seed"].values()) == {verdict["chosen"]}


def _all_seeds(n_seeds: int) -> str:
    return {1: "in the only seed", 2: "in both seeds"}.get(n_seeds, f"in all {n_seeds} seeds")


_FIXED = (
    (
        "Question",
        "Each user with at least one training interaction is a query. Candidates are all cold items of the fold, never a "
        "sample. Relevant are the user’s held-out interactions with them, R. Queries without a relevant candidate are "
        "left out of the averages and counted.",
    ),
    ("Recall@k", "relevant candidates among the first k, divided by |R|."),
    ("Precision@k", "relevant candidates among the first k, divided by k."),
    (
        "MAP@k",
        "mean over queries of AP@k: the precision at the place of each relevant candidate among the first k, summed and "
        "divided by min(|R|, k).",
    ),
    (
        "NDCG@k",
        "discounted gain 1 / log₂(place + 1) of the relevant candidates among the first k, divided by that of an ideal "
        "list, which has min(|R|, k) relevant candidates in front.",
    ),
    ("MRR@k", "1 / place of the first relevant candidate, zero if it is not among the first k."),
    (
        "AUC per query",
        "Mann–Whitney: the share of pairs of a relevant and another candidate that are in the right order, a tie counting "
        "half; the mean over queries.",
    ),
    ("AUC pooled", "the same over the pairs of all queries together. It also rewards telling active users apart."),
    (
        "On scrambled labels",
        "the same measure after the user–item pairs of the fold were rewired at random, every user keeping the number of "
        "relevant items and every item that of users (curveball; Strona et al., 2014). It is what knowing the popular items "
        "and the active users is worth; what a system has above it is taste.",
    ),
    (
        "Of the possible",
        "(system − chance) / (oracle − chance). Chance is the control constant, which ties all candidates; the oracle ranks "
        "by the probabilities that generated the data. It exists only where these are known.",
    ),
)


def definitions(params: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Every measure and statistic on the page, defined as it was computed."""
    relaimpr = (
        f"(AUC − ½) / (AUC of {params['baseline']} − ½) − 1, of the AUC per query, in each seed. Undefined where the "
        "baseline is not above chance."
    )
    interval = (
        f"{CONFIDENCE} percentile interval of a crossed bootstrap over seeds, users and items, {count(DRAWS)} draws "
        "(after Owen, 2007): seeds are drawn with replacement, users and items get Poisson weights that are the same in "
        "every seed and for every system. It is conservative."
    )
    n_seeds = len(params["seeds"])
    spread = (
        f"standard deviation over {n_seeds} seeds of each seed’s mean (ddof 1)." if n_seeds > 1 else "needs two seeds."
    )
    return [
        *_FIXED,
        ("RelaImpr", relaimpr),
        ("Ties", _ties(params["ties"])),
        ("Interval", interval),
        ("± sd", spread),
        ("Val figures", _val(params["split"])),
        *([("Meta-methods", _META_USERS[params["split"]["meta_users"]])] if params.get("learns") else []),
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


def _val(split: Mapping[str, Any]) -> str:
    place = "on the val-cold items"
    if split.get("val_folds"):
        place = (
            f"within {split['val_folds']} folds of the val-cold items, with a fold’s items as candidates, and averaged"
        )
    return f"computed {place}. They choose; they are not comparable with test figures."


def listed(options: Mapping[str, Any]) -> Sequence[str]:
    """Parameters as `name = value`."""
    return [f"{name} = {_plain(value)}" for name, value in options.items()]


def _plain(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_plain, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
