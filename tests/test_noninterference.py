"""Rulings 5: what the two reruns change and keep, and how their files are compared."""

import numpy as np
import pyarrow as pa
import pytest

from frostline import relabel, rewire, split
from frostline.arbitrary import a_candidate_each
from frostline.artifacts import Job
from frostline.noninterference import compare, in_order, judge, lineage

SPLIT = {
    "test": 0.2,
    "val": 0.2,
    "strata": ["popularity"],
    "popularity_buckets": 2,
    "min_interactions": 2,
    "val_folds": 2,
}
PARTS = ("items", "queries", "train", "val", "strata", "test")


@pytest.fixture
def drawn(files):
    """Interactions and one seed's split, with users that have no training interaction among them."""
    rng = np.random.default_rng(3)
    user, item = np.nonzero(rng.random((60, 40)) < 0.15)
    columns = {"user": [f"u{n:02}" for n in user], "item": [f"i{n:02}" for n in item]}
    columns |= {"time": rng.integers(0, 999, len(user)), "weight": rng.random(len(user))}
    files.put("interactions.parquet", pa.table(columns), stage="ingest")
    files.put("catalogue.parquet", pa.table({"item_id": [f"i{n:02}" for n in range(40)]}), stage="ingest")
    run_split(files, "interactions.parquet", "split")
    return files


def run_split(files, interactions, folder):
    outputs = {name: f"{folder}/{name}.parquet" for name in PARTS} | {"summary": f"{folder}/summary.json"}
    inputs = {"interactions": interactions, "catalogue": "catalogue.parquet"}
    files.run(split.run, inputs, outputs, split=SPLIT, category=None, seed=1)


def rewired(files):
    inputs = {"interactions": "interactions.parquet", "items": "split/items.parquet"}
    files.run(rewire.run, inputs, {"interactions": "rewired.parquet"}, seed=1)
    return files.get("interactions.parquet").to_pandas(), files.get("rewired.parquet").to_pandas()


def test_rewiring_keeps_every_degree_time_and_weight_and_all_pairs_of_other_items(drawn):
    before, after = rewired(drawn)
    test = {row["item_id"] for row in drawn.get("split/items.parquet").to_pylist() if row["fold"] == "test"}
    for side in ("user", "item"):
        assert before[side].value_counts().to_dict() == after[side].value_counts().to_dict()
    assert not after.duplicated(["user", "item"]).any()
    assert after.equals(after.sort_values(["user", "item"], ignore_index=True))
    rest = [table[~table.item.isin(test)].reset_index(drop=True) for table in (before, after)]
    assert rest[0].equals(rest[1])
    facts = [sorted(zip(table.item, table.time, table.weight, strict=True)) for table in (before, after)]
    assert facts[0] == facts[1]
    pairs = [set(zip(table.user, table.item, strict=True)) for table in (before, after)]
    assert len(pairs[0] - pairs[1]) > 0.5 * before.item.isin(test).sum()


def test_a_split_of_the_rewired_interactions_differs_in_the_test_labels_alone(drawn):
    rewired(drawn)
    run_split(drawn, "rewired.parquet", "again")
    names = [*(f"{name}.parquet" for name in PARTS), "summary.json"]
    same = [name for name in names if drawn.bytes(f"split/{name}") == drawn.bytes(f"again/{name}")]
    assert same == [name for name in names if name != "test.parquet"]


def test_relabelling_copies_the_split_and_draws_labels_that_owe_nothing_to_the_true_ones(drawn):
    copied = [name for name in PARTS if name != "test"]
    paths = {name: f"split/{name}.parquet" for name in copied}
    outputs = {name: f"again/{name}.parquet" for name in PARTS}
    drawn.run(relabel.run, paths, outputs, seed=1)
    for name in copied:
        assert drawn.bytes(f"split/{name}.parquet") == drawn.bytes(f"again/{name}.parquet")
    labels, fold = drawn.get("again/test.parquet"), drawn.get("split/items.parquet")["fold"].to_pylist()
    assert labels.schema.equals(drawn.get("split/test.parquet").schema)
    assert labels["query"].to_pylist() == list(range(drawn.get("split/queries.parquet").num_rows))
    assert {fold[item] for item in labels["item"].to_pylist()} == {"test"}
    assert len(set(labels["item"].to_pylist())) > 3


