"""Cleaning: no row vanishes uncounted, and nothing depends on the order of the rows."""

import io
import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frostline.artifacts import Job
from frostline.dataset import KINDS, Dataset
from frostline.errors import InputError
from frostline.ingest import clean, run

KINDS_WANTED = {"tags": "categories", "year": "number", "title": "text"}
CATALOGUE = [("i1", ["b ", "a", "b"], 2000.0, " one "), ("i10", [], None, ""), ("i2", None, float("nan"), None)]

weights = st.sampled_from([-1.0, 0.0, 0.1, 0.2, 0.7, 1e16, 3.0])
times = st.none() | st.integers(-5, 5)
rows = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["i1", "i10", "i2", "?"]), times, weights), min_size=1
)
policies = st.sampled_from(["sum", "first", "last", "count"])
profile = settings(database=None, deadline=None)


def dataset(events, catalogue=CATALOGUE, event_rows=None, **kwargs):
    user, item, time, weight = zip(*events, strict=True)
    ids, tags, year, title = zip(*catalogue, strict=True)
    return Dataset(
        interactions=pa.table(
            {
                "user": pa.array(user, pa.string()),
                "item": pa.array(item, pa.string()),
                "time": pa.array(time, pa.int64()),
                "weight": pa.array(weight, pa.float64()),
                "row": pa.array(event_rows or range(2, len(events) + 2), pa.int64()),
            }
        ),
        items=pa.table(
            {
                "item_id": pa.array(ids, pa.string()),
                "tags": pa.array(tags, KINDS["categories"]),
                "year": pa.array(year, pa.float64()),
                "title": pa.array(title, pa.string()),
                "row": pa.array(range(2, len(ids) + 2), pa.int64()),
            }
        ),
        sources={"interactions": "events", "items": "catalogue"},
        **kwargs,
    )


def payload(table: pa.Table) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def usable(events):
    return [event for event in events if event[1] != "?" and event[3] > 0]


@profile
@given(rows.filter(usable), policies, st.randoms(use_true_random=False))
def test_c10_row_order_changes_no_byte(events, repeats, random):
    shuffled, catalogue = random.sample(events, len(events)), random.sample(CATALOGUE, len(CATALOGUE))
    one = clean(dataset(events), KINDS_WANTED, repeats=repeats, missing_content="drop")
    other = clean(dataset(shuffled, catalogue), KINDS_WANTED, repeats=repeats, missing_content="drop")
    assert payload(one[0]) == payload(other[0]) and payload(one[1]) == payload(other[1])
    assert {**one[2], "examples": 0} == {**other[2], "examples": 0}


@profile
@given(rows.filter(usable), policies)
def test_p5_read_is_kept_and_dropped_and_no_good_row_is_lost(events, repeats):
    interactions, _, quality = clean(
        dataset(events, dropped={"too_short": 3}), KINDS_WANTED, repeats=repeats, missing_content="drop"
    )
    counts = quality["interactions"]
    assert counts["read"] == len(events) + 3 == counts["kept"] + sum(counts["dropped"].values())
    assert counts["kept"] == interactions.num_rows
    good = usable(events)
    pairs = list(zip(interactions["user"].to_pylist(), interactions["item"].to_pylist(), strict=True))
    assert pairs == sorted({event[:2] for event in good}), "ids preserved, pairs unique and sorted"
    expected = {
        "no_content": sum(event[1] == "?" for event in events),
        "weight_not_positive": sum(event[1] != "?" and event[3] <= 0 for event in events),
        "repeated_pair": len(good) - len(pairs),
        "too_short": 3,
    }
    assert counts["dropped"] == {reason: number for reason, number in expected.items() if number}
    for reason, examples in quality["examples"].items():
        assert len(examples) == min(5, expected[reason])
        for example in examples:
            event = events[example["row"] - 2]
            assert example["value"] in (str(event[1]), str(event[3]), f"{event[0]}, {event[1]}")
    assert np.isfinite(interactions["weight"].to_numpy()).all() and interactions["weight"].null_count == 0
    found = Counter(item for _, item in pairs)
    assert quality["items"] == {
        "read": 3, "kept": 3, "dropped": {}, "without_interactions": 3 - len(found),
        "with_one_interaction": sum(count == 1 for count in found.values()),
    }  # fmt: skip
    assert quality["users"] == len({user for user, _ in pairs})
    json.dumps(quality, allow_nan=False)


@profile
@given(rows.filter(usable), policies)
def test_repeats_follow_the_stated_rule(events, repeats):
    interactions, _, _ = clean(dataset(events), KINDS_WANTED, repeats=repeats, missing_content="drop")
    late = repeats == "first"
    groups = {}
    for user, item, time, weight in usable(events):
        unknown = float("inf") if late else float("-inf")
        groups.setdefault((user, item), []).append((unknown if time is None else time, weight))
    for row in interactions.to_pylist():
        group = sorted(groups[row["user"], row["item"]])
        time, weight = group[0 if late else -1]
        assert row["time"] == (time if np.isfinite(time) else None)
        if repeats == "sum":
            assert row["weight"] == pytest.approx(sum(weight for _, weight in group))
        else:
            assert row["weight"] == (len(group) if repeats == "count" else weight)


