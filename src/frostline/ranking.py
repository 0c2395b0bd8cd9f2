"""Ranking metrics from the ranks of the relevant candidates alone, ties and all.

For each relevant candidate it is enough to know how many candidates score higher and how many score the same, and how
many of either are relevant: recall, precision, AP, NDCG, RR, hit rate and AUC follow in closed form. Where scores tie,
a metric is its exact expectation over a uniformly random order of the tied candidates (McSherry & Najork, "Computing
information retrieval performance measures efficiently in the presence of tied scores", ECIR 2008), so it depends
neither on ids nor on the order of rows.

Pairs are two integer arrays of one length: the row (query) and the column (item) of cells in the score matrix.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

import numpy as np
import numpy.typing as npt

CUT_METRICS = ("recall", "precision", "map", "ndcg", "mrr", "hit_rate")
UNLISTED = 2**31 - 1  # `greater` of an item that was never retrieved: no cut-off reaches it
_BLOCK_CELLS = 1 << 19  # scores handled at once: bounds the memory, and fits a cache
_BINS = 1 << 22

Pairs = tuple[npt.ArrayLike, npt.ArrayLike]


class NonFiniteScore(ValueError):
    """A score that cannot be ranked: `value`, at `row` and `column`."""

    def __init__(self, row: int, column: int, value: float) -> None:
        super().__init__(f"the score of query row {row}, candidate column {column} is {value}: it must be finite")
        self.row, self.column, self.value = row, column, value


@dataclass(frozen=True)
class Metric:
    """A measure as a value: a name and a cut-off, written `ndcg@10`; or `auc`, which has no cut-off."""

    name: str
    k: int | None = None

    def __post_init__(self) -> None:
        cut = self.name in CUT_METRICS and isinstance(self.k, int) and self.k >= 1
        if not cut and (self.name, self.k) != ("auc", None):
            allowed = ", ".join(f"{name}@k" for name in CUT_METRICS)
            raise ValueError(f"unknown metric {str(self)!r}: allowed are {allowed} with a whole k >= 1, and auc")

    def __str__(self) -> str:
        return self.name if self.k is None else f"{self.name}@{self.k}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The metric written `text`. Raises ValueError, saying what is allowed, if there is none."""
        name, _, k = text.partition("@")
        return cls(name, int(k)) if k.isdecimal() else cls(text)


def metrics_at(ks: Sequence[int]) -> tuple[Metric, ...]:
    """Every metric: those with a cut-off at each k in turn, then AUC."""
    return (*(Metric(name, k) for k in ks for name in CUT_METRICS), Metric("auc"))


@dataclass(frozen=True)
class Ranks:
    """Where the relevant candidates stand: one entry a relevant pair, sorted by (query, greater)."""

    query: np.ndarray
    item: np.ndarray  # int32
    greater: np.ndarray  # candidates that score strictly higher
    tied: np.ndarray  # candidates that score the same, itself included
    relevant_greater: np.ndarray  # the relevant ones among `greater`
    relevant_tied: np.ndarray  # the relevant ones among `tied`
    beaten: np.ndarray  # the others that score lower, and half of those that tie: what AUC adds up
    n_relevant: np.ndarray  # one entry a query
    n_candidates: np.ndarray  # one entry a query
    ordered_from: Self | None = None  # where ties were put in order: the ranks with the ties

    def with_ties(self) -> Self:
        """The ranks with tied candidates as tied, whether or not they were put in order."""
        return self.ordered_from or self

    def best(self) -> Self:
        """The ranks if every tie fell in favour of the relevant candidates."""
        ranks = self.with_ties()
        rivals = ranks.tied - ranks.relevant_tied
        return replace(ranks, tied=ranks.relevant_tied, beaten=ranks.beaten + rivals / 2)

    def worst(self) -> Self:
        """The ranks if every tie fell against the relevant candidates."""
        ranks = self.with_ties()
        rivals = ranks.tied - ranks.relevant_tied
        below = ranks.greater + rivals
        return replace(ranks, greater=below, tied=ranks.relevant_tied, beaten=ranks.beaten - rivals / 2)

    def tied_at(self, k: int) -> np.ndarray:
        """Whether a tie decides if a relevant candidate is among the first k: bool, one entry a query."""
        ranks = self.with_ties()
        is_open = (ranks.greater < k) & (ranks.greater + ranks.tied > k) & (ranks.tied > ranks.relevant_tied)
        return np.bincount(ranks.query[is_open], minlength=len(ranks.n_relevant)) > 0


