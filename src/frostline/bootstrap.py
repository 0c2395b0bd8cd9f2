"""The intervals that decide: a crossed bootstrap over seeds, users and items.

A figure of the table is a mean over seeds of means over queries, and both the queries and the cold items could have been
others. Resampling only users takes the draw of items for granted and gives intervals that another draw of items
contradicts. Owen ("The pigeonhole bootstrap", Annals of Applied Statistics 1(2), 2007) resamples both; here its two
main terms are kept and the product term is left out, which that bootstrap counts three times and this one twice:
conservative, and it needs only each query's and each item's sum, never the pairs. Users and items weigh the same in
every seed and for every system, so that differences between systems are paired.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from frostline.seeds import generator

DRAWS = 10_000
"""So many that a p-value of the percentile interval survives Holm's correction over a hundred systems."""

ALPHA = 0.05
LEVEL = 1 - ALPHA
FACTORS = ("seeds", "users", "items")
_CELLS = 1 << 25


@dataclass(frozen=True)
class SeedResult:
    """One seed's figures of all columns (system × metric).

    Attributes
    ----------
    user : ndarray of int, shape (n_queries,)
        Number of each query's user, the same user having the same number in all seeds.
    values : ndarray of float64, shape (n_queries, n_columns)
        NaN where undefined.
    item : ndarray of int, shape (n_candidates,)
        Number of each candidate, as for users.
    shares : ndarray of float64, shape (n_candidates, n_columns)
        What each item adds to the sum of a column.
    relevance : ndarray of float64, shape (n_candidates,)
        Each item's share of the queries' relevance.
    """

    user: np.ndarray
    values: np.ndarray
    item: np.ndarray
    shares: np.ndarray
    relevance: np.ndarray

    def take(self, columns: Sequence[int]) -> SeedResult:
        """The same with these columns, in this order; one may come several times."""
        return replace(self, values=self.values[:, columns], shares=self.shares[:, columns])


def factors_drawn(replicates: str) -> tuple[str, ...]:
    """What a figure's bootstrap resamples: seeds too, unless they vary the 'models' only."""
    return FACTORS if replicates != "models" else ("users", "items")


def resampled(replicates: str) -> str:
    """The same in words.

    >>> resampled("draws"), resampled("models")
    ('seeds, users and items', 'users and items')
    """
    *most, last = factors_drawn(replicates)
    return f"{', '.join(most)} and {last}"


def draw_means(
    results: Sequence[SeedResult], seed: int, draws: int = DRAWS, factors: Collection[str] = FACTORS
) -> np.ndarray:
    """Means over seeds in bootstrap draws.

    In each draw a seed's mean moves by what resampled users move it and by what resampled items move it; users and
    items get independent Poisson(1) weights, which is the bootstrap's multinomial in the limit, and seeds are drawn with
    replacement. Of what is not in `factors` every draw takes each one once.

    Returns
    -------
    ndarray of float64, shape (draws, n_columns)
    """
    results, column = _distinct(results)
    n_users = 1 + max(int(result.user.max()) for result in results)
    n_items = 1 + max(int(result.item.max()) for result in results)
    n_columns = results[0].values.shape[1]
    picks = generator(seed, "bootstrap").integers(len(results), size=(draws, len(results)))
    times_drawn = np.stack([(picks == number).sum(axis=1) for number in range(len(results))], axis=1)
    if "seeds" not in factors:
        times_drawn = np.ones_like(times_drawn)
    total = np.zeros((draws, n_columns))
    step = max(1, _CELLS // max(n_users, n_items))
    prepared = [_prepare(result, n_users, n_items) for result in results]
    of_users, of_items = (generator(seed, "bootstrap", factor) for factor in ("users", "items"))
    for start in range(0, draws, step):
        rows = slice(start, min(start + step, draws))
        user_weight = _weights(of_users, (rows.stop - start, n_users)) if "users" in factors else None
        item_weight = _weights(of_items, (rows.stop - start, n_items)) if "items" in factors else None
        for number, (by_user, by_item, mask_of, mean) in enumerate(prepared):
            moved = np.broadcast_to(mean, (rows.stop - start, n_columns))
            if user_weight is not None:
                part, whole = np.split(user_weight @ by_user, [n_columns], axis=1)
                moved = _ratio(part, whole[:, mask_of], mean)
            if item_weight is not None:
                part, whole = np.split(item_weight @ by_item, [n_columns], axis=1)
                moved = moved + _ratio(part, whole, mean) - by_item[:, :-1].sum(axis=0) / by_item[:, -1].sum()
            total[rows] += times_drawn[rows, number, None] * moved
    return (total / len(results))[:, column]


def interval(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Percentile interval of each column at `LEVEL`."""
    low, high = np.quantile(draws, [ALPHA / 2, 1 - ALPHA / 2], axis=0)
    return low, high


# Quantiles of Poisson(1) at 65,536 even steps: looking one up is ten times faster than drawing it.
_POISSON = np.searchsorted(
    np.cumsum([math.exp(-1) / math.factorial(k) for k in range(12)]), (np.arange(1 << 16) + 0.5) / (1 << 16)
).astype(np.float64)


def _weights(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return _POISSON[rng.integers(1 << 16, size=shape, dtype=np.uint16)]


def _distinct(results: Sequence[SeedResult]) -> tuple[list[SeedResult], list[int]]:
    """The results with equal columns once, and where each column now is.

    Equal columns of a matrix product may differ in the last bit, and a difference of equal systems must be zero.
    """
    first: dict[bytes, int] = {}
    column = [
        first.setdefault(b"".join(r.values[:, c].tobytes() + r.shares[:, c].tobytes() for r in results), len(first))
        for c in range(results[0].values.shape[1])
    ]
    kept = [column.index(position) for position in range(len(first))]
    return [result.take(kept) for result in results], column


def _prepare(result: SeedResult, n_users: int, n_items: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What weights of all users and of all items are multiplied by, and how the products are read.

    Returns
    -------
    by_user : ndarray of float64, shape (n_users, n_columns + n_masks)
        Values with zero for NaN, then the few patterns of what is defined.
    by_item : ndarray of float64, shape (n_items, n_columns + 1)
        Shares, then relevance.
    mask_of : ndarray of int, shape (n_columns,)
        Each column's pattern.
    mean : ndarray of float64, shape (n_columns,)
    """
    defined = ~np.isnan(result.values)
    masks, mask_of = np.unique(np.packbits(defined, axis=0), axis=1, return_index=True, return_inverse=True)[1:]
    n_columns = defined.shape[1]
    by_user = np.zeros((n_users, n_columns + len(masks)))
    by_user[result.user, :n_columns] = np.where(defined, result.values, 0.0)
    by_user[result.user, n_columns:] = defined[:, masks]
    by_item = np.zeros((n_items, n_columns + 1))
    by_item[result.item] = np.column_stack([result.shares, result.relevance])
    mean = by_user[:, :n_columns].sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
    return by_user, by_item, mask_of, mean


def _ratio(part: np.ndarray, whole: np.ndarray, fallback: np.ndarray) -> np.ndarray:
    """part / whole; a draw that picked none of the few rows that count says nothing, so it leaves the mean where it is."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), fallback)
