"""The user's own files: rows in any order, ids of any name."""

from __future__ import annotations

import copy
import gzip
import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from frostline.adapters.synthetic import Synthetic

from .conftest import SMALL, Workspace

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def tables() -> tuple[pa.Table, pa.Table]:
    data = Synthetic(users=150, items=120, interactions=4000).read({}, {})
    interactions = data.interactions.select(["user", "item", "time"])
    interactions = interactions.cast(pa.schema([("user", "string"), ("item", "string"), ("time", "int64")]))
    items = data.items.select(["item_id", "categories", "year"])
    joined = pa.array(["|".join(names) for names in items["categories"].to_pylist()])
    return interactions, items.set_column(1, "categories", joined)


def experiment_on(interactions: str, items: str) -> dict:
    return copy.deepcopy(SMALL) | {
        "data": {"adapter": "table", "interactions": interactions, "items": items},
        "content": [{"field": "categories", "as": "categories", "separator": "|"}, {"field": "year", "as": "number"}],
        "seeds": [1],
    }


def run(folder, interactions: pa.Table, items: pa.Table) -> Workspace:
    pacsv.write_csv(interactions, folder / "clicks.csv")
    pacsv.write_csv(items, folder / "products.csv")
    workspace = Workspace(folder, experiment_on("clicks.csv", "products.csv"))
    workspace.run()
    return workspace


@pytest.fixture(scope="module")
def plain(tables, tmp_path_factory) -> Workspace:
    return run(tmp_path_factory.mktemp("plain"), *tables)


def test_shuffled_rows_give_the_same_bytes(plain, tables, tmp_path):
    """C10: whatever the row order of the input."""
    rng = np.random.default_rng(0)
    shuffled = run(tmp_path, *(table.take(rng.permutation(table.num_rows)) for table in tables))
    # The data's own account may name rows of the file, which did move.
    expected, found = plain.payloads(), shuffled.payloads()
    moved = {path for path in expected if expected[path] != found[path]}
    assert moved <= {"results/small/ingest/quality.json", "results/small/report/index.html"}


@pytest.mark.parametrize("place", ["my données", "my données/*.jsonl.gz"])
def test_a_folder_or_a_pattern_of_files_gives_the_bytes_of_one_file(plain, tables, tmp_path, place):
    """C10: however the input is cut and written, in a path with spaces and letters of any kind."""
    interactions, items = tables
    folder = tmp_path / "my données"
    folder.mkdir()
    for part in range(3):
        rows = interactions.take(list(range(part, interactions.num_rows, 3))).to_pylist()
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"part {part}.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "_SUCCESS").touch()
    pq.write_table(items, tmp_path / "products.parquet")
    experiment = experiment_on(place, "products.parquet")
    workspace = Workspace(tmp_path, experiment)
    target = "results/small/ingest/interactions.parquet"
    workspace.run(target)
    assert (tmp_path / target).read_bytes() == (plain.folder / target).read_bytes()


def test_order_preserving_relabelling_changes_no_metric(plain, tables, tmp_path):
    """C10: through the whole run."""
    interactions, items = tables

    def renamed(table: pa.Table, column: str, prefix: str) -> pa.Table:
        names = pa.array([f"{prefix}-{name}-ж" for name in table[column].to_pylist()])
        return table.set_column(table.column_names.index(column), column, names)

    interactions = renamed(renamed(interactions, "user", "person"), "item", "thing")
    relabelled = run(tmp_path, interactions, renamed(items, "item_id", "thing"))
    for name in ("tables/leaderboard.csv", "audit/verdict.json"):
        path = f"results/small/{name}"
        assert plain.payloads()[path] == relabelled.payloads()[path]
    query = "results/small/seed-1/systems/als+linmap/test/per_query.parquet"
    left, right = (pq.read_table(space.folder / query).drop_columns(["query"]) for space in (plain, relabelled))
    assert left.equals(right)


def test_a_file_replaced_by_an_older_one_is_new_data(plain):
    clicks = plain.folder / "clicks.csv"
    whole, modified = clicks.read_bytes(), clicks.stat()
    try:
        clicks.write_bytes(b"\n".join(whole.splitlines()[:-5]) + b"\n")
        os.utime(clicks, (1_500_000_000, 1_500_000_000))
        assert plain.planned()["ingest"] == 1
    finally:
        clicks.write_bytes(whole)
        os.utime(clicks, ns=(modified.st_atime_ns, modified.st_mtime_ns))
    assert plain.planned() == {}


def test_ids_stay_text(tables, tmp_path):
    interactions, items = tables
    numbered = {name: f"{position:05}" for position, name in enumerate(sorted(items["item_id"].to_pylist()))}

    def renamed(table: pa.Table, column: str) -> pa.Table:
        names = pa.array([numbered[name] for name in table[column].to_pylist()])
        return table.set_column(table.column_names.index(column), column, names)

    workspace = run(tmp_path, renamed(interactions, "item"), renamed(items, "item_id"))
    kept = pq.read_table(workspace.folder / "results/small/ingest/items.parquet")["item_id"].to_pylist()
    assert kept == sorted(numbered.values())