def rank_relevant(
    scores: np.ndarray,
    query: npt.ArrayLike,
    item: npt.ArrayLike,
    *,
    excluded: Pairs | None = None,
    unlisted: bool = False,
    ties: Literal["expected", "item_id"] = "expected",
) -> Ranks:
    """Rank the relevant pairs (query, item) among the candidates of their query.

    scores: float32 or float64 [n_queries, n_candidates], higher is better; may be a memory map, is never written to; or
        `frostline.sparse.SparseScores`.
    excluded: pairs that are no candidates and count for nothing; they alone may score -inf.
    unlisted: the excluded pairs were never retrieved: a relevant one is no error, but worth zero and outside the AUC.
    ties: "item_id" orders tied candidates by ascending column, for comparison with others; AUC counts half even then.

    Raises NonFiniteScore for the first NaN or infinite score; TypeError for other dtypes; ValueError for another shape,
    pairs outside it, and relevant pairs that are repeated or excluded.
    """
    return rank_views(scores, [View(query, item)], excluded=excluded, unlisted=unlisted, ties=ties)[0]


@dataclass(frozen=True)
class View:
    """One way to ask: relevant pairs, and the row of the result to which each counts.

    query, item: the pairs, as `rank_relevant` takes them.
    row: the row of each pair, all pairs of a row being of one query; its query, if None.
    row_query: the query of each row. A row's candidates are its query's, those of its other rows included.
    """

    query: npt.ArrayLike
    item: npt.ArrayLike
    row: np.ndarray | None = None
    row_query: np.ndarray | None = None


