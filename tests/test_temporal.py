"""Row C9 and Rulings 12, 13: the split by time, against its definition on the raw rows."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from frostline import split
from frostline.dataset import Dataset
from frostline.errors import InputError
from frostline.ingest import clean
from frostline.split_options import TemporalSplit
from frostline.time_check import time_check

OUTPUTS = [f"{name}.parquet" for name in ("items", "queries", "train", "val", "test", "strata")] + ["summary.json"]
FAR = 4_000_000_000


def ingested(rows, repeats="sum"):
    """Raw rows (user, item, time) as ingest leaves them."""
    users, items, times = zip(*rows, strict=True)
    table = {"user": users, "item": items, "time": pa.array(times, pa.int64()), "row": range(1, len(rows) + 1)}
    names = sorted(set(items))
    catalogue = {"item_id": names, "tags": [[f"t{len(name) % 2}"] for name in names], "row": range(1, len(names) + 1)}
    interactions, items, _ = clean(
        Dataset(pa.table(table), pa.table(catalogue), {"interactions": "clicks.csv", "items": "items.csv"}),
        {"tags": "categories"},
        repeats=repeats,
    )
    return interactions, items


def run(files, tables, seed=1, **options):
    files.put("interactions.parquet", tables[0])
    files.put("catalogue.parquet", tables[1])
    chosen = TemporalSplit("temporal", **{"val_folds": 2, "popularity_buckets": 2} | options)
    params = {"split": dataclasses.asdict(chosen), "category": "tags", "seed": seed}
    files.run(split.run, ["interactions.parquet", "catalogue.parquet"], OUTPUTS, **params)
    return {name.partition(".")[0]: files.get(name) for name in OUTPUTS}


def pairs(found, name):
    """(user, item) → time of a file."""
    queries, items = found["queries"]["query"].to_pylist(), found["items"]["item_id"].to_pylist()
    columns = (found[name][column].to_pylist() for column in ("query", "item", "time"))
    return {(queries[query], items[item]): time for query, item, time in zip(*columns, strict=True)}


def iso(seconds):
    return str(np.datetime64(seconds, "s"))


def random_rows(seed, unknown):
    """Few users, items and moments, so that pairs repeat, times tie and cuts fall on them; some times are unknown."""
    rng = np.random.default_rng(seed)
    n = rng.integers(30, 150)
    item = rng.integers(0, 15, n)
    columns = rng.integers(0, 10, n), item, 2 * item + rng.integers(0, 12, n), rng.random(n) < unknown
    return [(f"u{u}", f"i{i:02}", None if no_time else int(t)) for u, i, t, no_time in zip(*columns, strict=True)]


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0, 0.03]),
    st.integers(8, 20),
    st.integers(3, 12),
    st.sampled_from(["sum", "first", "last", "count"]),
)
def test_C9_every_interaction_is_where_its_time_and_its_items_first_appearance_say(
    folder, seed, unknown, t1, gap, repeats
):
    rows, t2 = random_rows(seed, unknown), t1 + gap
    tables = ingested(rows, repeats)
    try:
        found = run(folder(), tables, t1=iso(t1), t2=iso(t2))
    except InputError:
        assume(False)
    times_of_item, times_of_pair = {}, {}
    for user, item, time in rows:
        times_of_item.setdefault(item, []).append(time)
        times_of_pair.setdefault((user, item), []).append(time)
    # The definition, on raw rows. A pair's one time is that of its last row, or of its first by `repeats: first`.
    first = {item: min((t for t in times if t is not None), default=None) for item, times in times_of_item.items()}
    expected = {"train": {}, "val": {}, "test": {}}
    for (user, item), times in times_of_pair.items():
        start = first[item]
        if None in times or start is None:
            continue
        time = min(times) if repeats == "first" else max(times)
        if start <= t1:
            if time <= t1:
                expected["train"][user, item] = time
        elif None not in times_of_item[item]:
            if start <= t2 and time <= t2:
                expected["val"][user, item] = time
            elif start > t2:
                expected["test"][user, item] = time
    with_history = {user for user, _ in expected["train"]}
    assert found["queries"]["query"].to_pylist() == sorted(with_history)
    for name, of_file in expected.items():
        assert pairs(found, name) == {pair: time for pair, time in of_file.items() if pair[0] in with_history}
    # And what C9 promises, in its own words.
    fold = dict(zip(found["items"]["item_id"].to_pylist(), found["items"]["fold"].to_pylist(), strict=True))
    for item, name in fold.items():
        if name != "warm":
            times = times_of_item[item]
            assert min(times) > t1 if name == "val" else min(times) > t2
    for user, item in pairs(found, "train"):
        assert fold[item] == "warm"
        assert all(time <= t1 for time in times_of_pair[user, item]) or repeats == "first"
    summary = found["summary"]
    lost = sum(part["interactions_of_users_without_history"] for part in summary["folds"].values())
    left_out = sum(summary["temporal"]["left_out"].values())
    assert sum(map(len, expected.values())) + left_out == tables[0].num_rows == len(times_of_pair)
    assert sum(found[name].num_rows for name in expected) + lost + left_out == tables[0].num_rows
    assert summary["temporal"]["items_left_out"] + len(fold) == len(times_of_item)
    assert summary["users"] == len({user for user, *_ in rows})
    seen = [[row for row in rows if row[2] is not None]]
    if all(len(times) == 1 for times in times_of_pair.values()):
        for period, low, high in zip(summary["temporal"]["periods"], (-1, t1, t2), (t1, t2, FAR), strict=True):
            here = [row for row in seen[0] if low < row[2] <= high]
            assert period["interactions"] == len(here)
            assert (period["users"], period["items"]) == tuple(len({row[n] for row in here}) for n in (0, 1))
            assert period["new_items"] == sum(low < time <= high for time in first.values() if time is not None)
            starts = [min(row[2] for row in seen[0] if row[0] == user) for user in {row[0] for row in seen[0]}]
            assert period["new_users"] == sum(low < start <= high for start in starts)


def world(seed=0, n_users=60, n_items=100):
    """Items appear one after the other, each at its own time, and are used from then on."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(n_items):
        users = rng.choice(n_users, rng.integers(3, 12), replace=False)
        times = item * 1000 + np.append(0, rng.integers(1, 40_000, len(users) - 1))
        rows += [(f"u{user:02}", f"i{item:03}", int(time)) for user, time in zip(users, times, strict=True)]
    return [rows[n] for n in rng.permutation(len(rows))]


