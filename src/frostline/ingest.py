"""Stage `ingest`: read the data through its adapter, clean it by stated rules, and count what was dropped and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline import registry
from frostline.artifacts import Job
from frostline.dataset import KINDS, MISSING, Dataset
from frostline.errors import InputError

EXAMPLES = 5


def run(job: Job) -> None:
    """Read the adapter's files; write `interactions`, `items`, `quality` and, for generated data, `truth`."""
    content: Mapping[str, Mapping[str, str]] = job.params["content"]
    adapter = registry.load("adapters", job.params["adapter"])(**job.params["options"])
    with ExitStack() as stack:
        files = {name: stack.enter_context(job.open_input(name)) for name in job.inputs}
        dataset = adapter.read(files, content)
    interactions, items, quality = clean(
        dataset,
        {name: options["as"] for name, options in content.items()},
        repeats=getattr(adapter, "repeats", "sum"),
        missing_content=getattr(adapter, "missing_content", "error"),
    )
    job.write_table("interactions", interactions)
    job.write_table("items", items)
    job.write_json("quality", quality)
    if "truth" in job.outputs:
        job.write_arrays("truth", dataset.truth)


def clean(
    dataset: Dataset, kinds: Mapping[str, str], repeats: str = "sum", missing_content: str = "error"
) -> tuple[pa.Table, pa.Table, dict[str, Any]]:
    """Make unique, sorted pairs and typed content of what an adapter has read.

    The tables do not depend on the order of the rows that were read; of the quality report only the examples do.

    Parameters
    ----------
    dataset : Dataset
    kinds : dict
        The wanted content fields in their order, each with its kind (a key of `KINDS`).
    repeats : {'sum', 'first', 'last', 'count'}
        What rows of the same user and item become. `first` and `last` take the row that is first or last in time (of
        the smallest or largest weight at equal times) and need times. `sum` and `count` make the weight the sum of the
        weights or the number of rows, at the time of the last one: no weight then holds what happened after its time.
        An unknown time counts as earlier than any, for `first` as later.
    missing_content : {'error', 'drop'}
        What happens to interactions with items that have no content.

    Returns
    -------
    interactions : pyarrow.Table
        `user`, `item` (string), `time` (int64, null where unknown; absent if the source has none) and `weight`
        (float64, positive; 1 if the source has none), sorted by user and item.
    items : pyarrow.Table
        `item_id` and the wanted fields, sorted by id; also the items without interactions. Categories are sorted lists
        without repeats and empty ones, text is stripped and empty where missing, a missing number is null.
    quality : dict
        What was read, kept and dropped by reason (read = kept + dropped), coverage of content, range of times, notes,
        and up to `EXAMPLES` rows for each reason.

    Raises
    ------
    InputError
        On a missing id, a weight or number that is not finite, an item twice with different content, items without
        content unless they are dropped, files that have no item in common, or if nothing is left.
    """
    items, item_drops = _clean_items(dataset, kinds)
    interactions, drops = _clean_interactions(dataset, items["item_id"].combine_chunks(), repeats, missing_content)
    quality = {
        "files": sorted(set(dataset.sources.values())),
        "interactions": drops.counts(interactions.num_rows),
        "items": item_drops.counts(items.num_rows)
        | {"without_interactions": items.num_rows - pc.count_distinct(interactions["item"]).as_py()},
        "users": pc.count_distinct(interactions["user"]).as_py(),
        "content": {name: _coverage(items[name], kind) for name, kind in kinds.items()},
        "time": _time_range(interactions["time"]) if "time" in interactions.column_names else None,
        "notes": list(dataset.notes),
        "examples": drops.examples | item_drops.examples,
    }
    for section in ("links", "judgements"):
        if (found := getattr(dataset, section)) is not None:
            quality[section] = found
    return interactions, items, quality


class _Drops:
    """Rows of one file that were dropped, by reason: how many, and the first few."""

    def __init__(self, file: str, row: pa.ChunkedArray, before: Mapping[str, int]) -> None:
        self._file, self._row, self._number = file, row.to_numpy(), Counter(before)
        self.examples: dict[str, list[dict[str, Any]]] = {}

    def add(self, reason: str, index: np.ndarray, *columns: pa.ChunkedArray) -> None:
        """Count the rows at `index`; examples show their values in `columns`."""
        if len(index):
            self._number[reason] += len(index)
            first = index[np.argsort(self._row[index], kind="stable")[:EXAMPLES]]
            values = zip(*(column.take(pa.array(first)).to_pylist() for column in columns), strict=True)
            self.examples[reason] = [
                {"file": self._file, "row": int(self._row[i]), "value": ", ".join(map(str, value))}
                for i, value in zip(first, values, strict=True)
            ]

    def counts(self, kept: int) -> dict[str, Any]:
        return {"read": kept + self._number.total(), "kept": kept, "dropped": dict(sorted(self._number.items()))}


