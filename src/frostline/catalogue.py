"""Cleaning of items: typed content, each item once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.dataset import KINDS, Dataset
from frostline.drops import Drops
from frostline.errors import InputError
from frostline.faults import Faults
from frostline.ids import Ids, coded


def clean_items(dataset: Dataset, kinds: Mapping[str, str]) -> tuple[pa.Table, Drops]:
    """Items sorted by id with their content in canonical form, see `frostline.ingest.clean_to`."""
    raw = dataset.items
    where = _Where(raw, dataset)
    ids, faults = Ids(), Faults()
    code = ids.encode(raw["item_id"])
    for index in np.flatnonzero(code < 0).tolist():
        file, row = where.raw_row(index)
        value = raw["item_id"][index].as_py()
        column = dataset.columns.get("item_id", "item_id")
        faults.add(file, column, "is not an id", "Fill in the id or remove the row", [row], value)
    faults.raise_if_any(where.line)
    rank = ids.sort()
    code = rank[code]
    fields = [_canonical(raw[name], kind, name, where) for name, kind in kinds.items()]
    order = np.argsort(code, kind="stable")
    table = pa.table([ids.values.take(pa.array(code)), *fields], names=["item_id", *kinds]).take(pa.array(order))
    repeated = np.diff(code[order], prepend=-1) == 0
    again = np.flatnonzero(repeated)
    _refuse_contradictions(table, again, order, kinds, where)
    drops = Drops()
    drops.include(dataset.dropped_items, {})
    rows = raw["row"].to_numpy()[order[again]]
    drops.add(
        "repeated_item", rows, lambda i: (where.raw_row(order[again[i]])[0], table["item_id"][int(again[i])].as_py())
    )
    return table.filter(pa.array(~repeated)).combine_chunks(), drops


class _Where:
    """Places of the items' rows."""

    def __init__(self, raw: pa.Table, dataset: Dataset) -> None:
        self._raw, self._file, self.line = raw, dataset.sources["items"], dataset.line_of

    def raw_row(self, index: int) -> tuple[str, int]:
        file = self._raw["file"][int(index)].as_py() if "file" in self._raw.column_names else self._file
        return file, self._raw["row"][int(index)].as_py()

    def row(self, index: int) -> dict[str, Any]:
        file, row = self.raw_row(index)
        return {"file": file, "row": self.line(file, row)}


def _refuse_contradictions(
    table: pa.Table, again: np.ndarray, order: np.ndarray, kinds: Mapping[str, str], where: _Where
) -> None:
    # Row by row, because nested columns cannot be compared at once, and repeats are few.
    before, here = (table.take(pa.array(at)).to_pylist() for at in (again - 1, again))
    wrong = [i for i, pair in enumerate(zip(before, here, strict=True)) if pair[0] != pair[1]]
    if wrong:
        one, other = before[wrong[0]], here[wrong[0]]
        at = again[wrong[0]]
        name = next(name for name in kinds if one[name] != other[name])
        more = f" (and {len(wrong) - 1} more such rows)" if len(wrong) > 1 else ""
        first = where.row(order[at - 1])
        raise InputError(
            f"item '{one['item_id']}' has {other[name]!r} here but {one[name]!r} in row {first['row']}{more}",
            "Keep one row for each item",
            **where.row(order[at]),
            field=name,
        )


def _canonical(values: pa.ChunkedArray, kind: str, field: str, where: _Where) -> pa.Array:
    try:
        values = values.cast(KINDS[kind])
    except pa.ArrowException as error:
        raise InputError(
            f"holds {values.type} and cannot be {kind}",
            "Leave out `as`, or give a kind that fits",
            file=where.raw_row(0)[0],
            field=field,
        ) from error
    if kind == "text":
        return pc.utf8_trim_whitespace(values).fill_null("").combine_chunks()
    if kind == "number":
        number = values.fill_null(np.nan).to_numpy()
        wrong = np.flatnonzero(np.isinf(number))
        if len(wrong):
            raise InputError("is infinite", "Mend the value or leave it empty", **where.row(wrong[0]), field=field)
        return pa.array(number, mask=np.isnan(number))
    values = values.combine_chunks()
    owner = pc.list_parent_indices(values).to_numpy()
    code, names = coded(pc.utf8_trim_whitespace(pc.list_flatten(values)).fill_null(""))
    order = pc.sort_indices(names).to_numpy()
    rank = np.argsort(order)
    named = pc.not_equal(names, "").to_numpy(zero_copy_only=False)[code]
    pairs = np.unique(owner[named] * np.int64(len(names) + 1) + rank[code[named]])
    owner, code = np.divmod(pairs, len(names) + 1)
    offsets = np.searchsorted(owner, np.arange(len(values) + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), names.take(pa.array(order)).take(pa.array(code)))
