"""Warm scores of a model trained elsewhere, brought as a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np

from frostline.api import Bilinear, of_scores
from frostline.brought import BroughtDonor, Known, Refusal, check_ids, positions
from frostline.errors import suggest
from frostline.faults import Faults
from frostline.tablefile import Column, open_file, require

_ROLES = ("user", "item", "score")


@dataclass(frozen=True)
class Scores(BroughtDonor):
    """A row a pair: every query with every warm item. Text, JSON lines or Parquet, as the adapter `table` reads them.

    Parameters
    ----------
    path : str
        May contain `{seed}`.
    columns : dict
        What the file calls `user`, `item` and `score`, where it has other names for them.
    max_items : int
        Every item stands for itself in a dense matrix, so more warm items are refused.
    """

    path: str
    columns: dict[str, str] = field(default_factory=dict)
    max_items: int = 20_000

    has_factors = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for role in self.columns:
            if role not in _ROLES:
                raise ValueError(f"columns has the unknown key '{role}', {suggest(role, _ROLES)}")

    def files(self) -> Mapping[str, str]:
        return {"scores": self.path}

    def read(self, files: Mapping[str, BinaryIO], names: Mapping[str, str], known: Known) -> Bilinear:
        self.refuse_many_items(len(known.warm), self.max_items)
        source, name = open_file(files["scores"], names["scores"]), names["scores"]
        wanted = {role: self.columns.get(role, role) for role in _ROLES}
        for role, column in wanted.items():
            require(source, column, f"Name the column that holds it as `columns: {{{role}: …}}`")
        table, row = source.read(list(wanted.values()))
        faults = Faults()
        parts = {role: Column(table[column], row, name, column, faults) for role, column in wanted.items()}
        users, items = (parts[role].ids().combine_chunks().dictionary_encode() for role in ("user", "item"))
        score = parts["score"].numbers(missing=True).to_numpy()
        faults.raise_if_any()
        user, item, cold = (
            positions(ids.dictionary, of)[ids.indices.to_numpy()]
            for ids, of in ((users, known.queries), (items, known.warm), (items, known.cold))
        )
        refusal = Refusal(name)
        check_ids(refusal, "user", users, user)
        check_ids(refusal, "item", items, item, cold >= 0)

        def pair(index: int) -> str:
            return f"row {row[index]}: user {users[index].as_py()!r}, item {items[index].as_py()!r}"

        refusal.add("rows without a score", np.isnan(score), pair)
        placed = np.flatnonzero((user >= 0) & (item >= 0))
        cell = user[placed] * len(known.warm) + item[placed]
        repeated = np.zeros(len(user), dtype=bool)
        order = np.argsort(cell, kind="stable")
        repeated[placed[order[1:]]] = cell[order[1:]] == cell[order[:-1]]
        refusal.add("repeated pairs", repeated, pair)
        scores = np.full(len(known.queries) * len(known.warm), np.nan, dtype=np.float32)
        scores[cell] = np.nan_to_num(score[placed])
        n_warm = len(known.warm)
        refusal.add(
            "pairs of a user and a warm item that are missing",
            np.isnan(scores),
            lambda i: f"user {known.queries[i // n_warm].as_py()!r}, item {known.warm[i % n_warm].as_py()!r}",
        )
        refusal.raise_if_any()
        return of_scores(scores.reshape(-1, n_warm))