def _clean_items(dataset: Dataset, kinds: Mapping[str, str]) -> tuple[pa.Table, _Drops]:
    raw, file = dataset.items, dataset.sources["items"]
    code, ids = _encode_ids(raw["item_id"], raw["row"], file, dataset.columns.get("item_id", "item_id"))
    fields = [_normalised(raw[name], kind, raw["row"], file, name) for name, kind in kinds.items()]
    order = np.argsort(code, kind="stable")
    table = pa.table([ids.take(pa.array(code)), *fields], names=["item_id", *kinds]).take(pa.array(order))
    repeated = np.diff(code[order], prepend=-1) == 0
    again = np.flatnonzero(repeated)
    # Row by row, because nested columns cannot be compared at once, and repeats are few.
    for at, one, other in zip(
        again, table.take(pa.array(again - 1)).to_pylist(), table.take(pa.array(again)).to_pylist(), strict=True
    ):
        if one != other:
            name = next(name for name in kinds if one[name] != other[name])
            before, here = (raw["row"][int(order[i])].as_py() for i in (at - 1, at))
            raise InputError(
                f"item '{one['item_id']}' has {other[name]!r} here but {one[name]!r} in row {before}",
                "Keep one row for each item",
                file=file,
                row=here,
                field=name,
            )
    drops = _Drops(file, raw["row"], dataset.dropped_items)
    drops.add("repeated_item", order[again], raw["item_id"])
    return table.filter(pa.array(~repeated)).combine_chunks(), drops


def _clean_interactions(
    dataset: Dataset, item_ids: pa.StringArray, repeats: str, missing_content: str
) -> tuple[pa.Table, _Drops]:
    raw, file, columns = dataset.interactions, dataset.sources["interactions"], dataset.columns
    has_time = "time" in raw.column_names
    if repeats in ("first", "last") and not has_time:
        raise InputError(
            f"has no times, and `repeats: {repeats}` needs them",
            "Name the column of times, or use sum or count",
            file=file,
        )
    user, user_ids = _encode_ids(raw["user"], raw["row"], file, columns.get("user", "user"))
    item, known_ids = _encode_ids(raw["item"], raw["row"], file, columns.get("item", "item"))
    weight = _weights(raw, file, columns.get("weight", "weight"))
    unknown_time = np.iinfo(np.int64).max if repeats == "first" else np.iinfo(np.int64).min
    time = raw["time"].fill_null(unknown_time).to_numpy() if has_time else np.zeros(raw.num_rows, np.int64)

    item = pc.index_in(known_ids, item_ids).fill_null(-1).to_numpy()[item]
    without_content = item < 0
    if without_content.any():
        _check_overlap(dataset, without_content, item_ids, missing_content)
    drops = _Drops(file, raw["row"], dataset.dropped)
    drops.add("no_content", np.flatnonzero(without_content), raw["item"])
    if "weight" in raw.column_names:
        drops.add("weight_not_positive", np.flatnonzero(~without_content & (weight <= 0)), raw["weight"])
    kept = np.flatnonzero(~without_content & (weight > 0))
    if not len(kept):
        raise InputError("no interaction is left after cleaning", "Look at its weights and items", file=file)

    pair = user[kept].astype(np.int64) * len(item_ids) + item[kept]
    order = np.argsort(pair, kind="stable")
    start = np.flatnonzero(np.diff(pair[order], prepend=-1))
    if len(start) < len(kept):
        order = np.lexsort((weight[kept], time[kept], pair))
    order = kept[order]
    end = np.append(start[1:], len(order)) - 1
    chosen = order[start if repeats == "first" else end]
    if repeats == "sum":
        # Summed in the order of time and weight, because the last bit depends on the order.
        with np.errstate(over="ignore"):
            weight = np.add.reduceat(weight[order], start)
        if not np.isfinite(weight).all():
            raise InputError("the sum of weights of a user and an item is infinite", "Use smaller weights", file=file)
    elif repeats == "count":
        weight = (end - start + 1).astype(np.float64)
    else:
        weight = weight[chosen]
    drops.add("repeated_pair", np.setdiff1d(order, chosen, assume_unique=True), raw["user"], raw["item"])

    table = {"user": user_ids.take(pa.array(user[chosen])), "item": item_ids.take(pa.array(item[chosen]))}
    if has_time:
        table["time"] = pa.array(time[chosen], mask=time[chosen] == unknown_time)
    return pa.table(table | {"weight": weight}), drops


