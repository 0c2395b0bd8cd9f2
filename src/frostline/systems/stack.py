"""A combination of other systems, learned from val golds, over the candidates that they propose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from frostline.boosting import REPEATABLE
from frostline.errors import FrostlineError
from frostline.seeds import generator, sequence
from frostline.sparse import NEVER, SparseScores
from frostline.systems import Known, Queries, System

DAY = 86_400


@dataclass(frozen=True)
class Proposed:
    """Candidates of all queries, by query and item.

    Attributes
    ----------
    query, item : ndarray of int64, shape (n,)
    features : ndarray of float32, shape (n, n_features)
        NaN where a system did not retrieve the item.
    """

    query: np.ndarray
    item: np.ndarray
    features: np.ndarray

    def cells(self, n_items: int) -> np.ndarray:
        """Positions in the flattened grid of queries × items."""
        return self.query * n_items + self.item

    def take(self, rows: np.ndarray) -> Proposed:
        """Some of the candidates, by a mask."""
        return Proposed(self.query[rows], self.item[rows], self.features[rows])


@dataclass(frozen=True)
class Stack(System):
    """LightGBM (lambdarank) over the union of the systems' best (Wolpert, "Stacked generalization", 1992).

    Of each system it sees score, score as a share of the query's best, and place; of the item how often it was trained on,
    in all and within a month of the query's last event; of the query the length of its history, and whether the item is of
    the domain of its last event and the share of the history that is. On val every query is scored by a model that saw no
    gold of its fold of users.

    Parameters
    ----------
    depth : int
        How many of its best each system proposes.
    trees, leaves : int
    learning_rate : float
    min_pairs : int
        Least number of candidates in a leaf.
    signals : tuple of str
        The systems that are combined; all that learn from no label if it is empty.
    """

    depth: int = 50
    trees: int = 100
    leaves: int = 8
    learning_rate: float = 0.05
    min_pairs: int = 200
    signals: tuple[str, ...] = ()

    learns: ClassVar = True

    def __post_init__(self) -> None:
        if min(self.depth, self.trees, self.min_pairs) < 1 or self.leaves < 2 or self.learning_rate <= 0:
            raise ValueError("depth, trees and min_pairs must be at least 1, leaves at least 2, learning_rate above 0")

    def propose(self, known: Known, queries: Queries, signals: Sequence[SparseScores]) -> Proposed:
        """The candidates with their features. Nothing of a label."""
        place = generator(known.seed, "systems", "stack").permutation(known.n_items)
        lists = [signal.top(self.depth, place, queries.excluded) for signal in signals]
        n = np.int64(known.n_items)
        cells = np.unique(np.concatenate([(np.arange(len(queries))[:, None] * n + own)[own >= 0] for own in lists]))
        query, item = np.divmod(cells, n)
        columns: list[np.ndarray] = []
        for signal, own in zip(signals, lists, strict=True):
            score = scores_at(signal, cells)
            best = np.full(len(queries), -np.inf)
            np.fmax.at(best, query, score)
            columns += [score, np.divide(score, best[query], out=np.zeros_like(score), where=best[query] > 0)]
            columns.append(_places(own, cells, n))
        columns += _context(known, queries, query, item)
        return Proposed(query, item, np.column_stack(columns).astype(np.float32))

    def learn(self, proposed: Proposed, is_gold: np.ndarray, seed: int) -> dict[str, np.ndarray]:
        """A model of the candidates; `is_gold` of shape (n,). Queries whose gold nobody proposed teach nothing."""
        import lightgbm

        if not is_gold.any():
            raise FrostlineError("stack: no system proposes any val gold, so nothing can be learned. Raise depth")
        taught = np.isin(proposed.query, proposed.query[is_gold])
        query = proposed.query[taught]
        params = {
            "objective": "lambdarank",
            "lambdarank_truncation_level": 20,
            "num_leaves": self.leaves,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": self.min_pairs,
            "seed": int(sequence(seed, "systems", "stack").generate_state(1)[0]) >> 1,
            **REPEATABLE,
        }
        sizes = np.unique(query, return_counts=True)[1]
        data = lightgbm.Dataset(proposed.features[taught], is_gold[taught].astype(np.float32), group=sizes)
        return {"booster": np.array(lightgbm.train(params, data, self.trees).model_to_string())}

    def combine(self, model: Mapping[str, Any], proposed: Proposed) -> np.ndarray:
        """Scores of the candidates, float32, shape (n,)."""
        import lightgbm

        booster = lightgbm.Booster(model_str=str(model["booster"]))
        return booster.predict(proposed.features, num_threads=1).astype(np.float32)


def as_scores(proposed: Proposed, values: np.ndarray, n_queries: int, n_items: int) -> SparseScores:
    """Scores of the candidates; what nobody proposed was never retrieved."""
    indptr = np.concatenate([[0], np.cumsum(np.bincount(proposed.query, minlength=n_queries))])
    return SparseScores(csr_array((values, proposed.item, indptr), shape=(n_queries, n_items)), NEVER)


def scores_at(signal: SparseScores, cells: np.ndarray) -> np.ndarray:
    """A system's scores at positions of the flattened grid, float64; NaN where it did not retrieve the item."""
    n_queries, n_items = signal.shape
    row = np.repeat(np.arange(n_queries, dtype=np.int64), np.diff(signal.matrix.indptr))
    stored = row * n_items + signal.matrix.indices
    found = np.broadcast_to(signal.fill, n_items)[cells % n_items].astype(np.float64)
    if len(stored):
        place = np.minimum(np.searchsorted(stored, cells), len(stored) - 1)
        here = stored[place] == cells
        found[here] = signal.matrix.data[place[here]]
    return found


