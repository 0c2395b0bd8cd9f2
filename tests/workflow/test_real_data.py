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


LIGHT = {"seeds": [42], "donors": {}, "methods": {"content_profile": {}}}
"""One seed and one method: what is tested is the data."""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("movielens-latest-small", {"read": 100_836, "kept": 100_836, "users": 610, "items": 9_742, "unseen": 18}),
        # Twelve ratings are zero, of which one is a film's only one.
        ("movietweetings-100k", {"read": 100_000, "kept": 99_988, "users": 16_554, "items": 10_506, "unseen": 1}),
        ("ifdb", {"read": 71_033, "kept": 61_147, "users": 3_004, "items": 6_103, "unseen": 161}),
    ],
)
def test_P5_other_real_data_runs_to_a_report(data, tmp_path, name, expected):
    experiment = yaml.safe_load((ROOT / f"config/{name}.yaml").read_text())["experiments"][name]
    workspace = Workspace(tmp_path, experiment | LIGHT, keep_scores=False)
    workspace.run()
    quality = workspace.read_json("ingest/quality.json")
    found = {
        "read": quality["interactions"]["read"],
        "kept": quality["interactions"]["kept"],
        "users": quality["users"],
        "items": quality["items"]["kept"],
        "unseen": quality["items"]["without_interactions"],
    }
    assert found == expected
    assert not [note for note in quality["notes"] if "UNEXPECTED" in note]
    assert all(workspace.read_json("audit/verdict.json")["checks"].values())
    assert (tmp_path / "results/small/report/index.html").exists()


@pytest.mark.parametrize("name", ["movielens-1m-temporal", "movietweetings-100k-temporal", "ifdb-temporal"])
def test_C9_real_data_split_by_time_runs_to_a_report(data, tmp_path, name):
    experiment = yaml.safe_load((ROOT / f"config/{name}.yaml").read_text())["experiments"][name]
    workspace = Workspace(tmp_path, experiment | LIGHT, keep_scores=False)
    workspace.run()
    checks = workspace.read_json("audit/verdict.json")["checks"]
    assert all(checks.values()) and "each interaction is of its file's own time" in checks
    summary = workspace.read_json("audit/split.json")["summaries"]["42"]
    kept = workspace.read_json("ingest/quality.json")["interactions"]["kept"]
    periods = summary["temporal"]["periods"]
    assert sum(period["interactions"] for period in periods) + summary["temporal"]["left_out"]["unknown_time"] == kept
    assert summary["folds"]["warm"]["interactions"] == periods[0]["interactions"], (
        "all that happened up to T1 is trained on"
    )
    page = (tmp_path / "results/small/report/index.html").read_text()
    assert "Cut by time" in page and "vary the model only" in page