def test_content_is_canonical_and_counted():
    _, items, quality = clean(dataset([("a", "i1", 0, 1.0)]), {"year": "number", "tags": "categories", "title": "text"})
    assert items.to_pylist() == [
        {"item_id": "i1", "year": 2000, "tags": ["a", "b"], "title": "one"},
        {"item_id": "i10", "year": None, "tags": [], "title": ""},
        {"item_id": "i2", "year": None, "tags": [], "title": ""},
    ]
    assert items.column_names == ["item_id", "year", "tags", "title"], "the order of the config"
    assert {name: entry["present"] for name, entry in quality["content"].items()} == {"tags": 1, "year": 1, "title": 1}
    assert quality["content"]["tags"] == {"kind": "categories", "present": 1, "share": 1 / 3}


def test_absent_time_and_weight():
    raw = dataset([("a", "i1", 0, 1.0), ("b", "i1", 0, 1.0)])
    bare = Dataset(raw.interactions.drop(["time", "weight"]), raw.items, raw.sources)
    interactions, _, quality = clean(bare, {})
    assert interactions.column_names == ["user", "item", "weight"] and interactions["weight"].to_pylist() == [1, 1]
    assert quality["time"] is None


def test_time_range_and_notes_are_reported():
    _, _, quality = clean(dataset([("a", "i1", 0, 1.0), ("b", "i1", None, 1.0)], notes=["odd"]), {})
    assert quality["time"] == {"first": "1970-01-01T00:00:00", "last": "1970-01-01T00:00:00", "missing": 1}
    assert quality["notes"] == ["odd"] and quality["files"] == ["catalogue", "events"]


def test_dictionaries_of_ids_may_hold_unused_values_in_any_order():
    raw = dataset([("b", "i2", 0, 1.0), ("a", "i1", 0, 1.0)])
    user = pa.DictionaryArray.from_arrays(pa.array([2, 0], pa.int32()), pa.array(["a", "", "b"]))
    interactions, _, quality = clean(
        Dataset(raw.interactions.set_column(0, "user", user), raw.items, raw.sources), KINDS_WANTED
    )
    assert interactions["user"].to_pylist() == ["a", "b"] and quality["users"] == 2


@pytest.mark.parametrize(
    ("events", "catalogue", "kinds", "message"),
    [
        ([("a", "i1", 0, float("nan"))], CATALOGUE, {}, "events, row 2, field 'weight': nan is not a finite number"),
        ([("a", "i1", 0, None)], CATALOGUE, {}, "events, row 2, field 'weight': None is not"),
        (
            [("a", "i1", 0, 1e308), ("a", "i1", 1, 1e308)],
            CATALOGUE,
            {},
            "sum of weights of a user and an item is infinite",
        ),
        ([(None, "i1", 0, 1.0)], CATALOGUE, {}, "events, row 2, field 'user': None is not an id"),
        (
            [("a", "i1", 0, 1.0)],
            [("i1", [], float("inf"), "")],
            KINDS_WANTED,
            "catalogue, row 2, field 'year': is infinite",
        ),
        (
            [("a", "i1", 0, 1.0)],
            CATALOGUE,
            {"year": "categories"},
            "catalogue, field 'year': holds double and cannot be categories",
        ),
    ],
)
def test_p5_what_a_plug_in_adapter_gets_wrong_is_refused(events, catalogue, kinds, message):
    with pytest.raises(InputError, match=message):
        clean(dataset(events, catalogue), kinds)


def stage(tmp_path, adapter, options, content, inputs, outputs):
    job = Job(
        stage="ingest",
        inputs=inputs,
        outputs={name: str(tmp_path / "out" / file) for name, file in outputs.items()},
        params={"adapter": adapter, "options": options, "content": content},
    )
    run(job)
    return {name: tmp_path / "out" / file for name, file in outputs.items()}


OUTPUTS = {"interactions": "interactions.parquet", "items": "items.parquet", "quality": "quality.json"}


def test_stage_writes_tables_quality_and_truth(tmp_path):
    options = {"users": 30, "items": 20, "interactions": 100}
    written = stage(tmp_path, "synthetic", options, {"year": {"as": "number"}}, {}, OUTPUTS | {"truth": "truth.npz"})
    assert pq.read_table(written["interactions"]).num_rows == 100
    assert pq.read_table(written["items"]).column_names == ["item_id", "year"]
    assert json.loads(written["quality"].read_text())["users"] == 30
    assert np.load(written["truth"])["user_factors"].shape[0] == 30


def test_stage_applies_the_adapters_policies(tmp_path):
    (tmp_path / "clicks.csv").write_text("user,item\nu,i1\nu,i1\nu,i2\n")
    (tmp_path / "products.csv").write_text("item,tags\ni1,x\n")
    inputs = {"interactions": str(tmp_path / "clicks.csv"), "items": str(tmp_path / "products.csv")}
    options = {"interactions": "clicks.csv", "items": "products.csv", "repeats": "count", "missing_content": "drop"}
    written = stage(tmp_path, "table", options, {"tags": {"as": "categories"}}, inputs, OUTPUTS)
    assert pq.read_table(written["interactions"]).to_pydict() == {"user": ["u"], "item": ["i1"], "weight": [2.0]}
    assert json.loads(written["quality"].read_text())["interactions"]["dropped"] == {
        "no_content": 1,
        "repeated_pair": 1,
    }


def test_p5_nothing_is_written_when_the_input_is_refused(tmp_path):
    (tmp_path / "clicks.csv").write_text("user,item\nu,\n")
    (tmp_path / "products.csv").write_text("item\ni1\n")
    inputs = {"interactions": str(tmp_path / "clicks.csv"), "items": str(tmp_path / "products.csv")}
    with pytest.raises(InputError):
        stage(tmp_path, "table", {"interactions": "clicks.csv", "items": "products.csv"}, {}, inputs, OUTPUTS)
    assert not list((tmp_path / "out").iterdir())
