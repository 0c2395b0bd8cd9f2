"""Stage `ingest`: read the data through its adapter, clean it by stated rules, and count what was dropped and why."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from typing import Any

import pyarrow as pa

from frostline import interactions as cleaning
from frostline import registry
from frostline.artifacts import Job
from frostline.catalogue import clean_items
from frostline.dataset import Dataset
from frostline.quality import Quality


def run(job: Job) -> None:
    """Read the adapter's files; write `interactions`, `items`, `quality` and, for generated data, `truth`."""
    content: Mapping[str, Mapping[str, str]] = job.params["content"]
    adapter = registry.load("adapters", job.params["adapter"])(**job.params["options"])
    policy = {name: getattr(adapter, name) for name in POLICIES if hasattr(adapter, name)}
    with ExitStack() as stack, job.table_writer("interactions") as write:
        files: dict[str, Any] = {name: stack.enter_context(job.open_input(name)) for name in job.inputs}
        for name in {name.partition("[")[0] for name in files if "[" in name}:
            parts = job.family(name)
            files[name] = [files.pop(parts[key]) for key in sorted(parts, key=lambda key: int(key[0]))]
        dataset = stack.enter_context(closing(adapter.read(files, content)))
        kinds = {name: options["as"] for name, options in content.items()}
        items, quality = clean_to(write, dataset, kinds, **policy, order=job.params.get("order", False))
    job.write_table("items", items)
    job.write_json("quality", quality)
    if "truth" in job.outputs:
        job.write_arrays("truth", dataset.truth)
    for note in (*quality["notes"], *quality["suspicious"]):
        sys.stderr.write(f"frostline: note: {note}\n")


POLICIES = ("repeats", "missing_content", "min_weight")


def clean(dataset: Dataset, kinds: Mapping[str, str], **policy: Any) -> tuple[pa.Table, pa.Table, dict[str, Any]]:
    """What `clean_to` does, for data whose interactions fit into memory: these as one table, the items, the quality."""
    parts: list[pa.Table] = []
    items, quality = clean_to(parts.append, dataset, kinds, **policy)
    return pa.concat_tables(parts), items, quality


def clean_to(
    write: Callable[[pa.Table], None],
    dataset: Dataset,
    kinds: Mapping[str, str],
    repeats: str = "sum",
    missing_content: str = "error",
    min_weight: float | None = None,
    order: bool = False,
) -> tuple[pa.Table, dict[str, Any]]:
    """Make unique, sorted pairs and typed content of what an adapter has read.

    The tables do not depend on the order of the rows that were read; of the quality report only the examples do.

    Parameters
    ----------
    write : callable
        Takes the interactions, a table at a time: `user`, `item` (string), `time` and `since_first` (absent if the source
        has no times) and `weight` (float64, positive; 1 if the source has none), sorted by user and item. `time` is
        int64, null where unknown; `since_first` the seconds since the pair's first row, null if any of them is of
        unknown time.
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
    min_weight : float, optional
        Rows of less weight are dropped, before repeats are united.
    order : bool
        Whether the interactions get a further column, `position` (int64): the place of their row among those that were read.

    Returns
    -------
    items : pyarrow.Table
        `item_id` and the wanted fields, sorted by id; also the items without interactions. Categories are sorted lists
        without repeats and empty ones, text is stripped and empty where missing, a missing number is null.
    quality : dict
        What was read, kept and dropped by reason (read = kept + dropped), coverage of content, range of times, notes,
        what looks suspicious, and up to `frostline.drops.EXAMPLES` rows for each reason.

    Raises
    ------
    InputError
        On a missing id, a weight or number that is not finite, an item twice with different content, items without
        content unless they are dropped, files that have no item in common, or if nothing is left.
    """
    items, item_drops = clean_items(dataset, kinds)
    item_ids = items["item_id"].combine_chunks()
    found = cleaning.read(dataset, item_ids, repeats, missing_content, min_weight)
    quality = Quality(dataset, kinds, items)
    for table, user, item in cleaning.unique_pairs(found, item_ids, repeats, order):
        quality.count(table, user, item)
        write(table)
    summary = quality.summary(found, item_drops)
    for section in ("links", "judgements"):
        if (counted := getattr(dataset, section)) is not None:
            summary[section] = counted
    return items, summary
