"""The whole path on a small catalogue: what is written, the same bytes, what reruns, what survives a kill."""

from __future__ import annotations

import copy
import csv
import os
import re
import shutil
import signal
import subprocess
import time

import pytest

from .conftest import ROOT, SMALL, Workspace

pytestmark = pytest.mark.workflow

SYSTEMS = {"random", "constant", "grouped_popularity", "grouped_popularity_personal", "als+knn", "als+linmap", "oracle"}


def leaderboard(workspace: Workspace) -> list[dict]:
    with open(workspace.folder / "results/small/tables/leaderboard.csv", newline="") as stream:
        return list(csv.DictReader(stream))


def with_linmap(alpha: float) -> dict:
    experiment = copy.deepcopy(SMALL)
    experiment["methods"]["linmap"]["alpha"] = alpha
    return experiment


LINMAP_ONLY = {
    "fit_method": 2, "score": 2, "evaluate": 2, "evaluate_val": 2, "select": 2, "aggregate": 1, "strata": 1,
    "beyond": 1, "calibrate": 1, "significance": 1, "export": 1, "audit": 1, "report": 1, "accept": 1, "all": 1, "total": 20,
}  # fmt: skip


def test_every_system_gets_a_row_and_the_audit_passes(finished):
    """C15, C16: baselines and controls are there though the config does not name them."""
    rows = [row for row in leaderboard(finished) if row["metric"] == "ndcg@10" and row["fold"] == "test"]
    assert {row["system"] for row in rows} == SYSTEMS
    # Two resampling terms may add up to more than a metric can be; a table must not say so.
    bounds = [float(row[side]) for row in leaderboard(finished) for side in ("ci_low", "ci_high") if row[side]]
    assert len(bounds) > 500 and 0 <= min(bounds) <= max(bounds) <= 1
    verdict = finished.read_json("audit/verdict.json")
    assert verdict["checks"] and all(verdict["checks"].values())
    assert "<html" in (finished.folder / "results/small/report/index.html").read_text()


def test_constant_is_chance_and_oracle_is_above_all(finished):
    mean = {
        (row["system"], row["metric"]): float(row["mean"])
        for row in leaderboard(finished)
        if row["fold"] == "test" and row["mean"]
    }
    assert mean["constant", "auc"] == pytest.approx(0.5)
    assert mean["constant", "recall@10"] == pytest.approx(10 / 24)
    assert all(mean["oracle", "auc"] > mean[system, "auc"] for system in SYSTEMS - {"oracle"})


def test_the_verdict_is_a_row_of_the_table_of_significance(finished):
    """A7, P4: the interval that decides is the same wherever it stands."""
    verdict = finished.read_json("audit/verdict.json")
    with open(finished.folder / "results/small/tables/significance.csv", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["metric"] == verdict["metric"]]
    compared = {(row["system"], row["reference"]): row for row in rows}
    pair = ("(choice)", verdict["baseline"])
    for name in ("difference", "ci_low", "ci_high"):
        assert float(compared[pair][name]) == pytest.approx(verdict[name], abs=1e-9)
    of_baseline = {row["system"] for row in rows if row["comparison"] == "baseline"}
    assert of_baseline == SYSTEMS - {verdict["baseline"]}


def test_finished_run_has_nothing_to_do(finished):
    assert "Nothing to be done" in finished.run("--dry-run").stdout + finished.run("--dry-run").stderr


def test_same_bytes_from_scratch_with_other_cores(finished, tmp_path):
    """C10: two runs agree in every byte, scores included, whatever --cores."""
    again = Workspace(tmp_path, SMALL)
    again.run(cores=1)
    expected, found = finished.payloads(), again.payloads()
    assert expected.keys() == found.keys()
    assert [path for path in expected if expected[path] != found[path]] == []


def test_changing_alpha_reruns_linmap_alone(copy_of_finished):
    copy_of_finished.configure(with_linmap(20))
    assert copy_of_finished.planned() == LINMAP_ONLY


