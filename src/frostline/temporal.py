"""The split by time: what first appears later is cold, and nothing that happened after T1 is trained on.

An item is warm if it first appears up to T1, val-cold in (T1, T2], test-cold after T2. Its first appearance is its
earliest interaction. Trained on are the warm items' interactions up to T1; val labels are those of val-cold items up to
T2; test labels those of test-cold items. Whatever else happened has no place, is left out and counted.

An item with an interaction of unknown time is never cold, because that may have been before T1; nor is such an
interaction trained on, because it may have been after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from frostline.drawing import Draw, popularity_bucket, rarest_category, stratum_names
from frostline.errors import InputError
from frostline.folds import TEST, VAL, WARM
from frostline.split_options import TemporalSplit

NOWHERE = ""
"""Fold of an item that is neither known before T1 nor cold for certain."""

MOST = 0.5
"""Where more than this share of the times is unknown, or is one and the same, no cut in time means anything."""

CROWD = 10
"""So many interactions at one time far off are a placeholder; fewer may be true."""

_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Cut:
    """Where each item and each interaction belongs.

    Attributes
    ----------
    fold : ndarray of str, shape (n_items,)
        `warm`, `val`, `test`, or `NOWHERE`.
    kept : ndarray of bool, shape (n_interactions,)
        Interactions that go to the file of their item's fold.
    report : dict
        `t1`, `t2` (ISO 8601, UTC), interactions left out by reason, placeholders, and what is on each side of the cuts.
    """

    fold: np.ndarray
    kept: np.ndarray
    report: dict


def cut(
    user: np.ndarray,
    item: np.ndarray,
    time: np.ma.MaskedArray,
    first_time: np.ma.MaskedArray,
    options: TemporalSplit,
) -> Cut:
    """Divide items by their first appearance and interactions by their time.

    Parameters
    ----------
    user, item : ndarray of int, shape (n_interactions,)
        From 0; every number up to the highest occurs.
    time : masked array of int64, shape (n_interactions,)
        Unix seconds, masked where unknown.
    first_time : masked array of int64, shape (n_interactions,)
        When the user and the item first met, which is earlier than `time` where a pair was repeated.
    options : TemporalSplit

    Raises
    ------
    InputError
        When most times are unknown, placeholders or the same, or a fold gets no item.
    """
    placeholders = _placeholders(first_time)
    is_known = ~np.ma.getmaskarray(first_time) & ~np.isin(first_time.data, placeholders)
    _refuse_useless(first_time.data, is_known, placeholders)
    time, first_time = time.data, first_time.data

    n_items = item.max() + 1
    first = np.full(n_items, _NEVER)
    np.minimum.at(first, item[is_known], first_time[is_known])
    is_doubtful = np.bincount(item[~is_known], minlength=n_items) > 0
    appeared = first[first < _NEVER]
    t1, t2 = (_moment(bound, appeared) for bound in (options.t1, options.t2))
    span = f"items first appear from {_iso(appeared.min())} to {_iso(appeared.max())}"
    if t1 >= t2:
        raise InputError(f"split.t1 is {_iso(t1)} and split.t2 {_iso(t2)}; {span}", "t1 must be before t2")

    fold = np.where(first <= t1, WARM, np.where(is_doubtful, NOWHERE, np.where(first <= t2, VAL, TEST)))
    until = np.where(fold == WARM, t1, np.where(fold == VAL, t2, np.where(fold == TEST, _NEVER, -_NEVER)))
    kept = is_known & (time <= until[item])
    reasons = {
        "unknown_time": ~is_known,
        "item_of_unknown_first_appearance": is_known & (fold[item] == NOWHERE),
        "warm_item_after_t1": is_known & (fold[item] == WARM) & (time > t1),
        "val_item_after_t2": is_known & (fold[item] == VAL) & (time > t2),
    }
    # Where pairs are repeated, all of an item's may have gone on after its period, and nothing of it is left.
    fold[np.bincount(item[kept], minlength=n_items) == 0] = NOWHERE
    for name, where in ((WARM, "up to t1"), (VAL, "between t1 and t2"), (TEST, "after t2")):
        if not (fold == name).any():
            raise InputError(
                f"no item first appears {where} (split.t1 is {_iso(t1)}, split.t2 {_iso(t2)}; {span})", "Move t1 and t2"
            )
    report = {
        "t1": _iso(t1),
        "t2": _iso(t2),
        "left_out": {reason: int(rows.sum()) for reason, rows in reasons.items()},
        "placeholders": [
            {"time": _iso(value), "interactions": int((first_time == value).sum())} for value in placeholders
        ],
        "items_left_out": int((fold == NOWHERE).sum()),
        "periods": _periods(user, item, time, first, is_known, (t1, t2)),
    }
    return Cut(fold, kept, report)


def describe_items(
    fold: np.ndarray, counts: np.ndarray, categories: Sequence[Sequence[str]], report: dict, options: TemporalSplit
) -> Draw:
    """Category and popularity bucket of items that time has put into folds.

    Buckets are quantiles among the items of a fold, of their interactions in the fold's file, because the periods
    differ in length.
    """
    n_val = int((fold == VAL).sum())
    if n_val < options.val_folds:
        raise InputError(
            f"{n_val} val-cold items cannot be divided into {options.val_folds} folds, in which every system is judged",
            "Move split.t1 and split.t2 apart, or lower split.val_folds",
        )
    category, bucket = rarest_category(categories), np.zeros(len(fold), dtype=np.int32)
    for name in (WARM, VAL, TEST):
        here = fold == name
        bucket[here] = popularity_bucket(counts[here], np.full(here.sum(), True), options.popularity_buckets)
    group = category if "category" in options.strata else np.full(len(fold), "all")
    layer = bucket if "popularity" in options.strata else np.zeros_like(bucket)
    return Draw(
        fold,
        category,
        bucket,
        stratum_names(group, layer),
        {"items": len(fold), "strata": [], "merges": [], "temporal": report},
    )


def _placeholders(time: np.ma.MaskedArray) -> list[int]:
    """The earliest and the latest time where it stands for an unknown one, such as 1970-01-01 or 2099-12-31.

    That is: at least `CROWD` interactions have it, and it is farther from the other times than these are apart.
    """
    values, counts = np.unique(time.compressed(), return_counts=True)
    if len(values) < 3:
        return []
    ends = ((0, values[1] - values[0], values[-1] - values[1]), (-1, values[-1] - values[-2], values[-2] - values[0]))
    return [int(values[end]) for end, distance, rest in ends if counts[end] >= CROWD and distance > rest]


def _refuse_useless(time: np.ndarray, is_known: np.ndarray, placeholders: list[int]) -> None:
    remedy = "Give true times, or use split.kind stratified, which needs none"
    n_known = int(is_known.sum())
    if n_known < (1 - MOST) * len(time) or not n_known:
        named = f" or one of the placeholders {', '.join(map(_iso, placeholders))}" if placeholders else ""
        raise InputError(
            f"split.kind temporal: the time of {len(time) - n_known:,} of {len(time):,} interactions is unknown{named}",
            remedy,
        )
    values, counts = np.unique(time[is_known], return_counts=True)
    if len(values) == 1:
        raise InputError(f"split.kind temporal: every interaction has the same time, {_iso(values[0])}", remedy)
    if counts.max() > MOST * n_known:
        raise InputError(
            f"split.kind temporal: {counts.max():,} of {n_known:,} interactions have the same time, "
            f"{_iso(values[counts.argmax()])}, which looks like a placeholder",
            remedy,
        )


def _moment(bound: float | str, appeared: np.ndarray) -> int:
    """A bound of the config in unix seconds; a share is the earliest time by which so many items have appeared."""
    if isinstance(bound, str):
        return int(np.datetime64(bound, "s").astype(np.int64))
    return int(np.quantile(appeared, bound, method="inverted_cdf"))


def _periods(
    user: np.ndarray, item: np.ndarray, time: np.ndarray, first: np.ndarray, is_known: np.ndarray, bounds: tuple
) -> list[dict]:
    """What happened up to T1, from there up to T2, and after: interactions, and the users and items that they are of."""
    period, of_first = (np.searchsorted(bounds, values, side="left") for values in (time, first))
    earliest = np.full(user.max() + 1, _NEVER)
    np.minimum.at(earliest, user[is_known], time[is_known])
    of_user = np.searchsorted(bounds, earliest, side="left")
    return [
        {
            "interactions": len(here),
            "users": len(np.unique(user[here])),
            "new_users": int(((of_user == number) & (earliest < _NEVER)).sum()),
            "items": len(np.unique(item[here])),
            "new_items": int(((of_first == number) & (first < _NEVER)).sum()),
        }
        for number in range(3)
        for here in [np.flatnonzero(is_known & (period == number))]
    ]


def _iso(seconds: int) -> str:
    return str(np.datetime64(int(seconds), "s"))
