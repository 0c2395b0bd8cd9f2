"""User and item factors of a model trained elsewhere, brought as two files; a score is their dot product."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from frostline.api import Bilinear
from frostline.brought import BroughtDonor, Known, Refusal, check_ids, positions
from frostline.errors import FrostlineError
from frostline.faults import Faults
from frostline.tablefile import Column, open_file, require


@dataclass(frozen=True)
class Factors(BroughtDonor):
    """A row a query in `users`, a row a warm item in `items`; files of any form that the adapter `table` reads.

    The first file has a column `user`, the second a column `item`; every other column is a factor, in the order of the
    file, and both files have as many. Paths may contain `{seed}`.
    """

    users: str
    items: str

    def files(self) -> Mapping[str, str]:
        return {"users": self.users, "items": self.items}

    def read(self, files: Mapping[str, BinaryIO], names: Mapping[str, str], known: Known) -> Bilinear:
        left = _side(files["users"], names["users"], "user", known.queries, None)
        right = _side(files["items"], names["items"], "item", known.warm, known.cold)
        if left.shape[1] != right.shape[1]:
            raise FrostlineError(
                f"{names['users']} has {left.shape[1]} factors and {names['items']} has {right.shape[1]}. Both need the "
                "same number of columns beside the id"
            )
        return Bilinear(left, right)


def _side(file: BinaryIO, name: str, role: str, known: pa.Array, cold: pa.Array | None) -> np.ndarray:
    source = open_file(file, name)
    require(source, role, f"Call the column of ids '{role}'")
    factors = [column for column in source.columns if column != role]
    if not factors:
        raise FrostlineError(f"{name}: has no column beside '{role}'. Give one a factor")
    table, row = source.read([role, *factors])
    faults = Faults()
    ids = Column(table[role], row, name, role, faults).ids().combine_chunks().dictionary_encode()
    place, is_cold = (
        np.full(len(ids), -1) if of is None else positions(ids.dictionary, of)[ids.indices.to_numpy()]
        for of in (known, cold)
    )
    values = [Column(table[column], row, name, column, faults).numbers(missing=True).to_numpy() for column in factors]
    faults.raise_if_any()
    matrix = np.column_stack(values)
    refusal = Refusal(name)
    check_ids(refusal, role, ids, place, None if cold is None else is_cold >= 0)
    refusal.add(
        "rows with a missing factor", np.isnan(matrix).any(axis=1), lambda i: f"row {row[i]}: {ids[i].as_py()!r}"
    )
    order = np.argsort(place, kind="stable")
    repeated = np.zeros(len(ids), dtype=bool)
    repeated[order[1:]] = (place[order[1:]] == place[order[:-1]]) & (place[order[1:]] >= 0)
    refusal.add(f"repeated {role}s", repeated, lambda i: f"row {row[i]}: {ids[i].as_py()!r}")
    absent = np.ones(len(known), dtype=bool)
    absent[place[place >= 0]] = False
    which = "users with a history" if role == "user" else "warm items"
    refusal.add(f"{which} that are missing", absent, lambda i: repr(known[i].as_py()))
    refusal.raise_if_any()
    found = np.empty(matrix.shape, dtype=np.float32)
    found[place] = matrix
    return found
