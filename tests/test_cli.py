"""The command: light to start, one exit code and one message for an error, and the lineage on request."""

import json
import os
import subprocess
import sys
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest

from frostline import artifacts, cli, imports
from frostline.artifacts import SIDECAR, Job

HEAVY = {"numpy", "pyarrow", "scipy", "pandas", "sklearn", "lightgbm", "implicit", "snakemake", "jinja2", "yaml"}


PROGRAM = """
import sys
from frostline.cli import main
try:
    code = main()
except SystemExit as end:
    code = end.code
{then}
sys.exit(code)
"""


def frostline(*arguments, cwd, then="", **environment):
    """Run the command in a process of its own, then some more code in it."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(then=then), *arguments],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )


def loaded(*packages):
    return f"print('loaded:', *sorted({set(packages)!r} & set(sys.modules)))"


def lay_out(files, world):
    warm, cold = world(1)
    files.put("queries.parquet", pa.table({"query": [f"u{n}" for n in range(9)]}))
    files.put("content.npz", warm.content.to_arrays())
    files.put("cold.npz", cold.to_arrays())
    files.put("donor.npz", {"left": warm.donor.left, "right": warm.donor.right})


SCORE = ["score", "--input", "queries=queries.parquet", "content=content.npz", "cold_test=cold.npz", "donor0=donor.npz"]
KNN = json.dumps({"method": "knn", "points": [{"donor": 0, "options": {"k": 3}}], "seed": 1})


def test_help_lists_every_stage_and_loads_nothing_heavy(tmp_path):
    done = frostline("--help", cwd=tmp_path, then=loaded(*HEAVY))
    assert done.returncode == 0 and done.stdout.endswith("loaded:\n")
    assert {*cli.STAGES, "inspect"} <= {line.split()[0] for line in done.stdout.splitlines() if line.startswith("    ")}


@pytest.mark.parametrize("stage", cli.STAGES)
def test_every_stage_is_a_module_that_can_run(stage):
    assert callable(import_module(f"frostline.{stage}").run)


def test_score_runs_and_loads_no_more_than_it_needs(files, world):
    """Importing sklearn, pandas or lightgbm takes longer than most jobs."""
    lay_out(files, world)
    done = frostline(
        *SCORE, "--output", "scores_test=out/scores.npy", "--params", KNN, "--code", "c0de", "--log", "score.log",
        cwd=files.folder,
        then=loaded("sklearn", "pandas", "lightgbm", "implicit", "snakemake", "jinja2", "numpy", "numpy.f2py"),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "") and done.stdout == "loaded: numpy\n"
    assert files.get("out/scores.npy").shape == (9, 7)
    record = json.loads((files.folder / f"out/scores.npy{SIDECAR}").read_text())
    assert record["stage"] == "score" and record["params"] == json.loads(KNN) and record["code"] == "c0de"
    assert record["inputs"]["donor0"]["file"] == "donor.npz"
    assert (files.folder / "score.log").read_text().startswith("score: ")


def test_evaluate_loads_no_more_than_it_needs(files):
    files.put("items.parquet", pa.table({"item_id": ["a", "b", "c"], "fold": ["test", "warm", "test"]}))
    files.put("queries.parquet", pa.table({"query": ["u"]}))
    files.put("labels.parquet", pa.table({"query": pa.array([0], pa.int32()), "item": pa.array([2], pa.int32())}))
    files.put("scores.npy", np.array([[0, 1]], np.float32))
    files.put("train.parquet", pa.table({"query": pa.array([0], pa.int32()), "item": pa.array([1], pa.int32())}))
    strata = {"item": pa.array([0, 1, 2], pa.int32()), "category": ["x", "x", "y"], "bucket": pa.array([0, 1, 1])}
    files.put("strata.parquet", pa.table(strata))
    params = {"k": [1], "ties": "expected", "fold": "test", "system": "x", "seed": 1}
    params |= {"candidates": "fold", "primary": "ndcg@1", "scrambled": True}
    inputs = [f"{name}={name}.parquet" for name in ("items", "queries", "labels", "strata")]
    inputs += ["history=train.parquet", "scores=scores.npy"]
    outputs = ["per_query=q.parquet", "per_item=i.parquet", "strata=s.parquet", "pooled=p.json"]
    done = frostline(
        "evaluate", "--input", *inputs, "--output", *outputs, "--params", json.dumps(params),
        cwd=files.folder, then=loaded("sklearn", "pandas", "lightgbm", "implicit", "scipy", "pyarrow"),
    )  # fmt: skip
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "loaded: pyarrow\n")
    assert files.get("p.json")["mean"]["recall@1"] == 1


THREADS = """
from dataclasses import dataclass

