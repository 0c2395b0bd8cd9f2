"""Stage `split`: say which items are cold, and give each interaction to the one file that may hold it.

This is the only stage that sees warm and cold interactions together. What it writes is all that later stages know:
`train` holds interactions of warm items alone; those of a cold item are in its fold's label file and nowhere else.
Which items are cold is drawn (`frostline.drawing`) or a matter of time (`frostline.temporal`).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.artifacts import Job
from frostline.drawing import draw_items
from frostline.errors import InputError
from frostline.folds import TEST, VAL, WARM
from frostline.split_options import TEMPORAL, Split, TemporalSplit
from frostline.temporal import NOWHERE, cut, describe_items
from frostline.twins import identities


def run(job: Job) -> None:
    """Read `interactions` and `catalogue` (the ingested items); write everything under `split/`."""
    given, seed = job.params["split"], job.params["seed"]
    options = TemporalSplit(**given) if given.get("kind") == TEMPORAL else Split(**given)
    interactions = job.read_table("interactions")
    category_field = job.params["category"]
    known = job.read_table("catalogue")

    n_users = len(pc.unique(interactions["user"]))
    if isinstance(options, TemporalSplit):
        interactions, fold_of, by_time = _cut(interactions, options)
    item_ids = pc.unique(interactions["item"]).sort()
    item = pc.index_in(interactions["item"], item_ids).to_numpy()
    counts = np.bincount(item, minlength=len(item_ids))
    rows = pc.index_in(item_ids, known["item_id"].combine_chunks())
    categories = [()] * len(item_ids)
    if category_field:
        categories = known[category_field].combine_chunks().take(rows).to_pylist()
    if isinstance(options, TemporalSplit):
        draw = describe_items(fold_of, counts, categories, by_time, options)
    else:
        # An item that is listed twice is not new as long as its other listing is warm: both stay warm.
        is_twin = identities(known)[rows.to_numpy()] >= 0
        draw = draw_items(np.where(is_twin, 0, counts), categories, options, seed, job.params.get("folds"))
        draw.report["listed_twice"] = int(is_twin.sum())

    user_ids = pc.unique(interactions["user"]).sort()
    user = pc.index_in(interactions["user"], user_ids).to_numpy()
    is_train = draw.fold[item] == WARM
    has_history = np.bincount(user[is_train], minlength=len(user_ids)) > 0
    query_row = np.cumsum(has_history) - 1
    keep = has_history[user]

    summary = {"seed": seed, "users": n_users, "queries": int(has_history.sum()), **draw.report, "folds": {}}
    for fold in (WARM, VAL, TEST):
        in_fold = draw.fold[item] == fold
        kept = np.flatnonzero(in_fold & keep)
        table = {
            "query": pa.array(query_row[user[kept]], pa.int32()),
            "item": pa.array(item[kept], pa.int32()),
            **{
                column: interactions[column].take(kept)
                for column in ("time", "weight")
                if column in interactions.column_names
            },
        }
        job.write_table("train" if fold == WARM else fold, pa.table(table))
        summary["folds"][fold] = {
            "items": int((draw.fold == fold).sum()),
            "interactions": int(in_fold.sum()),
            "interactions_of_users_without_history": int((in_fold & ~keep).sum()),
            "queries_with_relevant": len(np.unique(query_row[user[kept]])),
        }
    for fold in (VAL, TEST):
        if not summary["folds"][fold]["queries_with_relevant"]:
            raise InputError(
                f"seed {seed}: no user has both a training interaction and one in {fold}-cold items",
                "Use more data, or a larger share of cold items",
            )
    job.write_table("items", pa.table({"item_id": item_ids, "fold": pa.array(draw.fold)}))
    job.write_table("queries", pa.table({"query": user_ids.filter(pa.array(has_history))}))
    job.write_table(
        "strata",
        pa.table({
            "item": pa.array(np.arange(len(item_ids)), pa.int32()),
            "category": pa.array(draw.category),
            "bucket": pa.array(draw.bucket),
            "stratum": pa.array(draw.stratum),
        }),
    )  # fmt: skip
    job.write_json("summary", summary)


def _cut(interactions: pa.Table, options: TemporalSplit) -> tuple[pa.Table, np.ndarray, dict]:
    """The interactions that have a place in the split by time, the folds of their items by id, and the report."""
    if "time" not in interactions.column_names:
        raise InputError(
            "split.kind temporal: the interactions have no times",
            "Name the column of times, or use split.kind stratified, which needs none",
        )
    user, item = (
        pc.index_in(interactions[name], pc.unique(interactions[name]).sort()).to_numpy() for name in ("user", "item")
    )
    time = interactions["time"]
    first_time = pc.subtract(time, interactions["since_first"])
    found = cut(user, item, _masked(time), _masked(first_time), options)
    return interactions.filter(pa.array(found.kept)), found.fold[found.fold != NOWHERE], found.report


def _masked(time: pa.ChunkedArray) -> np.ma.MaskedArray:
    return np.ma.array(time.fill_null(0).to_numpy(), mask=pc.is_null(time).to_numpy())
