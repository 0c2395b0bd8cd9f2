"""The quality report: what was read, and what looks as if it were not what it is taken for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.dataset import Dataset
from frostline.drops import Drops
from frostline.interactions import Interactions

EARLIEST, LATEST = 0, 4_102_444_800
"""Plausible times: from 1970 to 2099. No clock says what the future is, or the same data would not give the same bytes."""


class Quality:
    """Counts the cleaned interactions part by part, and sums up."""

    def __init__(self, dataset: Dataset, kinds: Mapping[str, str], items: pa.Table) -> None:
        self._dataset, self._kinds, self._items = dataset, kinds, items
        self._item_counts = np.zeros(items.num_rows, dtype=np.int64)
        self._user_counts: list[np.ndarray] = []
        self._times = _Range()
        self._weights = _Range()
        self._odd_times = 0

    def count(self, part: pa.Table, user: np.ndarray, item: np.ndarray) -> None:
        """Take note of some users' interactions, all of them; the users and items of its rows are numbered."""
        self._item_counts += np.bincount(item, minlength=len(self._item_counts))
        self._user_counts.append(np.diff(np.flatnonzero(np.diff(user, prepend=-1)), append=len(user)))
        self._weights.add(part["weight"].to_numpy(), 0)
        if "time" in part.column_names:
            known = part["time"].drop_null().to_numpy()
            self._times.add(known, part["time"].null_count)
            self._odd_times += int(((known < EARLIEST) | (known >= LATEST)).sum())

    def summary(self, found: Interactions, item_drops: Drops) -> dict[str, Any]:
        """The content of `ingest/quality.json`."""
        dataset, items = self._dataset, self._items
        users = np.concatenate(self._user_counts)
        line_of = dataset.line_of
        return {
            "files": sorted({*found.files, dataset.sources["items"]}),
            "interactions": found.drops.counts(int(users.sum())),
            "items": item_drops.counts(items.num_rows)
            | {
                "without_interactions": int((self._item_counts == 0).sum()),
                "with_one_interaction": int((self._item_counts == 1).sum()),
            },
            "users": len(users),
            "users_with_one_interaction": int((users == 1).sum()),
            "content": {name: _coverage(items[name], kind) for name, kind in self._kinds.items()},
            "time": self._time_range() if found.has_time else None,
            "notes": list(dataset.notes),
            "suspicious": [*self._suspicious_interactions(found, len(users)), *self._suspicious_content()],
            "examples": found.drops.examples(line_of) | item_drops.examples(line_of),
        }

    def _time_range(self) -> dict[str, Any]:
        first, last = (
            None if edge is None else str(np.datetime64(int(edge), "s")) for edge in (self._times.low, self._times.high)
        )
        return {"first": first, "last": last, "missing": self._times.missing}

    def _suspicious_interactions(self, found: Interactions, n_users: int) -> list[str]:
        notes = []
        name = self._dataset.columns.get
        ids = self._items["item_id"].combine_chunks()
        if len(found.rows) > 1:
            if found.has_weight and self._weights.low == self._weights.high:
                notes.append(f"'{name('weight', 'weight')}' is {self._weights.low:g} in all rows")
            if found.has_time and self._times.low is not None and self._times.low == self._times.high:
                notes.append(
                    f"'{name('time', 'time')}' is {self._time_range()['first']} in all rows: it orders nothing"
                )
            if found.has_time and self._times.low is None:
                notes.append(f"'{name('time', 'time')}' is missing in all rows")
        if self._odd_times:
            notes.append(f"{self._odd_times:,} times are before 1970 or after 2099; they were kept")
        if n_users == 1:
            notes.append("there is one user only")
        if (self._item_counts > 0).sum() == 1:
            notes.append("there are interactions with one item only")
        for what, values in (("users", found.users.values), ("items", ids)):
            padded = values.filter(pc.not_equal(values, pc.utf8_trim_whitespace(values)))
            if len(padded):
                shown = repr(padded[0].as_py())
                notes.append(
                    f"{len(padded):,} {what} have spaces around their id, such as {shown}; ids stay as they are"
                )
        return notes

    def _suspicious_content(self) -> list[str]:
        notes = []
        for name, kind in self._kinds.items():
            values = self._items[name].combine_chunks()
            if kind == "categories":
                names, many = _categories(values)
            else:
                known = values.drop_null() if kind == "number" else values.filter(pc.not_equal(values, ""))
                names, many = pc.unique(known), len(known)
            if not many:
                notes.append(f"no item has a value of '{name}'")
            elif len(names) == 1 and len(values) > 1:
                every = "every item" if many == len(values) else f"every item that has a value ({many:,})"
                notes.append(f"'{name}' is {names[0].as_py()!r} for {every}: it tells items apart no further")
            elif kind == "categories" and len(names) == many > 2:
                notes.append(f"every category of '{name}' occurs once: categories that no two items share say nothing")
        return notes


class _Range:
    """Smallest and largest value, None before the first, and how many are missing."""

    def __init__(self) -> None:
        self.low: float | None = None
        self.high: float | None = None
        self.missing = 0

    def add(self, values: np.ndarray, missing: int) -> None:
        self.missing += missing
        if len(values):
            low, high = values.min().item(), values.max().item()
            self.low = low if self.low is None else min(self.low, low)
            self.high = high if self.high is None else max(self.high, high)


def _categories(values: pa.ListArray) -> tuple[pa.Array, int]:
    """The different categories, and how many memberships there are."""
    flat = pc.list_flatten(values)
    return pc.unique(flat), len(flat)


def _coverage(values: pa.ChunkedArray, kind: str) -> dict[str, Any]:
    size = {"categories": pc.list_value_length, "text": pc.utf8_length, "number": pc.is_valid}[kind](values)
    present = pc.sum(pc.greater(size.cast(pa.int32()), 0)).as_py() or 0
    return {"kind": kind, "present": present, "share": present / max(len(values), 1)}
