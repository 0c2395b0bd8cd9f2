"""P1: the method that the README shows, one file outside the tree, gets a full row."""

from __future__ import annotations

import copy
import csv
import re

import pytest

from .conftest import ROOT, SMALL, Workspace

pytestmark = pytest.mark.workflow


def test_method_of_the_readme_gets_a_full_row(tmp_path):
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL).group(1)
    assert len(code.strip().splitlines()) <= 24
    (tmp_path / "plain_mean.py").write_text(code)
    experiment = copy.deepcopy(SMALL) | {"seeds": [1]}
    experiment["methods"] = {"plain_mean": {"method": "plain_mean:PlainMean", "shrinkage": 2}}
    workspace = Workspace(tmp_path, experiment)
    workspace.run()
    with open(tmp_path / "results/small/tables/leaderboard.csv", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["system"] == "als+plain_mean" and row["fold"] == "test"]
    assert {row["metric"] for row in rows} >= {"ndcg@10", "recall@1", "auc", "auc_pooled", "relaimpr"}
    assert all(row["mean"] for row in rows)
    # Its source counts: editing the plug-in makes its jobs out of date, and only its.
    (tmp_path / "plain_mean.py").write_text(code.replace("shared.sum", "1.0 * shared.sum"))
    planned = workspace.planned()
    assert planned["score"] == 1 and planned["evaluate"] == planned["evaluate_val"] == 1 and "fit_donor" not in planned
