"""A model of the user's own as the donor, and the items that are really new."""

from __future__ import annotations

import copy
import csv

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from .conftest import SMALL, Workspace

pytestmark = pytest.mark.workflow


def write_scores(workspace: Workspace, seed: int, extra: list[tuple[str, str]]) -> None:
    """Scores of all users and warm items, at random, and of some pairs more."""
    split = workspace.folder / f"results/small/seed-{seed}/split"
    items = pq.read_table(split / "items.parquet").to_pylist()
    users = pq.read_table(split / "queries.parquet")["query"].to_pylist()
    pairs = [(user, item["item_id"]) for user in users for item in items if item["fold"] == "warm"] + extra
    score = np.random.default_rng(seed).random(len(pairs))
    columns = {"user": [user for user, _ in pairs], "item": [item for _, item in pairs], "score": score}
    pq.write_table(pa.table(columns), workspace.folder / f"mine-{seed}.parquet")


def test_C8_a_brought_donor_is_judged_and_one_that_scores_a_cold_item_is_refused(tmp_path):
    experiment = copy.deepcopy(SMALL) | {"seeds": [1]}
    experiment["donors"] = {"mine": {"donor": "scores", "path": "mine-{seed}.parquet"}}
    experiment["methods"] = {"knn": {"k": 5}, "magnitude_scaling": {}}
    workspace = Workspace(tmp_path, experiment)
    workspace.run("results/small/seed-1/split/train.parquet")
    items = pq.read_table(tmp_path / "results/small/seed-1/split/items.parquet").to_pylist()
    cold = next(item["item_id"] for item in items if item["fold"] == "test")
    write_scores(workspace, 1, [("u000001", cold)])
    failed = workspace.run(check=False)
    assert failed.returncode == 1
    text = failed.stdout + failed.stderr
    assert f"mine-1.parquet: cannot be used as a donor: 1 rows of cold items (for example '{cold}')" in text
    assert "Traceback" not in text and not list(tmp_path.rglob("donor.npz"))
    write_scores(workspace, 1, [])
    workspace.run()
    with open(tmp_path / "results/small/tables/leaderboard.csv", newline="") as stream:
        assert "mine+knn" in {row["system"] for row in csv.DictReader(stream)}
    with open(tmp_path / "results/small/tables/left_out.csv", newline="") as stream:
        assert [row["system"] for row in csv.DictReader(stream)] == ["mine+magnitude_scaling"]


def test_new_items_are_ranked_by_what_was_chosen(tmp_path):
    experiment = copy.deepcopy(SMALL) | {"seeds": [1], "recommend": 3}
    experiment["data"] |= {"users": 100, "items": 150, "interactions": 1200}
    experiment["methods"] = {"linmap": {"alpha": [1, 10]}, "stacking_full": {}}
    workspace = Workspace(tmp_path, experiment)
    workspace.run("new_items")
    known = set(pq.read_table(tmp_path / "results/small/ingest/interactions.parquet")["item"].to_pylist())
    catalogue = set(pq.read_table(tmp_path / "results/small/ingest/items.parquet")["item_id"].to_pylist())
    with open(tmp_path / "results/small/recommend/items_per_user.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["item"] for row in rows} <= catalogue - known and len(rows) == 3 * len({row["user"] for row in rows})
    verdict, summary = (workspace.read_json(name) for name in ("audit/verdict.json", "recommend/summary.json"))
    assert summary["system"] == verdict["chosen" if verdict["decision"] == "transfer" else "baseline"]
    assert summary["new_items"] == len(catalogue - known) > 0
    # And those of a file, by the same models.
    ids = sorted(catalogue - known)[:2]
    items = pq.read_table(tmp_path / "results/small/ingest/items.parquet").to_pylist()
    rows = [row for row in items if row["item_id"] in ids]
    with open(tmp_path / "launch.csv", "w", newline="") as stream:
        writer = csv.DictWriter(stream, ["item_id", "categories", "year", "text"])
        writer.writeheader()
        writer.writerows({**row, "categories": "|".join(row["categories"])} for row in rows)
    workspace.configure(experiment | {"new_items": "launch.csv"})
    before = pq.read_table(tmp_path / "results/small/recommend/users_per_item.parquet").to_pylist()
    workspace.run("new_items")
    after = pq.read_table(tmp_path / "results/small/recommend/users_per_item.parquet").to_pylist()
    assert after == [row for row in before if row["item"] in ids] and len(after) == 6