@pytest.mark.parametrize(("t1", "t2"), [(0.7, 0.8), (0.5, 0.9), (0.25, 0.5)])
def test_C9_quantiles_of_first_appearance_give_the_shares(files, t1, t2):
    found = run(files, ingested(world()), t1=t1, t2=t2)
    shares = [found["summary"]["folds"][fold]["items"] / 100 for fold in ("warm", "val", "test")]
    assert shares == pytest.approx([t1, t2 - t1, 1 - t2])
    # The item number n first appears at 1,000 n, so the 70th is number 69.
    assert found["summary"]["temporal"]["t1"] == iso(round(100 * t1 - 1) * 1000)


def test_C9_seeds_have_the_same_split_and_draw_no_items(folder):
    one, two = folder(), folder()
    tables = ingested(world())
    run(one, tables, seed=1)
    run(two, tables, seed=2)
    assert one.bytes(*OUTPUTS[:-1]) == two.bytes(*OUTPUTS[:-1])
    assert TemporalSplit.replicates == "models"


def test_C9_C10_the_order_of_rows_changes_nothing(folder):
    rows = world(3)
    one, two = folder(), folder()
    run(one, ingested(rows))
    run(two, ingested(rows[::-1]))
    assert one.bytes(*OUTPUTS) == two.bytes(*OUTPUTS)


@pytest.mark.parametrize("seed", range(3))
def test_C9_what_happens_after_t1_changes_no_training(folder, seed):
    """Rewired, doubled or gone: train and the queries are the same."""
    rows, t1, rng = world(seed), 70_000, np.random.default_rng(seed)
    one = run(folder(), ingested(rows), t1=iso(t1), t2=iso(85_000))
    late = [row for row in rows if row[2] > t1]
    users = rng.permutation([user for user, *_ in late])
    rewired = [(str(user), item, time) for user, (_, item, time) in zip(users, late, strict=True)]
    rewired = [row for row in rewired if not any(row[:2] == early[:2] for early in rows if early[2] <= t1)]
    two = run(folder(), ingested([row for row in rows if row[2] <= t1] + rewired[::2]), t1=iso(t1), t2=iso(85_000))
    assert pairs(one, "train") == pairs(two, "train") and one["queries"].equals(two["queries"])
    assert pairs(one, "test") != pairs(two, "test")


def test_C9_an_item_that_was_touched_at_an_unknown_time_is_never_cold(files):
    rows = world()
    found = run(files, ingested([*rows, ("v00", "i099", None), ("v00", "i000", None)]))
    fold = dict(zip(found["items"]["item_id"].to_pylist(), found["items"]["fold"].to_pylist(), strict=True))
    assert "i099" not in fold and fold["i000"] == "warm"
    left_out = found["summary"]["temporal"]["left_out"]
    assert left_out["unknown_time"] == 2
    assert left_out["item_of_unknown_first_appearance"] == sum(row[1] == "i099" for row in rows)


def test_C9_a_pair_that_began_early_makes_no_item_new(files):
    """The user came back after T2: the pair's time is late, but the item's first appearance is not."""
    rows = [row for row in world() if row[1] != "i010"] + [("u00", "i010", 10_000), ("u00", "i010", 95_000)]
    found = run(files, ingested(rows), t1=iso(70_000), t2=iso(85_000))
    assert "i010" not in found["items"]["item_id"].to_pylist()
    assert found["summary"]["temporal"]["items_left_out"] == 1


