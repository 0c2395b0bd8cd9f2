"""A control: a random list for every query."""

from __future__ import annotations

from dataclasses import dataclass

from frostline.seeds import generator
from frostline.sparse import SparseScores
from frostline.systems import Known, Queries, System, best_in_blocks


@dataclass(frozen=True)
class Random(System):
    """The best of uniformly random scores."""

    needs = ()

    def score(self, model: None, known: Known, queries: Queries) -> SparseScores:
        rng = generator(known.seed, "systems", "random")
        return best_in_blocks(lambda start, stop: rng.random((stop - start, known.n_items), dtype="f4"), known, queries)