def _places(lists: np.ndarray, cells: np.ndarray, n_items: np.int64) -> np.ndarray:
    """1 / place in a system's list; 0 beyond its end."""
    row, place = np.nonzero(lists >= 0)
    found = np.zeros(len(cells))
    found[np.searchsorted(cells, row * n_items + lists[row, place])] = 1 / (place + 1)
    return found


def _context(known: Known, queries: Queries, query: np.ndarray, item: np.ndarray) -> list[np.ndarray]:
    train, history = known.train, queries.history
    size = np.bincount(history.query, minlength=len(queries))
    columns = [np.log1p(np.bincount(train.item, minlength=known.n_items))[item], np.log1p(size)[query]]
    last = np.flatnonzero(history.lag == 0)
    if train.time is not None:
        now = np.zeros(len(queries), np.int64)
        now[history.query[last]] = history.time[last]
        columns += [_around(train.item, train.time, item, now[query], days) for days in (7, 30, 120)]
    if known.domain is not None:
        of_last = np.full(len(queries), -1)
        of_last[history.query[last]] = known.domain[history.item[last]]
        counts = np.zeros((len(queries), known.domain.max() + 1))
        np.add.at(counts, (history.query, known.domain[history.item]), 1)
        share = counts / np.maximum(size, 1)[:, None]
        columns += [of_last[query] == known.domain[item], share[query, known.domain[item]]]
    return columns


def _around(events: np.ndarray, time: np.ndarray, item: np.ndarray, now: np.ndarray, days: int) -> np.ndarray:
    """How often an item was taken within some days of a moment."""
    start = int(time.min())
    span = int(max(time.max(), now.max(initial=start))) - start + 2 * days * DAY + 2
    keys = np.sort(events.astype(np.int64) * span + (time - start))
    at = item.astype(np.int64) * span
    low = at + np.clip(now - start - days * DAY, 0, None)
    high = at + np.clip(now - start + days * DAY, 0, span - 1)
    return np.searchsorted(keys, high, "right") - np.searchsorted(keys, low, "left")