def test_C12_without_calibration_every_figure_has_the_same_bytes(finished, copy_of_finished):
    copy_of_finished.configure(SMALL | {"calibration": []})
    copy_of_finished.run()
    one, two = finished.payloads(), copy_of_finished.payloads()
    figures = [path for path in one if path.endswith(("per_query.parquet", "per_item.parquet", "pooled.json"))]
    assert len(figures) == 3 * 2 * 2 * len(SYSTEMS)
    assert [path for path in figures if one[path] != two[path]] == []
    page = "results/small/report/index.html"
    assert b"What does a score mean" in one[page] and b"What does a score mean" not in two[page]


def test_touching_the_source_of_linmap_reruns_linmap_alone(finished, tmp_path):
    root = tmp_path / "checkout"
    for name in ("src", "workflow", "profiles"):
        shutil.copytree(ROOT / name, root / name)
    shutil.copy(ROOT / "Snakefile", root)
    workspace = Workspace(tmp_path / "work", SMALL, root)
    subprocess.run(["cp", "-a", f"{finished.folder}/.", str(workspace.folder)], check=True)
    source = root / "src/frostline/methods/linmap.py"
    assert workspace.planned() == {}
    source.write_text(source.read_text() + "\n\nNOTHING = None\n")
    assert workspace.planned() == LINMAP_ONLY


def test_kill_and_second_start_give_the_same_bytes(finished, tmp_path):
    workspace = Workspace(tmp_path, SMALL)
    process = subprocess.Popen(
        workspace.command(),
        cwd=tmp_path,
        env=workspace.environment,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("results/small/seed-*/systems/*/*/per_query.parquet")) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "results/small/report/index.html").exists()
    workspace.run("--unlock")
    workspace.run()
    assert workspace.payloads() == finished.payloads()


def test_test_labels_have_no_consumer_before_evaluate(finished):
    """C2, C5: in the DAG, test.parquet is read by evaluate and audit, and nothing reads interactions but split."""
    lines = finished.run("--detailed-summary").stdout.splitlines()
    header, *rows = (line.split("\t") for line in lines if "\t" in line)
    consumers: dict[str, set[str]] = {}
    for row in rows:
        entry = dict(zip(header, row, strict=True))
        for name in entry["input-file(s)"].split(","):
            consumers.setdefault(name, set()).add(entry["rule"])
    for seed in (1, 2):
        assert consumers[f"results/small/seed-{seed}/split/test.parquet"] == {"evaluate", "audit"}
        assert consumers[f"results/small/seed-{seed}/split/val.parquet"] == {"evaluate_val", "audit"}
        assert consumers[f"results/small/seed-{seed}/split/strata.parquet"] == {"evaluate", "audit"}
    assert consumers["results/small/ingest/interactions.parquet"] == {"split"}


def test_wrong_config_names_the_key_and_starts_nothing(tmp_path):
    experiment = copy.deepcopy(SMALL)
    experiment["methods"]["linmap"] = {"aplha": 1}
    done = Workspace(tmp_path, experiment).run(check=False)
    assert done.returncode == 1
    assert "experiments.small.methods.linmap: unknown key 'aplha', did you mean 'alpha'?" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()


def test_failed_job_shows_its_message_and_its_log(tmp_path):
    experiment = copy.deepcopy(SMALL)
    experiment["split"]["min_interactions"] = 1_000_000
    done = Workspace(tmp_path, experiment).run(check=False)
    text = done.stdout + done.stderr
    assert done.returncode == 1
    assert re.search(r"frostline: error: \d+ items, of which 0 have at least 1000000 interactions", text)
    assert "results/small/logs/seed-1/split.log" in text
    assert "Traceback" not in text
    assert not list(tmp_path.glob("results/small/seed-*/split/*"))


def test_inspect_prints_the_lineage(finished):
    done = subprocess.run(
        ["frostline", "inspect", "results/small/seed-1/systems/als+linmap/test/per_query.parquet"],
        cwd=finished.folder,
        env=finished.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    for file in (
        "split/test.parquet",
        "test/scores.npy",
        "als+linmap/model.npz",
        "donors/als/0/donor.npz",
        "ingest/items.parquet",
    ):
        assert file in done.stdout
