"""Grids: tuned on val alone, every point in the table, nothing of it moved by test labels."""

from __future__ import annotations

import copy
import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from frostline.artifacts import SIDECAR, digest_file

from .conftest import SMALL, Workspace

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def tuned(tmp_path_factory) -> Workspace:
    experiment = copy.deepcopy(SMALL)
    experiment["donors"]["als"]["factors"] = [4, 8]
    experiment["methods"]["linmap"]["alpha"] = [1, 100]
    experiment["methods"]["stacking_full"] = {"C": [0.0001, 0.01]}
    experiment["methods"]["stacking_plus"] = {"folds": [0, 2]}
    workspace = Workspace(tmp_path_factory.mktemp("tuned"), experiment)
    workspace.run()
    return workspace


def table(workspace: Workspace, name: str) -> list[dict]:
    with open(workspace.folder / f"results/small/tables/{name}.csv", newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_point_is_in_the_table_and_the_best_is_chosen(tuned):
    rows = table(tuned, "tuning")
    assert len(rows) == 2 * (2 + 2 * 2 + 2 + 2)
    for seed in "12":
        for system in ("als+knn", "als+linmap", "stacking_full"):
            points = [row for row in rows if (row["seed"], row["system"]) == (seed, system)]
            best = max(points, key=lambda row: float(row["mean"]))
            assert [row["chosen"] for row in points].count("True") == 1 and best["chosen"] == "True"


def test_the_chosen_parameters_are_what_a_run_without_a_grid_gives(tuned, tmp_path):
    """Test figures of a tuned system are those of its chosen point."""
    seed, system = "1", "als+linmap"
    row = next(r for r in table(tuned, "tuning") if (r["seed"], r["system"], r["chosen"]) == (seed, system, "True"))
    experiment = copy.deepcopy(SMALL) | {"seeds": [1]}
    experiment["donors"]["als"] = json.loads(row["donor_params"])
    experiment["methods"]["linmap"] = json.loads(row["method_params"])
    plain = Workspace(tmp_path, experiment)
    plain.run()
    path = f"results/small/seed-{seed}/systems/{system}/test/per_query.parquet"
    assert (plain.folder / path).read_bytes() == (tuned.folder / path).read_bytes()


def test_C6_what_learned_from_val_labels_is_in_the_lineage_and_the_audit_passes(tuned):
    """The one way from val labels to test scores leads through the stages that may learn from them."""
    checks = tuned.read_json("audit/verdict.json")["checks"]
    assert checks and all(checks.values())
    graph = {(edge["source"], edge["target"]): edge["files"] for edge in tuned.read_json("audit/lineage.json")["graph"]}
    assert graph["split", "fit_meta"] == ["items.parquet", "queries.parquet", "val.parquet"]
    assert graph["split", "pseudo_split"] == ["items.parquet", "queries.parquet", "train.parquet"]
    assert graph["fit_meta", "score_meta"] == ["model.npz", "tuned.json"]
    assert ("split", "score_meta") not in graph
    with open(tuned.folder / "results/small/seed-1/systems/stacking_full/test/scores.npy.prov.json") as stream:
        assert not any("test.parquet" in file for file in json.load(stream)["ancestors"])


def test_C5_no_choice_and_no_score_moves_with_the_test_labels(tuned):
    """C5, P3: permuted test labels change the evaluation and nothing before it."""
    before = tuned.payloads()
    for seed in (1, 2):
        path = tuned.folder / f"results/small/seed-{seed}/split/test.parquet"
        labels = pq.read_table(path)
        cold, position = np.unique(labels["item"].to_numpy(), return_inverse=True)
        # Every cold item's labels go to another one: no query has an item twice, and no label is lost.
        permuted = np.random.default_rng(seed).permutation(cold)[position]
        column = labels.column_names.index("item")
        pq.write_table(labels.set_column(column, "item", [permuted]), path)
        sidecar = path.with_name(f"{path.name}{SIDECAR}")
        sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {"digest": digest_file(path)}))
    tuned.run()
    after = tuned.payloads()
    decided = [path for path in before if path.endswith(("chosen.json", "tuned.json", "scores.npy", "model.npz"))]
    assert len(decided) > 20
    assert [path for path in decided if before[path] != after[path]] == []
    changed = {path for path in before if before[path] != after[path]}
    assert any(path.endswith("/test/per_query.parquet") for path in changed)
    assert not any("/val/" in path for path in changed)
