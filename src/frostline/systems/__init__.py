"""What a system is, of the protocols that rank all items: what it is given and what it returns.

One system a file, a frozen dataclass whose fields are its parameters in the config (`systems: {name: {…}}`); a list where
one value is expected is a grid that val resolves. Of another package, by the entry-point group `frostline.systems`. They
get arrays, never paths.

`fit` learns from `Known`, which holds nothing of what is held out. `score` is asked the queries of one fold; their histories
are context, from which nothing is learned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from frostline.ranking import Pairs
from frostline.sparse import NEVER, SparseScores, best_of

CELLS = 1 << 24
"""Cells of a dense block of scores; with the number of items it fixes how many queries are scored at a time."""


@dataclass(frozen=True)
class Events:
    """What happened to queries, by query and in order.

    Attributes
    ----------
    query, item : ndarray of int, shape (n,)
    time : ndarray of int64, shape (n,), or None
        Unix seconds.
    """

    query: np.ndarray
    item: np.ndarray
    time: np.ndarray | None = None

    @cached_property
    def lag(self) -> np.ndarray:
        """How many events of its query come after each; 0 for the last."""
        if not len(self.query):
            return np.empty(0, np.int64)
        last = np.flatnonzero(np.diff(self.query, append=-1))
        return np.repeat(last, np.diff(last, prepend=-1)) - np.arange(len(self.query))

    def matrix(self, n_queries: int, n_items: int, decay: float = 1.0) -> csr_array:
        """decay ** lag for every event, float64, shape (n_queries, n_items)."""
        matrix = csr_array((decay ** self.lag.astype(float), (self.query, self.item)), shape=(n_queries, n_items))
        matrix.sum_duplicates()
        return matrix


@dataclass(frozen=True)
class Known:
    """What a system may learn from.

    Attributes
    ----------
    n_queries, n_items : int
    seed : int
        Of the experiment; spawn streams from it with `frostline.seeds.generator(seed, name)`.
    depth : int
        How many of the best a system must give where it does not score all.
    train : Events
        In `next-item` the sequences but for their held-out ends.
    links : pair of ndarray of int, or None
        In `related-items` the known links, from item to item, each from both its ends.
    domain : ndarray of int, shape (n_items,), or None
        Each item's domain, where there are several.
    content : dict of str to list, or None
        Values of each content field, one an item, for systems that need `content`; and the kinds of the fields.
    kinds : dict of str to str
    """

    n_queries: int
    n_items: int
    seed: int
    depth: int
    train: Events
    links: Pairs | None = None
    domain: np.ndarray | None = None
    content: Mapping[str, list] | None = None
    kinds: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Queries:
    """The queries of one fold.

    Attributes
    ----------
    names : list of str
        In `related-items` a text that is asked may stand for itself, without a history.
    history : Events
        What is known of each when it is asked: the sequence up to the event that is to be found, or the item itself.
    excluded : pair of ndarray of int
        Queries and items that are no candidates. They are left out by the evaluation; a system that gives its best alone
        must not count them among these.
    """

    names: list[str]
    history: Events
    excluded: Pairs

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def _by_query(self) -> tuple[np.ndarray, np.ndarray]:
        query, item = (np.asarray(part) for part in self.excluded)
        order = np.argsort(query, kind="stable")
        return item[order], np.searchsorted(query[order], np.arange(len(self) + 1))

    def barred(self, query: int) -> np.ndarray:
        """The items that are no candidates of one query."""
        items, bounds = self._by_query
        return items[bounds[query] : bounds[query + 1]]


class System:
    """Base of systems.

    Class attributes
    ----------------
    needs : tuple of {'train', 'content'}
        What it learns from.
    learns : bool
        Whether it is a `frostline.systems.stacked.Combination` of other systems, learned from val labels.
    """

    needs: ClassVar[tuple[str, ...]] = ("train",)
    learns: ClassVar[bool] = False

    def fit(self, known: Known) -> Any:
        """Learn a model, whatever `score` needs."""
        return None

    def score(self, model: Any, known: Known, queries: Queries) -> SparseScores:
        """Score all items for every query."""
        raise NotImplementedError


def best_in_blocks(block: Callable[[int, int], np.ndarray], known: Known, queries: Queries) -> SparseScores:
    """The best of dense scores, which are computed some queries at a time; the others count as never retrieved.

    Parameters
    ----------
    block : callable
        Scores of the queries `start:stop`, float, shape (stop − start, n_items).
    """
    from scipy.sparse import vstack

    step = max(1, CELLS // known.n_items)
    barred, column = (np.asarray(part) for part in queries.excluded)
    parts = []
    for start in range(0, len(queries), step):
        stop = min(start + step, len(queries))
        scores = np.array(block(start, stop), dtype=np.float32)
        inside = (barred >= start) & (barred < stop)
        scores[barred[inside] - start, column[inside]] = -np.inf
        parts.append(best_of(scores, known.depth))
    return SparseScores(csr_array(vstack(parts, format="csr")), NEVER)


def all_scores(row: Callable[[int], np.ndarray], n_queries: int) -> SparseScores:
    """Scores of every item, from a function that gives one query's; most may be zero, which is a score like any other."""
    rows = [csr_array(np.asarray(row(query), np.float32)[None, :]) for query in range(n_queries)]
    from scipy.sparse import vstack

    return SparseScores(csr_array(vstack(rows, format="csr")), np.float32(0))


def dense_cosines(queries: np.ndarray, items: np.ndarray) -> SparseScores:
    """Cosine of every query's vector with every item's, zero for empty vectors; float64, shapes (n, d).

    Each different item is scored once: in a product of matrices equal columns differ in their last bits, and would not tie.
    """
    different, which = np.unique(_unit_rows(items), axis=0, return_inverse=True)
    scores = (_unit_rows(queries) @ different.T).astype(np.float32)[:, which.ravel()]
    return SparseScores(csr_array(scores), np.float32(0))


def _unit_rows(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
