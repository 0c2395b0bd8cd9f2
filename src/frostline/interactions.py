"""Cleaning of interactions: from batches of rows in any order to unique pairs, sorted, a part at a time.

Their number is what fills the memory, so no row is kept as an object: ids become numbers as they are read, numbers are
packed (see `packed`), and sorting goes from one range of users to the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from frostline.dataset import Dataset
from frostline.drops import Drops
from frostline.errors import InputError
from frostline.faults import Faults
from frostline.ids import Ids
from frostline.overlap import NO_ID, UNKNOWN, Overlap
from frostline.packed import Packed, ranges

PART = 2**18
"""Rows that are sorted at once; of more than 128 times as many, a 128th."""


BATCH = 2**18
"""Rows that are read at once."""


@dataclass(frozen=True)
class Interactions:
    """Usable rows of a data set.

    Attributes
    ----------
    users : Ids
    rows : Packed
        `user` and `item` (places among the ids), `weight`, `time`, `timeless` (whether the time is unknown), `shift` (the
        row in its file, less the place in `rows`) and `file` (place among `files`).
    files : list of str
    drops : Drops
    has_time, has_weight : bool
        Whether the source gives them.
    """

    users: Ids
    rows: Packed
    files: list[str]
    drops: Drops
    has_time: bool
    has_weight: bool


def read(
    dataset: Dataset, item_ids: pa.StringArray, repeats: str, missing_content: str, min_weight: float | None
) -> Interactions:
    """Read all batches; refuse and drop what `frostline.ingest.clean_to` says."""
    users, rows, drops, faults, overlap = Ids(), Packed(), Drops(), Faults(), Overlap(item_ids)
    files: list[str] = []
    columns: set[str] = set()
    source = dataset.interactions
    for batch in [source] if isinstance(source, pa.Table) else _joined(source):
        columns |= set(batch.column_names)
        origin = _Origin(dataset, batch, files)
        user, item = users.encode(batch["user"]), overlap.place(batch["item"], origin.row, batch)
        for role, code in (("user", user), ("item", item)):
            origin.note(faults, role, code == NO_ID, "is not an id", "Fill in the id or remove the row")
        weight = np.ones(len(user))
        if "weight" in batch.column_names:
            weight = batch["weight"].fill_null(np.nan).to_numpy()
            origin.note(faults, "weight", ~np.isfinite(weight), "is not a finite number", "Mend or remove the row")
        has_content = item >= 0
        origin.drop(drops, "no_content", item == UNKNOWN, "item")
        origin.drop(drops, "weight_not_positive", has_content & (weight <= 0), "weight")
        is_low = np.zeros(len(user), dtype=bool)
        if min_weight is not None and "weight" in batch.column_names:
            is_low = has_content & (weight > 0) & (weight < min_weight)
            origin.drop(drops, "weight_below_minimum", is_low, "weight")
        kept = np.flatnonzero(has_content & (user >= 0) & (weight > 0) & ~is_low)
        time = batch["time"] if "time" in batch.column_names else pa.chunked_array([pa.nulls(len(user), pa.int64())])
        rows.append(
            user=user[kept],
            item=item[kept],
            weight=weight[kept],
            time=time.fill_null(0).to_numpy()[kept],
            timeless=time.is_null().to_numpy()[kept],
            shift=origin.row[kept] - (len(rows) + np.arange(len(kept))),
            file=origin.file[kept],
        )
    rows.close()
    drops.include(dataset.dropped, dataset.examples)
    faults.raise_if_any(dataset.line_of)
    overlap.refuse_if_little(dataset, users.values, missing_content)
    name = dataset.sources["interactions"]
    if repeats in ("first", "last") and "time" not in columns:
        raise InputError(
            f"has no times, and `repeats: {repeats}` needs them",
            "Name the column of times, or use sum or count",
            file=name,
        )
    if min_weight is not None and "weight" not in columns:
        raise InputError(
            f"has no weights, and `min_weight: {min_weight:g}` needs them", "Name the column of weights", file=name
        )
    if not len(rows):
        raise InputError("no interaction is left after cleaning", "Look at its weights and items", file=name)
    return Interactions(users, rows, files, drops, "time" in columns, "weight" in columns)


def _joined(batches: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The same rows in batches of at least `BATCH`: the known ids are hashed anew for each."""
    waiting: list[pa.Table] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= BATCH:
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)