import numpy as np
from frostline.api import Bilinear, Method
from threadpoolctl import threadpool_info


@dataclass(frozen=True)
class Threads(Method):
    needs = ()

    def score(self, model, warm, cold):
        most = max(pool["num_threads"] for pool in threadpool_info())
        return Bilinear(np.full((warm.n_queries, 1), most, np.float32), np.ones((cold.matrix.shape[0], 1), np.float32))
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_C10_threads_are_pinned_whatever_the_machine_says(threads, files, world):
    """The number of threads can change the last bits of a product, so it comes from the rule and from nowhere else."""
    lay_out(files, world)
    (files.folder / "own_threads.py").write_text(THREADS)
    done = frostline(
        "score", "--input", "queries=queries.parquet", "cold_test=cold.npz", "--output", "scores_test=scores.npy",
        "--params", json.dumps({"method": "own_threads:Threads", "points": [{"donor": 0, "options": {}}], "seed": 1}),
        "--threads", str(threads),
        cwd=files.folder, PYTHONPATH=str(files.folder), OPENBLAS_NUM_THREADS="7", OMP_NUM_THREADS="5",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # On one processor there is one thread, whatever is asked for.
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert (files.get("scores.npy") == min(threads, processors)).all()
    assert json.loads((files.folder / f"scores.npy{SIDECAR}").read_text())["threads"] == threads


@pytest.fixture
def unguarded(monkeypatch):
    """The command in this process, without the hook that could not be taken off again."""
    monkeypatch.setattr(artifacts, "guard", lambda job: None)
    monkeypatch.setattr(imports, "keep_pandas_out", lambda: None)
    for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
        monkeypatch.setenv(f"{library}_NUM_THREADS", "1")


def test_an_error_of_the_users_is_one_message_and_exit_code_1(files, world, monkeypatch, unguarded, capsys):
    lay_out(files, world)
    monkeypatch.chdir(files.folder)
    params = json.dumps({"method": "nearest", "points": [{"donor": 0, "options": {}}], "seed": 1})
    assert cli.main([*SCORE, "--output", "scores_test=scores.npy", "--params", params, "--log", "score.log"]) == 1
    found, log = capsys.readouterr(), (files.folder / "score.log").read_text()
    assert found.out == "" and found.err.startswith("frostline: error: unknown method 'nearest': Allowed: ")
    assert found.err.count("\n") == 1 and log.startswith(found.err) and "Traceback" not in found.err + log
    assert not (files.folder / "scores.npy").exists()


def test_an_input_that_frostline_did_not_write_is_one_message_and_exit_code_1(
    files, world, monkeypatch, unguarded, capsys
):
    lay_out(files, world)
    (files.folder / f"donor.npz{SIDECAR}").unlink()
    monkeypatch.chdir(files.folder)
    assert cli.main([*SCORE, "--output", "scores_test=scores.npy", "--params", KNN]) == 1
    assert capsys.readouterr().err.startswith("frostline: error: donor.npz: has no donor.npz.prov.json beside it")


def test_a_defect_keeps_its_traceback_in_the_log(files, world, monkeypatch, unguarded, capsys):
    lay_out(files, world)
    monkeypatch.chdir(files.folder)
    params = json.dumps({"method": "knn", "points": [{"donor": 0, "options": {"k": 0}}], "seed": 1})
    assert cli.main([*SCORE, "--output", "scores_test=scores.npy", "--params", params, "--log", "score.log"]) == 1
    found, log = capsys.readouterr().err, (files.folder / "score.log").read_text()
    for text in (found, log):
        assert (
            text.startswith("frostline: internal error, please report it\nTraceback") and "k must be at least 1" in text
        )


def test_families_are_declared_by_pattern_and_axes(files, monkeypatch, unguarded):
    for system, value in (("a", 0.2), ("b", 0.4)):
        files.put(f"seed-1-{system}-val.json", {"mean": {"ndcg@5": value}})
    monkeypatch.chdir(files.folder)
    params = json.dumps({"systems": {"a": "system", "b": "system"}, "primary": "ndcg@5"})
    over = ["--over", "system=a,b", "seed=1,2", "fold=val"]
    pattern = "pooled=seed-1-{system}-val.json"
    assert cli.main(["select", "--input", pattern, *over, "--output", "chosen=c.json", "--params", params]) == 0
    assert files.get("c.json")["system"] == "b"
    inputs = json.loads((files.folder / f"c.json{SIDECAR}").read_text())["inputs"]
    assert set(inputs) == {"pooled[a]", "pooled[b]"}


@pytest.mark.parametrize("arguments", [[], ["scor"], ["score", "--threads", "many"], ["inspect"]])
def test_what_is_no_command_is_refused_with_the_usage(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2 and "usage: frostline" in capsys.readouterr().err


@pytest.fixture
def lineage(files, monkeypatch):
    monkeypatch.chdir(files.folder)
    (files.folder / "raw.csv").write_text("a")
    for stage, inputs, output in (
        ("ingest", ["raw.csv"], "table.json"),
        ("split", ["table.json"], "train.json"),
        ("split", ["table.json"], "items.json"),
        ("fit_donor", ["train.json", "items.json"], "donor.json"),
        ("score", ["donor.json", "items.json"], "scores.json"),
    ):
        params = {"factors": 8} if stage == "score" else {}
        Job(stage, {file: file for file in inputs}, {"it": output}, params, code="abc", threads=2).write_json(
            "it", stage
        )


def test_inspect_prints_the_whole_lineage(lineage, capsys):
    assert cli.main(["inspect", "scores.json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "scores.json" and lines[1] == "  stage     score (code abc, threads 2)"
    assert (
        lines[2] == f"  digest    {artifacts.digest_file('scores.json')}" and lines[4] == '  params    {"factors": 8}'
    )
    shown = [(line[: len(line) - len(line.lstrip())], *line.split()[:2]) for line in lines[6:]]
    assert shown == [
        ("  ", "donor.json", "[fit_donor,"),
        ("    ", "train.json", "[split,"),
        ("      ", "table.json", "[ingest,"),
        ("        ", "raw.csv", "[data,"),
        ("    ", "items.json", "[split,"),
        ("      ", "table.json", "[ingest,"),
        ("  ", "items.json", "[split,"),
    ]
    assert [line.endswith("(see above)") for line in lines[6:]] == [False] * 5 + [True, True]
    for line in lines[6:]:
        assert artifacts.digest_file(line.split()[0])[7:19] in line


def test_inspect_says_when_a_file_has_changed_or_is_gone(lineage, files, capsys):
    with open("scores.json", "a") as stream:
        stream.write(" ")
    assert cli.main(["inspect", "scores.json"]) == 0
    assert capsys.readouterr().out.startswith("scores.json  (THE FILE HAS CHANGED SINCE IT WAS WRITTEN)\n")
    os.remove("scores.json")
    assert cli.main(["inspect", "scores.json"]) == 0
    assert capsys.readouterr().out.startswith("scores.json  (the file itself is gone: a temporary result)\n")


def test_inspect_of_a_file_without_lineage_is_an_error(lineage, capsys):
    assert cli.main(["inspect", "raw.csv"]) == 1
    assert capsys.readouterr().err.startswith("frostline: error: raw.csv: has no raw.csv.prov.json beside it")
