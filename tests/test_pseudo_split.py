"""Playing warm items cold: what the rest learns from, and that no cold item has a part in it (C17)."""

import numpy as np
import pyarrow as pa
import pytest

from frostline import pseudo_split
from frostline.errors import InputError

N_USERS, N_FOLDS = 12, 3
FOLD = np.array(["warm", "val", "warm", "warm", "test", "warm", "warm", "warm", "val", "warm"])


def lay_out(files):
    rng = np.random.default_rng(5)
    pairs = [(user, item) for user in range(N_USERS) for item in np.flatnonzero(FOLD == "warm") if rng.random() < 0.6]
    pairs = [(user, item) for user, item in pairs if item != 7 or user == 0]  # item 7 has one interaction at most
    query, item = (pa.array(column, pa.int32()) for column in zip(*pairs, strict=True))
    files.put("items.parquet", pa.table({"item_id": [f"i{n}" for n in range(len(FOLD))], "fold": FOLD.tolist()}))
    files.put("queries.parquet", pa.table({"query": [f"u{n:02}" for n in range(N_USERS)]}))
    files.put("train.parquet", pa.table({"query": query, "item": item, "weight": np.arange(len(pairs), dtype="f4")}))
    return {(f"i{item}", user, weight) for weight, (user, item) in enumerate(pairs)}


def run(files, part, folds=N_FOLDS):
    names = ("items", "queries", "train", "val")
    files.run(
        pseudo_split.run,
        {name: f"{name}.parquet" for name in names[:3]},
        {name: f"pseudo{part}.{name}.parquet" for name in names},
        folds=folds,
        part=part,
        min_interactions=2,
        seed=1,
    )
    return [files.get(f"pseudo{part}.{name}.parquet").to_pydict() for name in names]


def test_every_warm_item_is_cold_once_and_nothing_is_lost(files):
    known = lay_out(files)
    warm_ids = [f"i{n}" for n in np.flatnonzero(FOLD == "warm")]
    cold_ids = []
    for part in range(N_FOLDS):
        items, queries, train, val = run(files, part)
        assert items["item_id"] == warm_ids  # C17: no cold item, not even its name
        assert queries == files.get("queries.parquet").to_pydict()
        found = {}
        for fold, table in (("warm", train), ("val", val)):
            assert {items["fold"][item] for item in table["item"]} == {fold}
            found[fold] = {
                (items["item_id"][item], query, weight)
                for item, query, weight in zip(table["item"], table["query"], table["weight"], strict=True)
            }
        assert found["warm"] | found["val"] == known and not found["warm"] & found["val"]
        cold_ids += [name for name, fold in zip(items["item_id"], items["fold"], strict=True) if fold == "val"]
    # The item that is too rare to be cold stays warm, as in the seed's own split.
    assert sorted(cold_ids) == sorted(set(warm_ids) - {"i7"})


def test_more_folds_than_items_is_refused(files):
    lay_out(files)
    with pytest.raises(InputError, match="6 warm items with at least 2 interactions cannot be divided into 7 folds"):
        run(files, 0, folds=7)