def rank_views(
    scores: np.ndarray,
    views: Sequence[View],
    *,
    excluded: Pairs | None = None,
    unlisted: bool = False,
    ties: Literal["expected", "item_id"] = "expected",
) -> list[Ranks]:
    """`rank_relevant` for several views of one grid, which is sorted once for all. `Ranks.query` is then a view's row."""
    if ties not in ("expected", "item_id"):
        raise ValueError(f"ties={ties!r}: allowed are 'expected' and 'item_id'")
    n_items = scores.shape[-1]
    flat = [_flat_pairs(scores, view.query, view.item, excluded, unlisted) for view in views]
    out = flat[0][2]
    cells = flat[0][0] if len(views) == 1 else _distinct(np.concatenate([own for own, _, _ in flat]))
    if isinstance(scores, np.ndarray):
        blocks = _blocks(scores, cells, out)
        counts = [_count(block, *np.divmod(inside, n_items), ties == "item_id") for block, inside in blocks]
        greater, tied, ahead = np.concatenate(counts, axis=1)
        n_candidates = n_items - np.bincount(out // n_items, minlength=len(scores))
    else:
        (greater, tied, ahead), n_candidates = scores.counts(cells, out)
        ahead = ahead if ties == "item_id" else np.zeros_like(ahead)
    lost = np.isin(cells, out)
    greater[lost], ahead[lost] = UNLISTED, 0
    ranks = []
    for view, (own, order, _) in zip(views, flat, strict=True):
        at = slice(None) if len(own) == len(cells) else np.searchsorted(cells, own)
        query, item = np.divmod(own, n_items)
        row, of = (query, n_candidates) if view.row is None else (view.row[order], n_candidates[view.row_query])
        ranks.append(_ranks(row, item, greater[at], tied[at], ahead[at], of, ties == "item_id"))
    return ranks


def rank_lists(lists: Sequence[Sequence[int]], relevant: Sequence[Collection[int]]) -> Ranks:
    """Ranks from each query's list of item numbers, best first, and its relevant items.

    An item that is not listed is not tied: it was never retrieved, is worth zero and is no candidate of the AUC.
    Raises ValueError if a query's list or relevant items repeat an item, and if one of the two is missing.
    """
    found = [np.zeros((5, 0), np.int64)]
    for query, (ranked, wanted) in enumerate(zip(lists, relevant, strict=True)):
        place = {item: rank for rank, item in enumerate(ranked)}
        item = np.unique(np.array(list(wanted), np.int64))
        if len(place) < len(ranked) or len(item) < len(wanted):
            raise ValueError(f"query {query}: an item occurs twice")
        greater = np.array([place.get(i, UNLISTED) for i in item.tolist()], np.int64)
        found.append(np.stack([np.full_like(item, query), item, greater, np.ones_like(item), np.zeros_like(item)]))
    return _ranks(*np.concatenate(found, axis=1), np.array([len(ranked) for ranked in lists], np.int64))


@np.errstate(invalid="ignore")
def evaluate(ranks: Ranks, metrics: Sequence[Metric], *, map_over: Literal["min", "relevant"] = "min") -> np.ndarray:
    """Each query's value of each metric: float64 [n_queries, n_metrics].

    NaN for a query without a relevant candidate, and for the AUC of one without another candidate.
    map_over: AP@k divides by min(n_relevant, k), or by n_relevant.
    """
    values = np.empty((len(ranks.n_relevant), len(metrics)))
    for column, metric in enumerate(metrics):
        pairs, worth, whole = _terms(ranks, metric, map_over)
        values[:, column] = np.bincount(ranks.query[pairs], worth, len(values)) / whole
    values[ranks.n_relevant == 0] = np.nan
    return values


@np.errstate(invalid="ignore")
def contributions(
    ranks: Ranks, metrics: Sequence[Metric], *, map_over: Literal["min", "relevant"] = "min"
) -> np.ndarray:
    """What each relevant pair adds to its query's value: float64 [n_pairs, n_metrics], in the order of `ranks`.

    They add up to what `evaluate` gives, to the last rounding. RR and hit rate are shared equally by the relevant
    candidates that tie for the first place among the relevant.
    """
    shares = np.zeros((len(metrics), len(ranks.query)))
    for share, metric in zip(shares, metrics, strict=True):
        pairs, worth, whole = _terms(ranks, metric, map_over)
        share[pairs] = worth / whole[ranks.query[pairs]]
    return shares.T


def relaimpr(auc: float, auc_base: float) -> float:
    """How much further above chance than the base an AUC is, as a share; NaN if the base is not above chance."""
    return (auc - 0.5) / (auc_base - 0.5) - 1 if auc_base > 0.5 else math.nan


def pooled_auc(
    scores: np.ndarray, query: npt.ArrayLike, item: npt.ArrayLike, *, excluded: Pairs | None = None
) -> float:
    """The exact AUC over all candidates of all queries that have a relevant one, ties half; NaN if there is one class.

    Takes and refuses what `rank_relevant` does, but sorts a copy of all the scores: `PooledAUC` needs none.
    """
    pool, relevant = (np.concatenate(s) for s in zip(*_pool(scores, query, item, excluded), strict=True))
    pool.sort()
    relevant.sort()  # neighbouring look-ups share the cache
    under = pool.searchsorted(relevant, "left")
    upto = under + 1
    ties = np.flatnonzero(
        pool[np.minimum(upto, len(pool) - 1)] == relevant
    )  # few as a rule: only these are searched again
    upto[ties] = pool.searchsorted(relevant[ties], "right")
    twice_won = int(under.sum() + upto.sum())
    # Half of the comparisons of the relevant among themselves, each with itself included, are won.
    pairs = len(relevant) * (len(pool) - len(relevant))
    return (twice_won - len(relevant) ** 2) / (2 * pairs) if pairs else math.nan


def auc_of_levels(n: np.ndarray, n_relevant: np.ndarray) -> float:
    """The exact AUC of pairs counted by ascending score, ties half; NaN if there is one class."""
    others = n - n_relevant
    pairs = int(n_relevant.sum()) * int(others.sum())
    twice_won = int((n_relevant * (2 * (np.cumsum(others) - others) + others)).sum())
    return twice_won / (2 * pairs) if pairs else math.nan


@dataclass
class PooledAUC:
    """`pooled_auc` one shard of queries at a time, from summed counts.

    Scores are told apart by the top 22 bits of their float32 (13 of the mantissa): the exact value is within
    `value` +- `bound`.
    """

    counts: np.ndarray = field(default_factory=lambda: np.zeros((2, _BINS), np.int64))  # relevant, others

    def add(
        self, scores: np.ndarray, query: npt.ArrayLike, item: npt.ArrayLike, *, excluded: Pairs | None = None
    ) -> None:
        """Count a shard. Takes and refuses what `rank_relevant` does."""
        relevant, others = self.counts
        for pool, hits in _pool(scores, query, item, excluded):
            np.add.at(others, _bins(pool), 1)
            np.subtract.at(others, _bins(hits), 1)
            np.add.at(relevant, _bins(hits), 1)

    def merge(self, other: Self) -> None:
        """Add what `other` counted."""
        self.counts += other.counts

    def levels(self, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The scores that occur, ascending, how many have each, and how many of these are relevant.

        Where more than `most` occur, neighbours are joined under their mean, so that each level has about the same part of
        the pairs and of the relevant ones.
        """
        bins = np.flatnonzero(self.counts.any(axis=0))
        relevant = self.counts[0, bins]
        n = relevant + self.counts[1, bins]
        score = _middle(bins)
        if len(bins) > most:
            part = (np.cumsum(n) - n / 2) / n.sum() + (np.cumsum(relevant) - relevant / 2) / max(relevant.sum(), 1)
            level = np.unique((part / 2 * most).astype(np.int64), return_inverse=True)[1]
            score = np.bincount(level, n * score) / np.bincount(level, n)
            n, relevant = (np.bincount(level, count).astype(np.int64) for count in (n, relevant))
        return score, n, relevant

    def count(self, scores: np.ndarray, n: np.ndarray, n_relevant: np.ndarray) -> None:
        """Count pairs by their scores, `n` with each, of which `n_relevant` are relevant."""
        relevant, others = self.counts
        np.add.at(relevant, _bins(scores), n_relevant)
        np.add.at(others, _bins(scores), n - n_relevant)

    @property
    def value(self) -> float:
        others = self.counts[1]
        return self._share(np.cumsum(others) - others / 2)

    @property
    def bound(self) -> float:
        return self._share(self.counts[1] / 2)

    def _share(self, won: np.ndarray) -> float:
        pairs = math.prod(self.counts.sum(axis=1).tolist())
        return float(self.counts[0] @ won) / pairs if pairs else math.nan


def _flat_pairs(scores, query, item, excluded, unlisted=False):
    """Cells of the relevant pairs in the flattened scores, sorted, the order that sorted them, and the excluded cells."""
    if scores.dtype not in (np.float32, np.float64):
        raise TypeError(f"scores are {scores.dtype}: float32 or float64 is needed")
    if scores.ndim != 2 or not scores.shape[1]:
        raise ValueError(f"scores have the shape {scores.shape}: [n_queries, n_candidates] is needed")
    flat = []
    for what, pairs in (
        ("relevant", (query, item)),
        ("excluded", np.zeros((2, 0), int) if excluded is None else excluded),
    ):
        row, column = np.asarray(pairs).astype(np.int64, casting="same_kind")
        outside = np.flatnonzero((row < 0) | (row >= len(scores)) | (column < 0) | (column >= scores.shape[1]))
        if len(outside):
            at = int(row[outside[0]]), int(column[outside[0]])
            raise ValueError(f"{what} pair {at} is outside scores of the shape {scores.shape}")
        flat.append(row * scores.shape[1] + column)
    order, out = np.argsort(flat[0], kind="stable"), _distinct(flat[1])
    relevant = flat[0][order]
    repeated, barred = relevant[1:][relevant[1:] == relevant[:-1]], relevant[np.isin(relevant, out)]
    for cells, what in (repeated, "repeated"), (barred[:0] if unlisted else barred, "excluded"):
        if len(cells):
            raise ValueError(f"relevant pair {divmod(int(cells[0]), scores.shape[1])} is {what}")
    return relevant, order, out


def _distinct(numbers):
    """Sorted and each once; `np.unique` would put whole numbers through a hash table, which takes four times as long."""
    numbers = np.sort(numbers)
    return numbers[np.diff(numbers, prepend=numbers[:1] - 1) > 0]


def _blocks(scores, relevant, out):
    """Blocks of whole rows, finite but for excluded cells at -inf, and the positions of the relevant cells in each."""
    n_items = scores.shape[1]
    rows = max(1, _BLOCK_CELLS // n_items)
    for first in range(0, max(1, len(scores)), rows):
        block = np.ascontiguousarray(scores[first : first + rows])
        start, stop = first * n_items, (first + rows) * n_items
        inside, outside = (cells[slice(*cells.searchsorted((start, stop)))] - start for cells in (relevant, out))
        finite = np.isfinite(block).ravel()
        finite[outside] |= block.ravel()[outside] == -np.inf
        if not finite.all():
            row, column = divmod(int(finite.argmin()), n_items)
            raise NonFiniteScore(first + row, column, block[row, column])
        if len(outside):
            block = block.copy()
            block.ravel()[outside] = -np.inf
        yield block, inside


def _count(block, row, column, by_column):
    """For each cell how many of its row score higher, how many the same, and how many of these stand left of it."""
    n = block.shape[1]
    counts = np.zeros((3, len(row)), np.int64)
    # A row is compared with each of its relevant cells while that is cheaper than sorting it, which takes about 6 n ns;
    # a comparison takes 5000 + n / 4.
    few = np.bincount(row, minlength=1)[row] * (5000 + n / 4) < 6 * n
    for i in np.flatnonzero(few):
        line, x = block[row[i]], block[row[i], column[i]]
        left = np.count_nonzero(line[: column[i]] == x) if by_column else 0
        counts[:, i] = np.count_nonzero(line > x), np.count_nonzero(line == x), left
    many = np.flatnonzero(~few)
    new = np.diff(row[many], prepend=-1) > 0
    own = np.cumsum(new) - 1
    lines = block[row[many][new]]
    if by_column:
        lines = _keys(lines)
    x = lines[own, column[many]]
    floor, ceiling = (x >> 32 << 32, x | 0xFFFFFFFF) if by_column else (x, x)
    lines.sort(axis=1)
    cells, start = lines.ravel(), own * n
    upto = _search(cells, start, n, ceiling, np.less_equal)
    if by_column:
        counts[2, many] = upto - _search(cells, start, n, x, np.less_equal)
    under = upto - 1
    ties = np.flatnonzero(
        cells[start + np.maximum(upto - 2, 0)] >= floor
    )  # few as a rule: only these are searched again
    under[ties] = _search(cells, start[ties], n, floor[ties], np.less)
    counts[:2, many] = n - upto, upto - under
    return counts


def _keys(lines):
    """Integers that order like the scores and, where these tie, the first column highest: score in the upper half."""
    # Eight bytes of a score leave no room for the column, so these are numbered.
    level = _ordered(lines) if lines.dtype == np.float32 else np.unique(lines, return_inverse=True)[1]
    return (level.reshape(lines.shape).astype(np.int64) << 32) + np.arange(lines.shape[1])[::-1]


def _search(cells, start, n, x, below):
    """How many of the n ascending cells from `start` on are `below` x: one binary search for all x at once."""
    place = start.copy()
    while n > 1:
        half = n // 2
        place += half * below(cells[place + (half - 1)], x)
        n -= half
    return place + below(cells[place], x) - start


def _ranks(query, item, greater, tied, ahead, n_candidates, by_column=False):
    """Sort the pairs and count the relevant ones among themselves."""
    order = np.argsort((query << 31) + greater + ahead, kind="stable")
    query, item, greater, tied, ahead = (column[order] for column in (query, item, greater, tied, ahead))
    first = np.flatnonzero(np.diff((query << 31) + greater, prepend=-1))
    size = np.diff(first, append=len(query))
    relevant_tied = np.repeat(size, size)
    tied = np.where(greater < UNLISTED, tied, relevant_tied)
    n_relevant = np.bincount(query, minlength=len(n_candidates))
    start = (np.cumsum(n_relevant) - n_relevant)[query]
    relevant_greater = np.repeat(first, size) - start
    n_others = n_candidates - np.bincount(query[greater < UNLISTED], minlength=len(n_candidates))
    rivals = tied - relevant_tied
    beaten = n_others[query] - (greater - relevant_greater) - rivals / 2
    item = item.astype(np.int32)
    ranks = Ranks(query, item, greater, tied, relevant_greater, relevant_tied, beaten, n_relevant, n_candidates)
    if not by_column:
        return ranks
    ones, before = np.ones_like(tied), np.arange(len(query)) - start
    return replace(
        ranks, greater=greater + ahead, relevant_greater=before, tied=ones, relevant_tied=ones, ordered_from=ranks
    )


def _terms(ranks, metric, map_over):
    """The pairs that can count, what each is worth, and what the sum of each query is divided by."""
    if map_over not in ("min", "relevant"):
        raise ValueError(f"map_over={map_over!r}: allowed are 'min' and 'relevant'")
    name, size, k = metric.name, ranks.n_relevant, min(metric.k or UNLISTED, UNLISTED)
    pairs = np.flatnonzero(ranks.greater < k)
    query = ranks.query[pairs]
    if name == "auc":
        n_listed = np.bincount(query, minlength=len(size))
        return pairs, ranks.beaten[pairs], n_listed * (ranks.n_candidates - n_listed)
    columns = ranks.greater, ranks.tied, ranks.relevant_greater, ranks.relevant_tied
    g, t, gr, tr = (column[pairs] for column in columns)
    end = np.minimum(g + t, k)  # an item takes one of the places g + 1 ... g + t; those up to `end` count
    if name in ("recall", "precision"):
        return pairs, (end - g) / t, size if name == "recall" else np.full(len(size), float(metric.k))
    if name in ("mrr", "hit_rate"):
        lead = np.flatnonzero(np.diff(query, prepend=-1))  # one of the first relevant tie group of each query
        missed, reciprocal = _first_hit(g[lead], t[lead], tr[lead], (end - g)[lead])
        worth, whole = np.zeros(len(pairs)), np.ones(len(size))
        worth[gr == 0] = np.repeat(reciprocal if name == "mrr" else 1 - missed, tr[lead])
        whole[query[lead]] = tr[lead]
        return pairs, worth, whole
    ideal = np.minimum(size, k)
    places = np.arange(1, max(end.max(initial=0), ideal.max(initial=0)) + 1)
    if name == "ndcg":
        gain = np.append(0, np.cumsum(1 / np.log2(places + 1)))
        return pairs, (gain[end] - gain[g]) / t, gain[ideal]
    harmonic = np.append(0, np.cumsum(1 / places))
    dense = (tr - 1) / np.maximum(t - 1, 1)  # the share of the others that tie which is relevant
    worth = ((gr + 1 - (g + 1) * dense) * (harmonic[end] - harmonic[g]) + (end - g) * dense) / t
    return pairs, worth, ideal if map_over == "min" else size


def _first_hit(g, t, tr, length):
    """The chance of no relevant item in the first `length` places of a tie group, and the RR that is expected of them."""
    missed, reciprocal = np.ones(len(g)), np.zeros(len(g))
    for step in range(length.max(initial=0)):
        hit = missed * (step < length) * (tr / np.maximum(t - step, tr))
        reciprocal += hit / (g + step + 1)
        missed -= hit
    return missed, reciprocal


def _pool(scores, query, item, excluded):
    """Block by block the scores of all candidates of the queries that have a relevant one, and of the relevant."""
    relevant, _, out = _flat_pairs(scores, query, item, excluded)
    for block, inside in _blocks(scores, relevant, out):
        pool = block[np.bincount(inside // scores.shape[1], minlength=len(block)) > 0].ravel()
        yield pool[pool > -np.inf] if len(out) else pool, block.ravel()[inside]


def _bins(scores):
    """The top 22 bits of each score's float32, as a number that grows with the score."""
    with np.errstate(over="ignore"):
        return (_ordered(scores.astype(np.float32)) >> 10) + _BINS // 2


def _middle(bins):
    """The middle of each bin's scores; the way back from `_bins`."""
    ordered = (((bins - _BINS // 2) << 10) + 512).astype(np.int32)
    return (ordered ^ ((ordered >> 31) & 0x7FFFFFFF)).astype(np.int32).view(np.float32).astype(np.float64)


def _ordered(scores):
    """Each float32 as an int32 that grows with it; -0.0 is 0.0."""
    bits = (scores + np.float32(0)).view(np.int32)
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)
