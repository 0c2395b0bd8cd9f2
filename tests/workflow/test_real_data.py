"""Real data through the configs that are shipped, one seed each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from .conftest import ROOT, Workspace

pytestmark = pytest.mark.workflow

DATA = Path(os.environ.get("FROSTLINE_DATA", ROOT.parent / "shared/data"))


@pytest.fixture
def data(monkeypatch) -> Path:
    if not DATA.exists():
        assert not os.environ.get("CI"), f"{DATA} must be there in CI"
        pytest.skip(f"real data is not at {DATA}; set FROSTLINE_DATA to its folder")
    monkeypatch.setenv("FROSTLINE_DATA", str(DATA.resolve()))
    return DATA


@pytest.mark.parametrize(
    ("name", "users", "rated", "items", "ratings"),
    [("movielens-100k", 943, 1682, 1682, 100_000), ("movielens-1m", 6040, 3706, 3883, 1_000_209)],
)
def test_movielens_runs_to_a_report(data, tmp_path, name, users, rated, items, ratings):
    """C1–C3 on real data: published counts, and every check of the audit."""
    experiment = yaml.safe_load((ROOT / f"config/{name}.yaml").read_text())["experiments"][name]
    workspace = Workspace(tmp_path, experiment | {"seeds": [42]}, keep_scores=False)
    workspace.run()
    quality = workspace.read_json("ingest/quality.json")
    assert quality["users"] == users
    assert quality["interactions"]["kept"] == ratings
    assert (quality["items"]["kept"], quality["items"]["without_interactions"]) == (items, items - rated)
    verdict = workspace.read_json("audit/verdict.json")
    assert all(verdict["checks"].values())
    assert verdict["decision"] == "transfer"
    split = workspace.read_json("audit/split.json")["summaries"]["42"]
    assert split["folds"]["test"]["items"] == round(0.2 * rated)
    assert split["folds"]["val"]["items"] == round(0.1 * rated)
    assert split["users"] == users and split["queries"] <= users
