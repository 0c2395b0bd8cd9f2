"""The split at random: cold items are drawn so that every category × popularity bucket gives its share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from frostline.errors import InputError
from frostline.folds import TEST, VAL, WARM
from frostline.seeds import generator
from frostline.split_options import Split

OTHER = "(other)"


@dataclass(frozen=True)
class Draw:
    """Folds of the items and how they came about.

    Attributes
    ----------
    fold : ndarray of str, shape (n_items,)
        `warm`, `val` or `test`.
    category, stratum : ndarray of str, shape (n_items,)
        An item's rarest category and the stratum that it was drawn in, after merging.
    bucket : ndarray of int32, shape (n_items,)
        Popularity bucket, 0 the least popular.
    report : dict
        Sizes of every stratum and every merge.
    """

    fold: np.ndarray
    category: np.ndarray
    bucket: np.ndarray
    stratum: np.ndarray
    report: dict


def draw_items(
    counts: np.ndarray,
    categories: Sequence[Sequence[str]],
    options: Split,
    seed: int,
    folds: Mapping[str, int] | None = None,
) -> Draw:
    """Draw val-cold and test-cold items, each stratum in its share.

    Items with fewer than `min_interactions` interactions stay warm. The number of cold items is the share of **all**
    items, rounded, and at most the eligible ones; each stratum gets its part of it by largest remainder over its
    eligible items. A stratum too small to give one item to each fold (fewer than 1 / min(test, val) eligible items)
    is merged with the others of its popularity bucket into `(other)`, and that, if it is still too small, into the
    bucket's largest stratum (ties by name).

    Parameters
    ----------
    counts : ndarray of int, shape (n_items,)
        Interactions of each item; items in the order of their ids.
    categories : sequence of n_items sequences of str
        An item of several categories counts under its rarest (ties by name), one without under the empty name.
    options : Split
    seed : int
    folds : dict, optional
        Test-cold is fold `number` of the eligible items, dealt out to `of` folds by the seed `seed`, the same for all
        of them. Without it, test-cold is drawn.

    Raises
    ------
    InputError
        When a fold would get no item, or none would stay warm.
    """
    n_items = len(counts)
    eligible = counts >= options.min_interactions
    n_test, n_val = round(options.test * n_items), round(options.val * n_items)
    if folds:
        n_test = len(range(folds["number"], int(eligible.sum()), folds["of"]))
    if not n_test or not n_val or n_test + n_val > eligible.sum():
        raise InputError(
            f"{n_items} items, of which {int(eligible.sum())} have at least {options.min_interactions} interactions, "
            f"cannot give {n_test} test-cold and {n_val} val-cold items",
            "Use more data, lower split.min_interactions, or change split.test and split.val",
        )
    if n_val < options.val_folds:
        raise InputError(
            f"{n_val} val-cold items cannot be divided into {options.val_folds} folds, in which every system is judged",
            "Use more data, raise split.val, or lower split.val_folds",
        )
    if n_test + n_val >= n_items:
        raise InputError(f"no warm item is left of {n_items}", "Lower split.test and split.val")
    category = rarest_category(categories)
    bucket = popularity_bucket(counts, eligible, options.popularity_buckets)
    stratum, merges = _strata(category, bucket, eligible, options)

    fold = np.full(n_items, WARM, dtype="<U4")
    names, index = np.unique(stratum[eligible], return_inverse=True)
    size = np.bincount(index)
    members = np.flatnonzero(eligible)
    is_held_out = _fold(index, folds) if folds else np.zeros(len(members), dtype=bool)
    test = np.bincount(index[is_held_out], minlength=len(size)) if folds else largest_remainder(size, n_test)
    val = largest_remainder(size, n_val, limit=size - test)
    rng = generator(seed, "split")
    for position in range(len(names)):
        own = rng.permutation(np.flatnonzero(index == position))
        drawn = members[own[np.argsort(~is_held_out[own], kind="stable")]]
        fold[drawn[: test[position]]] = TEST
        fold[drawn[test[position] : test[position] + val[position]]] = VAL
    strata = [
        {"stratum": str(name), "eligible": int(n), "test": int(t), "val": int(v)}
        for name, n, t, v in zip(names, size, test, val, strict=True)
    ]
    report = {
        "items": n_items,
        "ineligible_items": int((~eligible).sum()),
        "strata": strata,
        "merges": merges,
    }
    return Draw(fold, category, bucket, stratum, report)


def _fold(stratum: np.ndarray, folds: Mapping[str, int]) -> np.ndarray:
    """Which items are of one fold: they are dealt out like cards, stratum after stratum, each shuffled."""
    rng = generator(folds["seed"], "split", "folds")
    order = np.concatenate([rng.permutation(np.flatnonzero(stratum == number)) for number in range(stratum.max() + 1)])
    is_member = np.zeros(len(stratum), dtype=bool)
    is_member[order[folds["number"] :: folds["of"]]] = True
    return is_member


def rarest_category(categories: Sequence[Sequence[str]]) -> np.ndarray:
    """Each item's rarest category over all items, ties by name; the empty string for an item without any."""
    frequency = Counter(name for names in categories for name in set(names or ()))
    rarest = [min(names, key=lambda name: (frequency[name], name)) if names else "" for names in categories]
    return np.array(rarest, dtype=np.str_)


