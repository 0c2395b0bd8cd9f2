"""A run whose audit fails ends with an error, and with its report."""

from __future__ import annotations

import copy
import subprocess

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

from frostline.adapters.synthetic import Synthetic

from .conftest import SMALL, Workspace

pytestmark = pytest.mark.workflow


def test_items_that_are_listed_twice_fail_the_audit_after_the_report_is_written(tmp_path):
    """The planted leak of the issue: one product under two ids, one of them warm and one cold."""
    data = Synthetic(users=150, items=120, interactions=4000).read({}, {})
    columns = pa.schema([("user", "string"), ("item", "string"), ("time", "int64")])
    interactions = data.interactions.select(columns.names).cast(columns)
    ids = data.items["item_id"].to_pylist()
    tags = ["|".join(names) for names in data.items["categories"].to_pylist()]
    # Every item has a neighbour of the same name and kind.
    columns = {"item_id": ids, "title": [f"product {n // 2}" for n in range(len(ids))]}
    columns["tags"] = [tags[n // 2] for n in range(len(ids))]
    experiment = copy.deepcopy(SMALL) | {
        "data": {"adapter": "table", "interactions": "clicks.csv", "items": "products.csv"},
        "content": [{"field": "tags", "as": "categories", "separator": "|"}, {"field": "title", "as": "text"}],
        "seeds": [1],
        # Where items are drawn both listings stay warm; time does not ask.
        "split": {
            "kind": "temporal",
            "t1": 0.6,
            "t2": 0.8,
            "min_interactions": 3,
            "val_folds": 3,
            "popularity_buckets": 2,
        },
        "methods": {"knn": {"k": 5}},
    }
    pacsv.write_csv(interactions, tmp_path / "clicks.csv")
    pacsv.write_csv(pa.table(columns), tmp_path / "products.csv")
    workspace = Workspace(tmp_path, experiment)
    done = workspace.run(check=False)
    text = done.stdout + done.stderr
    assert done.returncode == 1
    assert "the audit of small found that 1 of " in text
    assert "no cold item is listed twice, warm under another id" in text
    assert f"Report: {tmp_path}/results/small/report/index.html" in text
    assert "Traceback" not in text
    page = (tmp_path / "results/small/report/index.html").read_text()
    assert "1 audit check failed" in page and "listed twice" in page
    # A second start does nothing but say so again.
    assert workspace.planned() == {"accept": 1, "all": 1, "total": 2}
    shown = subprocess.run(
        ["frostline", "audit", "results/small"], cwd=tmp_path, env=workspace.environment, capture_output=True, text=True
    )
    assert shown.returncode == 1 and "\033" not in shown.stdout
    assert "failed    no cold item is listed twice, warm under another id" in shown.stdout
