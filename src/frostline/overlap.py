"""Which items of the interactions have content, and what to say when few do."""

from __future__ import annotations

import re
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.dataset import Dataset
from frostline.errors import InputError
from frostline.ids import Ids, coded, is_missing, place_among

UNKNOWN, NO_ID = -2, -1
_COMPARED = 100_000


class Overlap:
    """Places items among those that have content, and remembers the others."""

    def __init__(self, item_ids: pa.StringArray) -> None:
        self._item_ids = item_ids
        self._absent = Ids()
        self._rows = self._rows_absent = 0
        self._first: tuple[str | None, int] | None = None

    def place(self, ids: pa.ChunkedArray | pa.Array, row: np.ndarray, batch: pa.Table) -> np.ndarray:
        """Place of each id among the items with content, `UNKNOWN` where it has none, `NO_ID` where it is missing."""
        place = place_among(ids, self._item_ids)
        unknown = np.flatnonzero(place < 0)
        if len(unknown):
            code, names = coded(ids.take(pa.array(unknown)))
            place[unknown] = np.where(np.append(is_missing(names), True), NO_ID, UNKNOWN)[code]
        absent = np.flatnonzero(place == UNKNOWN)
        if len(absent):
            self._absent.encode(ids.take(pa.array(absent)))
            if self._first is None:
                at = int(absent[0])
                file = batch["file"][at].as_py() if "file" in batch.column_names else None
                self._first = file, int(row[at])
        self._rows, self._rows_absent = self._rows + len(row), self._rows_absent + len(absent)
        return place

    def refuse_if_little(self, dataset: Dataset, users: pa.StringArray, missing_content: str) -> None:
        """Refuse interactions whose items have no content: all always, some unless they are to be dropped."""
        if self._first is None:
            return
        catalogue, field = dataset.sources["items"], dataset.columns.get("item", "item")
        file, row = self._first[0] or dataset.sources["interactions"], self._first[1]
        absent = self._absent.values
        shown = ", ".join(map(repr, absent[:3].to_pylist()))
        if self._rows_absent == self._rows:
            there = ", ".join(map(repr, self._item_ids[:3].to_pylist())) or "nothing"
            raise InputError(
                f"none of its items is in {catalogue}: it has {shown}, there is {there}",
                self._likely(users) or "Give two columns of the same ids, written alike",
                file=file,
                field=field,
            )
        if missing_content == "error":
            raise InputError(
                f"{len(absent)} items of {self._rows_absent} interactions are not in {catalogue}, such as {shown}",
                self._likely(users)
                or "Add their rows there, or leave these interactions out by `data: {missing_content: drop}`",
                file=file,
                row=dataset.line_of(file, row),
                field=field,
            )

    def _likely(self, users: pa.StringArray) -> str | None:
        """What probably went wrong, if it can be told."""
        if self._rows_absent == self._rows and pc.any(pc.is_in(users, self._item_ids)).as_py():
            return "Users are among the items: it seems that the two columns are swapped"
        alike = {_plain(name): name for name in islice(self._item_ids.to_pylist(), _COMPARED)}
        for name in islice(self._absent.values.to_pylist(), _COMPARED):
            if _plain(name) in alike:
                return f"Write ids alike: {name!r} here seems to be {alike[_plain(name)]!r} there"
        return None


def _plain(name: str) -> str:
    """An id without what differs when programs write the same one."""
    return re.sub(r"^0+(?=\d)|\.0+$", "", name.strip().casefold())
