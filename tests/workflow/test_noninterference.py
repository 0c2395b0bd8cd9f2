"""Rulings 5, through the workflow: a clean run is proved clean, and a planted leak fails each of the two reruns."""

from __future__ import annotations

import copy
import json
import shutil

import pytest

from frostline.noninterference import RUNS

from .conftest import ROOT, SMALL, Workspace

pytestmark = pytest.mark.workflow

A_SPLIT_THAT_LEAKS = """

_honest = run


def run(job):
    # A feature of the users that was made before the split: how many items with an even number they took.
    from collections import Counter

    import pyarrow as pa

    interactions = job.read_table("interactions").to_pydict()
    taken = Counter(u for u, i in zip(interactions["user"], interactions["item"]) if int(i[1:]) % 2 == 0)
    tables = {}
    write, job.write_table = job.write_table, tables.__setitem__
    _honest(job)
    names, train = tables["queries"]["query"].to_pylist(), tables["train"]
    weight = pa.array([1.0 + taken[names[query]] for query in train["query"].to_pylist()])
    tables["train"] = train.set_column(train.column_names.index("weight"), "weight", weight)
    for name, table in tables.items():
        write(name, table)
"""
A_DONOR_THAT_LEAKS = """

_honest = run


def run(job):
    # Users whom the test asks about count for more.
    import numpy as np
    import pyarrow as pa

    read = job.read_table
    asked = np.bincount(read("test")["query"].to_numpy(), minlength=read("queries").num_rows)

    def leaky(name, columns=None):
        table = read(name, columns)
        if name == "train" and "weight" in table.column_names:
            weight = pa.array(table["weight"].to_numpy() + asked[table["query"].to_numpy()])
            table = table.set_column(table.column_names.index("weight"), "weight", weight)
        return table

    job.read_table = leaky
    _honest(job)
"""


def test_a_clean_run_is_proved_clean_and_the_report_says_so(copy_of_finished):
    before = copy_of_finished.payloads()
    assert copy_of_finished.read_json("audit/verdict.json")["noninterference"] == "not run"
    copy_of_finished.run("audit_noninterference")
    verdict = copy_of_finished.read_json("audit/verdict.json")
    assert verdict["noninterference"] == "proved" and all(verdict["checks"].values())
    assert set(RUNS.values()) <= set(verdict["checks"])
    proof = copy_of_finished.read_json("audit/noninterference.json")
    assert all(run["labels_changed"] and run["compared"] > 50 for run in proof["runs"].values())
    page = (copy_of_finished.folder / "results/small/report/index.html").read_text()
    assert all(name in page for name in RUNS.values())
    # The original is as it was, and from now on the proof belongs to the run.
    after = copy_of_finished.payloads()
    mine = [path for path in before if "/seed-" in path or "/tables/" in path]
    assert len(mine) > 100 and [path for path in mine if before[path] != after[path]] == []
    assert copy_of_finished.planned() == {}


def test_a_planted_leak_fails_each_of_the_two_reruns(tmp_path):
    root = tmp_path / "checkout"
    for name in ("src", "workflow", "profiles"):
        shutil.copytree(ROOT / name, root / name)
    shutil.copy(ROOT / "Snakefile", root)
    for stage, leak in (("split", A_SPLIT_THAT_LEAKS), ("fit_donor", A_DONOR_THAT_LEAKS)):
        source = root / f"src/frostline/{stage}.py"
        source.write_text(source.read_text() + leak)
    rule = root / "workflow/rules/fit_donor.smk"
    line = '        train=f"{SEED}/split/train.parquet",\n'
    assert rule.read_text().count(line) == 1
    rule.write_text(rule.read_text().replace(line, line + '        test=f"{SEED}/split/test.parquet",\n'))
    experiment = copy.deepcopy(SMALL) | {"seeds": [1], "methods": {"linmap": {"alpha": 10}}}
    workspace = Workspace(tmp_path / "work", experiment, root)
    workspace.run("results/small/audit/noninterference.json")
    checks = {check["name"]: check for check in workspace.read_json("audit/noninterference.json")["checks"]}
    told = {name: checks[title]["detail"] for name, title in RUNS.items()}
    assert {check["result"] for check in checks.values()} == {"failed"}
    assert told["rewired"].startswith(
        "the first that differs is results/small/seed-1/split/train.parquet, made by split"
    )
    assert told["relabelled"].startswith(
        "the first that differs is results/small/seed-1/donors/als/0/donor.npz, made by fit_donor"
    )
    # What does not rest on the donor is the same in the second rerun.
    files = {
        entry["file"] for entry in workspace.read_json("audit/noninterference.json")["runs"]["relabelled"]["differ"]
    }
    assert files and all("als" in file or file.endswith("chosen.json") for file in files), json.dumps(sorted(files))