def popularity_bucket(counts: np.ndarray, eligible: np.ndarray, n_buckets: int) -> np.ndarray:
    """Bucket of each item by the quantiles of the eligible items' counts; equal counts share a bucket."""
    edges = np.quantile(counts[eligible], np.arange(1, n_buckets) / n_buckets)
    return np.searchsorted(edges, counts, side="left").astype(np.int32)


def largest_remainder(size: np.ndarray, total: int, limit: np.ndarray | None = None) -> np.ndarray:
    """Divide `total` in proportion to `size` into whole numbers that sum to it, none above `limit`.

    Equal remainders go by position. Where the limit cuts a part, what it cannot take goes to the next remainders.

    >>> largest_remainder(np.array([5, 3, 2]), 4)
    array([2, 1, 1])
    """
    limit = size if limit is None else limit
    exact = size * (total / size.sum())
    parts = np.minimum(np.floor(exact).astype(np.int64), limit)
    order = np.argsort(parts - exact, kind="stable")
    while parts.sum() < total:
        open_ = order[parts[order] < limit[order]][: total - parts.sum()]
        parts[open_] += 1
    return parts


def _strata(
    category: np.ndarray, bucket: np.ndarray, eligible: np.ndarray, options: Split
) -> tuple[np.ndarray, list[dict]]:
    by_category, by_popularity = "category" in options.strata, "popularity" in options.strata
    group = category.astype(object) if by_category else np.full(len(category), "all", dtype=object)
    layer = bucket if by_popularity else np.zeros_like(bucket)
    smallest = 1 / min(options.test, options.val)
    merges: list[dict] = []
    for level in np.unique(layer):
        here = eligible & (layer == level)
        for target in (OTHER, None):
            names, size = np.unique(group[here], return_counts=True)
            rare = [str(name) for name, n in zip(names, size, strict=True) if n < smallest]
            if not rare or len(names) == 1:
                break
            into = target or str(names[np.argmax(size)])
            for name in rare:
                if name != into:
                    merges.append({"bucket": int(level), "stratum": name, "into": into})
                    group[(layer == level) & (group == name)] = into
    return stratum_names(group, layer), merges


def stratum_names(group: np.ndarray, layer: np.ndarray) -> np.ndarray:
    """How strata are called: category / popularity bucket."""
    return np.array([f"{name or '(none)'} / {level}" for name, level in zip(group, layer, strict=True)], dtype=np.str_)