def _check_overlap(
    dataset: Dataset, without_content: np.ndarray, item_ids: pa.StringArray, missing_content: str
) -> None:
    file, catalogue = dataset.sources["interactions"], dataset.sources["items"]
    field = dataset.columns.get("item", "item")
    raw = dataset.interactions
    absent = pc.unique(raw["item"].filter(pa.array(without_content)).cast(pa.string())).to_pylist()
    shown = ", ".join(map(repr, absent[:3]))
    if without_content.all():
        there = ", ".join(map(repr, item_ids[:3].to_pylist())) or "nothing"
        raise InputError(
            f"none of its items is in {catalogue}: it has {shown}, there is {there}",
            "Give two columns of the same ids, written alike",
            file=file,
            field=field,
        )
    if missing_content == "error":
        raise InputError(
            f"{len(absent)} items of {int(without_content.sum())} interactions are not in {catalogue}, such as {shown}",
            "Add their rows there, or leave these interactions out by `data: {missing_content: drop}`",
            file=file,
            row=raw["row"][int(without_content.argmax())].as_py(),
            field=field,
        )


def _encode_ids(ids: pa.ChunkedArray, row: pa.ChunkedArray, file: str, field: str) -> tuple[np.ndarray, pa.StringArray]:
    """Position of each id among the sorted different ids, and these.

    Raises
    ------
    InputError
        When an id is null, blank, or spells a missing value.
    """
    code, values = _encode(ids)
    is_missing = np.append(
        pc.is_in(pc.utf8_trim_whitespace(values), pa.array(MISSING)).to_numpy(zero_copy_only=False), True
    )
    wrong = np.flatnonzero(is_missing[code])
    if len(wrong):
        raise InputError(
            f"{ids[int(wrong[0])].as_py()!r} is not an id ({len(wrong)} rows have none)",
            "Fill in the id or remove the row",
            file=file,
            row=row[int(wrong[0])].as_py(),
            field=field,
        )
    return code, values


def _encode(values: pa.ChunkedArray) -> tuple[np.ndarray, pa.StringArray]:
    """Position of each text among the sorted different ones, the number of these for a null, and these."""
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    values = values.unify_dictionaries().combine_chunks()
    order = pc.sort_indices(values.dictionary).to_numpy()
    rank = np.empty(len(order) + 1, np.int32)
    rank[order], rank[-1] = np.arange(len(order)), len(order)
    return rank[values.indices.fill_null(len(order)).to_numpy()], values.dictionary.take(pa.array(order))


def _weights(raw: pa.Table, file: str, field: str) -> np.ndarray:
    if "weight" not in raw.column_names:
        return np.ones(raw.num_rows)
    weight = raw["weight"].fill_null(np.nan).to_numpy()
    wrong = np.flatnonzero(~np.isfinite(weight))
    if len(wrong):
        row, value = (raw[name][int(wrong[0])].as_py() for name in ("row", "weight"))
        raise InputError(f"{value} is not a finite number", "Mend or remove the row", file=file, row=row, field=field)
    return weight


def _normalised(values: pa.ChunkedArray, kind: str, row: pa.ChunkedArray, file: str, field: str) -> pa.Array:
    """A content field in its kind's canonical form, see `clean`."""
    try:
        values = values.cast(KINDS[kind])
    except pa.ArrowException as error:
        raise InputError(
            f"holds {values.type} and cannot be {kind}",
            "Leave out `as`, or give a kind that fits",
            file=file,
            field=field,
        ) from error
    if kind == "text":
        return pc.utf8_trim_whitespace(values).fill_null("").combine_chunks()
    if kind == "number":
        number = values.fill_null(np.nan).to_numpy()
        wrong = np.flatnonzero(np.isinf(number))
        if len(wrong):
            at = row[int(wrong[0])].as_py()
            raise InputError("is infinite", "Mend the value or leave it empty", file=file, row=at, field=field)
        return pa.array(number, mask=np.isnan(number))
    values = values.combine_chunks()
    owner = pc.list_parent_indices(values).to_numpy()
    code, names = _encode(pa.chunked_array([pc.utf8_trim_whitespace(pc.list_flatten(values)).fill_null("")]))
    named = np.append(pc.not_equal(names, "").to_numpy(zero_copy_only=False), False)[code]
    pairs = np.unique(owner[named] * np.int64(len(names) + 1) + code[named])
    owner, code = np.divmod(pairs, len(names) + 1)
    offsets = np.searchsorted(owner, np.arange(len(values) + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), names.take(pa.array(code)))


def _coverage(values: pa.ChunkedArray, kind: str) -> dict[str, Any]:
    size = {"categories": pc.list_value_length, "text": pc.utf8_length, "number": pc.is_valid}[kind](values)
    present = pc.sum(pc.greater(size.cast(pa.int32()), 0)).as_py() or 0
    return {"kind": kind, "present": present, "share": present / max(len(values), 1)}


def _time_range(time: pa.ChunkedArray) -> dict[str, Any]:
    known = time.drop_null().to_numpy()
    first, last = (str(np.datetime64(int(edge(known)), "s")) if len(known) else None for edge in (np.min, np.max))
    return {"first": first, "last": last, "missing": time.null_count}
