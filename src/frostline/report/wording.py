"""The sentences of the page: what the verdict says, and why rows were dropped."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from frostline.definitions import CONFIDENCE, measure
from frostline.numbers import PROSE, decimal

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


NO_PLACE = {
    "unknown_time": "at an unknown time: they may be of any period",
    "item_of_unknown_first_appearance": "after T1 with items touched at an unknown time too, and so perhaps not new",
    "warm_item_after_t1": "after T1 with warm items",
    "val_item_after_t2": "after T2 with val-cold items",
}


def reason(code: str) -> str:
    """Why rows were dropped, in words."""
    return REASONS.get(code, code.replace("_", " "))


def no_place(code: str) -> str:
    """Why interactions have no place in a split by time, in words."""
    return NO_PLACE[code]


def subject(verdict: Mapping[str, Any]) -> str:
    """The system that was compared with the baseline: the one that was chosen, or the one that the config names."""
    return verdict["chosen"] or verdict["primary"]


def sentences(verdict: Mapping[str, Any], words: Mapping[str, str]) -> list[Markup]:
    """How the system that the verdict is about came to be it, and what hindsight says."""
    if verdict["chosen"] is None:
        named = Markup("Nothing was chosen, as there is no val fold: {} was named in the config beforehand.")
        best, mean = verdict["hindsight"]["system"], decimal(verdict["hindsight"]["mean"], PROSE)
        return [
            named.format(_name(verdict["primary"])),
            Markup("The highest figure in the table is that of {}, {}.").format(_name(best), mean),
        ]
    return [choice_sentence(verdict, words), hindsight_sentence(verdict)]


def verdict_sentence(verdict: Mapping[str, Any], words: Mapping[str, str]) -> Markup:
    """The verdict in one sentence; names from the data are escaped."""
    baseline, chosen = _name(verdict["baseline"], "baseline"), _name(subject(verdict))
    gives = Markup("gives {} <b class=figure>{}</b>")
    gives = gives.format(measure(verdict["metric"]), decimal(verdict["chosen_mean"], PROSE))
    interval = f"{decimal(verdict['ci_low'], PROSE)} to {decimal(verdict['ci_high'], PROSE)}"
    distance = Markup("{} {} {}").format(*_distance(verdict["difference"]), baseline)
    who = chosen if _is_unanimous(verdict) else Markup("what each seed chose")
    if verdict["decision"] != "baseline":
        lead = (
            Markup("Use {}").format(chosen) if subject(verdict) != verdict["baseline"] else f"Choose on {words['val']}"
        )
        what = "it" if _is_unanimous(verdict) else who
        sentence = Markup("{}: {} {} {}, {} ({} interval {}).")
        return sentence.format(lead, words["untouched"], what, gives, distance, CONFIDENCE, interval)
    if set(verdict["chosen_by_seed"].values()) == {verdict["baseline"]}:
        sentence = Markup("Keep {}: nothing did better on {}. {} it {}.")
        place = words["untouched"]
        return sentence.format(baseline, words["val"], place[0].upper() + place[1:], gives)
    doubt = "" if verdict["ci_high"] < 0 else ", which does not exclude zero"
    sentence = Markup("Keep {}: {} {} {}, {} ({} interval {}{}).")
    return sentence.format(baseline, words["untouched"], who, gives, distance, CONFIDENCE, interval, doubt)


def choice_sentence(verdict: Mapping[str, Any], words: Mapping[str, str]) -> Markup:
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
    sentence = Markup("Each seed chose its winner by {} on its own {}, without a look at test: {}.")
    return sentence.format(measure(verdict["metric"]), words["val"], told)


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
    return set(verdict["chosen_by_seed"].values()) <= {subject(verdict)}


def _all_seeds(n_seeds: int) -> str:
    return {1: "in the only seed", 2: "in both seeds"}.get(n_seeds, f"in all {n_seeds} seeds")


def listed(options: Mapping[str, Any]) -> Sequence[str]:
    """Parameters as `name = value`."""
    return [f"{name} = {_plain(value)}" for name, value in options.items()]


def _plain(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_plain, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
