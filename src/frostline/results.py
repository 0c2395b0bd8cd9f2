"""Read the figures of all systems and seeds on one fold."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.artifacts import Job
from frostline.bootstrap import SeedResult

_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Results:
    """`per_query`, `per_item` and `pooled` of one fold, keyed by (seed, system)."""

    fold: str
    seeds: tuple[int, ...]
    systems: tuple[str, ...]
    per_query: dict[tuple[int, str], pa.Table]
    per_item: dict[tuple[int, str], pa.Table]
    pooled: dict[tuple[int, str], dict]

    def by_seed(self, metrics: Sequence[str], systems: Sequence[str] | None = None) -> list[SeedResult]:
        """What the bootstrap resamples: columns are systems × metrics, the metrics varying fastest.

        Users and items are numbered by what was measured of them and not by their names, so that renaming them does not
        deal the weights of the bootstrap anew: users of equal figures are interchangeable. All figures count, whichever are
        asked for, so that every table rests on the same draws.
        """
        everything = list(itertools.product(self.systems, self._metrics))
        wanted = [everything.index(column) for column in itertools.product(systems or self.systems, metrics)]
        found = []
        for seed in self.seeds:
            queries = [self.per_query[seed, system] for system in self.systems]
            items = [self.per_item[seed, system] for system in self.systems]
            found.append((
                queries[0]["query"],
                _columns(queries, self._metrics),
                items[0]["item"],
                _columns(items, self._metrics),
                items[0]["relevance"].to_numpy(),
            ))  # fmt: skip
        users = _numbers([(names, values) for names, values, *_ in found])
        items = _numbers([(names, np.column_stack([shares, relevance])) for *_, names, shares, relevance in found])
        return [
            SeedResult(user, values[:, wanted], item, shares[:, wanted], relevance)
            for user, item, (_, values, _, shares, relevance) in zip(users, items, found, strict=True)
        ]

    @property
    def _metrics(self) -> list[str]:
        """What is known both of each query and of each item."""
        of_query, of_item = (next(iter(tables.values())).column_names for tables in (self.per_query, self.per_item))
        return [name for name in of_item if name in of_query]


def read_results(job: Job, fold: str) -> Results:
    """Read from a stage that was given the families `per_query`, `per_item` and `pooled` over seed, system and fold."""
    seeds, systems = tuple(job.params["seeds"]), tuple(job.params["systems"])
    keys = [(seed, system) for seed in seeds for system in systems]
    return Results(
        fold,
        seeds,
        systems,
        {(seed, system): job.read_table(f"per_query[{seed},{system},{fold}]") for seed, system in keys},
        {(seed, system): job.read_table(f"per_item[{seed},{system},{fold}]") for seed, system in keys},
        {(seed, system): job.read_json(f"pooled[{seed},{system},{fold}]") for seed, system in keys},
    )


def _columns(tables: Sequence[pa.Table], metrics: Sequence[str]) -> np.ndarray:
    columns = [table[metric].to_numpy(zero_copy_only=False) for table in tables for metric in metrics]
    return np.column_stack(columns).astype(np.float64)


def _numbers(seeds: Sequence[tuple[pa.ChunkedArray, np.ndarray]]) -> list[np.ndarray]:
    """Number the names that occur in any seed, in an order that their rows of figures in all seeds decide."""
    names = pc.unique(pa.chunked_array([chunk for column, _ in seeds for chunk in column.chunks]))
    rows = [pc.index_in(column, names).to_numpy() for column, _ in seeds]
    key = np.zeros(len(names), dtype=np.uint64)
    for row, (_, values) in zip(rows, seeds, strict=True):
        key *= _ODD
        key[row] += _fingerprint(values)
    number = np.empty(len(names), dtype=np.int64)
    number[np.argsort(key, kind="stable")] = np.arange(len(names))
    return [number[row] for row in rows]


def _fingerprint(values: np.ndarray) -> np.ndarray:
    """A hash of each row's bits: equal rows, and in practice only those, have the same.

    In single precision, because an item's figures are sums over users, whose order moves their last bits.
    """
    key = np.ones(len(values), dtype=np.uint64)
    for column in values.T:
        key = (key ^ np.where(np.isnan(column), -1.0, column).astype(np.float32).view(np.uint32)) * _ODD
        key ^= key >> np.uint64(32)  # short fractions differ in their high bits only, which a product never moves down
    return key


def rounded(value):
    """A number to twelve digits: the last bits of a bootstrap depend on the order of the queries, and so on their ids."""
    return float(f"{value:.12g}") if isinstance(value, float) else value