def tree(place, **digests):
    """A lineage of four files in a row, and one that was given."""
    chain = {
        "split/train.parquet": "split",
        "split/test.parquet": "split",
        "b/donor.npz": "fit_donor",
        "a/scores.npy": "score",
    }
    found = {"ingest/items.parquet": {"stage": "ingest", "digest": "0", "inputs": []}}
    parents = ["ingest/items.parquet"]
    for file, stage in chain.items():
        path = f"{place}seed-1/{file}"
        found[path] = {"stage": stage, "digest": digests.get(stage, "0"), "inputs": parents}
        if stage != "split":
            parents = [path]
    found[f"{place}seed-1/split/test.parquet"]["digest"] = place
    path = f"{place}seed-1/systems/x/test/pooled.json"
    found[path] = {"stage": "evaluate", "digest": place, "inputs": parents}
    return found


def found(**changes):
    return compare(tree("r/e/"), tree("r/e/n/", **changes), "r/e/", "r/e/n/")


def test_equal_runs_pass_though_labels_and_figures_differ():
    assert found() == {"compared": 3, "differ": [], "labels_changed": True}
    assert judge(found(), "r/e")["result"] == "passed"


def test_the_first_file_that_differs_is_named_causes_before_effects():
    both = found(fit_donor="1", score="1")
    assert [entry["stage"] for entry in both["differ"]] == ["fit_donor", "score"]
    verdict = judge(both, "r/e")
    assert verdict["result"] == "failed"
    assert verdict["detail"] == (
        "the first that differs is r/e/seed-1/b/donor.npz, made by fit_donor, and 1 more files"
    )


def test_a_file_that_only_one_run_has_differs():
    one, other = tree("r/e/"), tree("r/e/n/")
    del other["r/e/n/seed-1/b/donor.npz"]
    other["r/e/n/seed-1/new.json"] = {"stage": "tune", "digest": "0", "inputs": []}
    differ = compare(one, other, "r/e/", "r/e/n/")["differ"]
    assert [entry["file"] for entry in differ] == ["seed-1/b/donor.npz", "seed-1/new.json"]


def test_a_system_that_is_not_run_again_is_left_out():
    one = tree("r/e/")
    one["r/e/seed-1/systems/oracle/val/pooled.json"] = {"stage": "evaluate", "digest": "5", "inputs": []}
    assert compare(one, tree("r/e/n/"), "r/e/", "r/e/n/")["differ"]
    assert not compare(one, tree("r/e/n/"), "r/e/", "r/e/n/", ["oracle"])["differ"]


def test_labels_that_did_not_change_prove_nothing():
    one, other = tree("r/e/"), tree("r/e/n/")
    other["r/e/n/seed-1/split/test.parquet"]["digest"] = one["r/e/seed-1/split/test.parquet"]["digest"]
    nothing = compare(one, other, "r/e/", "r/e/n/")
    assert not nothing["labels_changed"] and judge(nothing, "r/e")["result"] == "failed"


def test_lineage_is_read_from_the_sidecars(files):
    files.put("a.json", 1, stage="split")
    files.put("b.json", 2, stage="score", inputs=["a.json"])
    found = lineage([files.path("b.json")])
    assert {path: entry["stage"] for path, entry in found.items()} == {
        files.path("a.json"): "split",
        files.path("b.json"): "score",
    }
    assert in_order(found, "", found) == [files.path("a.json"), files.path("b.json")]


def test_an_arbitrary_label_is_a_candidate_where_query_times_item_is_beyond_32_bits(files):
    n, last = 50_000, 49_999
    files.put("items.parquet", pa.table({"item_id": pa.array(np.arange(n))}))
    files.put("queries.parquet", pa.table({"query": pa.array(np.arange(n))}))
    barred = {"query": np.full(n // 2, last, np.int32), "item": np.arange(0, n, 2, dtype=np.int32)}
    files.put("excluded_test.parquet", pa.table(barred))
    names = ("items", "queries", "excluded_test")
    for seed in range(10):
        job = Job("relabel", {name: files.path(f"{name}.parquet") for name in names}, {}, {"seed": seed})
        assert a_candidate_each(job)[last] % 2 == 1