def test_C9_placeholders_far_off_are_unknown_times(folder):
    """As IFDB's 1980-01-01: many rows, far from all others. What is merely early, or one row, is believed."""
    rows = [(user, item, time + 1_200_000_000) for user, item, time in world()]
    dated = [(f"v{n:02}", "i099", 315_532_800) for n in range(10)]
    one, two = folder(), folder()
    found = run(one, ingested(rows + dated))
    assert found["summary"]["temporal"]["placeholders"] == [{"time": "1980-01-01T00:00:00", "interactions": 10}]
    run(two, ingested(rows + [(user, item, None) for user, item, _ in dated]))
    assert one.bytes(*OUTPUTS[:-1]) == two.bytes(*OUTPUTS[:-1])
    for believed in (dated[:9], [(user, item, 1_199_990_000) for user, item, _ in dated]):
        found = run(folder(), ingested(rows + believed))
        assert found["summary"]["temporal"]["placeholders"] == []
        assert found["summary"]["temporal"]["left_out"]["unknown_time"] == 0


def test_C9_buckets_are_of_a_folds_own_items_by_the_interactions_in_its_file(files):
    rows = world(5)
    found = run(files, ingested(rows), popularity_buckets=2)
    fold, bucket = found["items"]["fold"].to_pylist(), np.array(found["strata"]["bucket"].to_pylist())
    t1, t2 = (np.datetime64(found["summary"]["temporal"][name], "s").astype(int) for name in ("t1", "t2"))
    until = {"warm": t1, "val": t2, "test": FAR}
    for name in until:
        here = np.array([n for n, of in enumerate(fold) if of == name])
        ids = [found["items"]["item_id"][int(n)].as_py() for n in here]
        counts = np.array([sum(row[1] == item and row[2] <= until[name] for row in rows) for item in ids])
        assert (bucket[here] == (counts > np.median(counts))).all()


@pytest.mark.parametrize(
    ("times", "says"),
    [
        (lambda rows: [(*row[:2], None) for row in rows], r"the time of ([\d,]+) of \1 interactions is unknown"),
        (
            lambda rows: [(*row[:2], row[2] if n % 3 == 0 else None) for n, row in enumerate(rows)],
            "interactions is unknown",
        ),
        (lambda rows: [(*row[:2], 1_000_000_000) for row in rows], "every interaction has the same time, 2001-09-09"),
        (
            lambda rows: [(*row[:2], 1_000_000_000 + (row[2] if n % 3 == 0 else 0)) for n, row in enumerate(rows)],
            "interactions have the same time, 2001-09-09T01:46:40, which looks like a placeholder",
        ),
        (
            lambda rows: [(*row[:2], 1_000_000_000 + row[2] if n % 3 == 0 else 0) for n, row in enumerate(rows)],
            "is unknown or one of the placeholders 1970-01-01T00:00:00",
        ),
    ],
)
def test_C9_useless_times_are_refused(files, times, says):
    with pytest.raises(InputError, match=f"split.kind temporal: .*{says}.*split.kind stratified, which needs none"):
        run(files, ingested(times(world())))
    assert not [path for path in files.folder.iterdir() if path.name in OUTPUTS], "nothing half-written"


def test_C9_no_times_at_all_are_refused(files):
    interactions, items = ingested(world())
    with pytest.raises(InputError, match=r"the interactions have no times\. Name the column of times, or use"):
        run(files, (interactions.drop_columns(["time"]), items))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"t1": iso(200_000), "t2": iso(300_000)},
            "no item first appears between t1 and t2 .* from 1970-01-01T00:00:00",
        ),
        ({"t1": "1960-01-01", "t2": iso(30_000)}, "no item first appears up to t1"),
        ({"t1": iso(50_000), "t2": iso(300_000)}, "no item first appears after t2"),
        ({"t1": 0.9, "t2": iso(30_000)}, "t1 must be before t2"),
        ({"val_folds": 11}, "10 val-cold items cannot be divided into 11 folds"),
    ],
)
def test_C9_a_cut_that_leaves_a_fold_empty_is_refused(files, options, says):
    with pytest.raises(InputError, match=says):
        run(files, ingested(world()), **options)


@pytest.mark.parametrize(
    ("name", "time", "says"),
    [
        ("train", 70_001, "1 interactions of train are not up to 1970-01-01T19:26:40"),
        ("train", np.nan, "1 interactions of train"),
        ("val", 70_000, "1 interactions of val are not after that and up to 1970-01-01T22:13:20"),
        ("val", 80_001, "1 interactions of val"),
        ("test", 80_000, "1 interactions of test are not after both"),
    ],
)
def test_C9_the_audit_finds_an_interaction_of_another_period(name, time, says):
    files = {"train": [0, 70_000], "val": [70_001, 80_000], "test": [80_001, FAR]}
    cut = {"t1": iso(70_000), "t2": iso(80_000)}
    columns = {file: {"time": np.array(times, dtype=np.float64)} for file, times in files.items()}
    assert time_check(columns, cut) == ""
    columns[name]["time"][0] = time
    assert says in time_check(columns, cut)