def unique_pairs(
    found: Interactions, item_ids: pa.StringArray, repeats: str, order_too: bool = False
) -> Iterator[tuple[pa.Table, np.ndarray, np.ndarray]]:
    """Sorted pairs of user and item, each once, a range of users at a time, see `frostline.ingest.clean_to`.

    With each table come the places of its users among `found.users`, and of its items among `item_ids`. What becomes one
    row with others is counted in `found.drops`. `found` is used up.
    """
    rows = found.rows
    rows.replace("user", found.users.sort())
    counts = rows.counts("user", len(found.users.values))
    for low, high in ranges(counts, max(PART, len(rows) // 128)):
        part = rows.rows("user", low, high)
        if not len(part["user"]):
            continue
        order, start = _in_order(part, len(item_ids), repeats)
        end = np.append(start[1:], len(order)) - 1
        chosen = order[start if repeats == "first" else end]
        weight = part["weight"]
        if repeats == "sum":
            # Summed in the order of time and weight, because the last bit depends on the order.
            with np.errstate(over="ignore"):
                weight = np.add.reduceat(weight[order], start)
            if not np.isfinite(weight).all():
                raise InputError("the sum of weights of a user and an item is infinite", "Use smaller weights")
        elif repeats == "count":
            weight = (end - start + 1).astype(np.float64)
        else:
            weight = weight[chosen]
        users, items = found.users.values, item_ids
        _drop_repeats(found, part, np.setdiff1d(order, chosen, assume_unique=True), users, items)
        user, item = part["user"][chosen], part["item"][chosen]
        table = {"user": users.take(pa.array(user)), "item": items.take(pa.array(item))}
        if found.has_time:
            table["time"] = pa.array(part["time"][chosen], mask=part["timeless"][chosen])
            table["since_first"] = _since_first(part, order, start, chosen)
        if order_too:
            table["position"] = pa.array(part["place"][chosen])
        yield pa.table(table | {"weight": weight}), user, item


def _since_first(part: Mapping[str, np.ndarray], order: np.ndarray, start: np.ndarray, chosen: np.ndarray) -> pa.Array:
    earliest = np.minimum.reduceat(part["time"][order], start)
    is_doubtful = np.logical_or.reduceat(part["timeless"][order], start)
    return pa.array(part["time"][chosen] - earliest, mask=is_doubtful)


def _in_order(part: Mapping[str, np.ndarray], n_items: int, repeats: str) -> tuple[np.ndarray, np.ndarray]:
    """Order by user, item and, within a pair, time and weight; and where each pair starts in it."""
    pair = part["user"] * n_items + part["item"]
    # Not the stable sort, which takes five times as long: what is equal here is sorted again below.
    order = np.argsort(pair)
    start = np.flatnonzero(np.diff(pair[order], prepend=-1))
    if len(start) < len(order):
        # Most pairs occur once, and only the others need the slower sort.
        size = np.diff(start, append=len(order))
        repeated = np.repeat(size > 1, size)
        members = np.sort(order[repeated])
        # An unknown time counts as earlier than any, for `first` as later.
        unknown = np.iinfo(np.int64).max if repeats == "first" else np.iinfo(np.int64).min
        time = np.where(part["timeless"][members], unknown, part["time"][members])
        order[repeated] = members[np.lexsort((part["weight"][members], time, pair[members]))]
    return order, start


def _drop_repeats(found: Interactions, part: Mapping[str, np.ndarray], index: np.ndarray, users, items) -> None:
    def describe(i: int) -> tuple[str, str]:
        at = index[i]
        return found.files[part["file"][at]], f"{users[part['user'][at]]}, {items[part['item'][at]]}"

    found.drops.add("repeated_pair", (part["place"] + part["shift"])[index], describe)


class _Origin:
    """Where the rows of a batch come from."""

    def __init__(self, dataset: Dataset, batch: pa.Table, files: list[str]) -> None:
        self._dataset, self._batch, self._files = dataset, batch, files
        self.row = batch["row"].to_numpy()
        if "file" in batch.column_names:
            names = batch["file"].combine_chunks().dictionary_encode()
            files += [name for name in names.dictionary.to_pylist() if name not in files]
            place = np.array([files.index(name) for name in names.dictionary.to_pylist()])
            self.file = place[names.indices.to_numpy()]
        else:
            name = dataset.sources["interactions"]
            files += [] if name in files else [name]
            self.file = np.full(len(batch), files.index(name))

    def note(self, faults: Faults, role: str, wrong: np.ndarray, problem: str, remedy: str) -> None:
        index = np.flatnonzero(wrong)
        for file in np.unique(self.file[index]):
            here = index[self.file[index] == file]
            value = self._batch[role][int(here[0])].as_py()
            column = self._dataset.columns.get(role, role)
            faults.add(self._files[file], column, problem, remedy, self.row[here], value)

    def drop(self, drops: Drops, reason: str, dropped: np.ndarray, role: str) -> None:
        index = np.flatnonzero(dropped)

        def describe(i: int) -> tuple[str, str]:
            return self._files[self.file[index[i]]], str(self._batch[role][int(index[i])].as_py())

        drops.add(reason, self.row[index], describe)
