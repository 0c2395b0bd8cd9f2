"""Row C9 on real time stamps: the cut by time against the same told in pandas, and IFDB's placeholders as they were."""

import dataclasses

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from frostline.adapters.ifdb import IFDB
from frostline.adapters.movielens import MovieLens1M
from frostline.adapters.movietweetings import MovieTweetings100K
from frostline.ingest import clean
from frostline.split_options import TemporalSplit
from frostline.temporal import cut


def cut_of(interactions, options):
    codes = [
        interactions[name].dictionary_encode().combine_chunks().indices.to_numpy(zero_copy_only=False)
        for name in ("user", "item")
    ]
    times = [
        np.ma.array(column.fill_null(0).to_numpy(), mask=pc.is_null(column).to_numpy())
        for column in (interactions["time"], pc.subtract(interactions["time"], interactions["since_first"]))
    ]
    return cut(*codes, *times, options)


@pytest.mark.parametrize("adapter_class", [MovieLens1M, MovieTweetings100K, IFDB])
def test_C9_the_cut_of_real_time_stamps_is_that_of_pandas(adapter_class, real):
    dataset = real(adapter_class)
    interactions, _, _ = clean(dataset, {}, missing_content="drop")
    found = cut_of(interactions, TemporalSplit("temporal"))
    raw = pd.DataFrame({name: dataset.interactions[name].to_pandas() for name in ("user", "item", "time")})
    raw = raw[raw["item"].isin(dataset.items["item_id"].to_pylist())]
    if "weight" in dataset.interactions.column_names:
        raw = raw[dataset.interactions["weight"].to_pandas().loc[raw.index] > 0]
    raw["doubtful"] = raw["time"].isna()
    items = raw.groupby("item", observed=True).agg(first=("time", "min"), doubtful=("doubtful", "any"))
    first = items["first"].dropna()
    t1, t2 = (first.sort_values().iloc[int(np.ceil(share * len(first))) - 1] for share in (0.7, 0.8))
    warm = items["first"] <= t1
    fold = pd.Series(
        np.select([warm, items["doubtful"], items["first"] <= t2], ["warm", "", "val"], "test"), items.index
    )
    pairs = raw.groupby(["user", "item"], observed=True).agg(time=("time", "max"), doubtful=("doubtful", "any"))
    pairs = pairs.reset_index()
    place = pairs["item"].astype(str).map(fold)
    until = place.map({"warm": t1, "val": t2, "test": np.inf, "": -np.inf})
    kept = (pairs["time"] <= until) & ~pairs["doubtful"]
    left = fold[fold.index.isin(pairs["item"][kept].astype(str))]
    assert sorted(found.fold[found.fold != ""]) == sorted(left[left != ""])
    assert found.kept.sum() == kept.sum()
    assert [found.report[name] for name in ("t1", "t2")] == [str(np.datetime64(int(t), "s")) for t in (t1, t2)]
    by_fold = pd.Series(found.fold)[interactions["item"].dictionary_encode().combine_chunks().indices.to_pandas()]
    assert by_fold[found.kept].value_counts().to_dict() == place[kept].value_counts().to_dict()


def test_C9_ifdb_as_published_has_1648_placeholders_and_the_same_cut(real):
    """The adapter knows the placeholder; the split finds it too, as it would in a user's own export."""
    dataset = real(IFDB)
    known = clean(dataset, {}, missing_content="drop")[0]
    raw = dataset.interactions
    at = raw.column_names.index("time")
    dated = raw.set_column(at, "time", raw["time"].fill_null(pa.scalar(315_532_800)))
    as_published = clean(dataclasses.replace(dataset, interactions=dated), {}, missing_content="drop")[0]
    options = TemporalSplit("temporal")
    one, two = cut_of(known, options), cut_of(as_published, options)
    assert (one.fold == two.fold).all() and (one.kept == two.kept).all()
    # 360 of the 1,648 are of games without a document.
    assert one.report["left_out"]["unknown_time"] == 1_288 and one.report["placeholders"] == []
    assert two.report["placeholders"] == [{"time": "1980-01-01T00:00:00", "interactions": 1_288}]
