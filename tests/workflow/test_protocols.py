"""One core for all protocols: next-item, related-items and a fourth one that is one file of the user's own, run together."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
import yaml

from .conftest import Workspace

pytestmark = pytest.mark.workflow

COMPLETION = '''
"""Half of what a user took is known; which items are the other half?"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.folds import TEST, WARM
from frostline.protocol import Protocol, Wording
from frostline.query_checks import query_checks
from frostline.seeds import generator


@dataclass(frozen=True)
class Completion(Protocol):
    share: float = 0.5

    baselines = ("popularity",)
    has_val = False
    replicates = "draws"
    drawn = "interactions"
    words = Wording(
        question="A user is a query.", untouched="on the other half", intro="The other half of what each user took.",
        candidate="item", candidates="items", test="the other half", val="nothing",
    )

    def split(self, job):
        interactions, seed = job.read_table("interactions"), job.params["seed"]
        users, items = (pc.unique(interactions[name]).sort() for name in ("user", "item"))
        pairs = {
            "query": pc.index_in(interactions["user"], users).cast(pa.int32()),
            "item": pc.index_in(interactions["item"], items).cast(pa.int32()),
        }
        held = generator(seed, "split").random(len(interactions)) < self.share
        known, asked = (pa.table(pairs).filter(pa.array(rows)) for rows in (~held, held))
        job.write_table("items", pa.table({"item_id": items, "fold": [WARM] * len(items)}))
        job.write_table("queries", pa.table({"query": users}))
        for name in ("train", "history_test", "excluded_test"):
            job.write_table(name, known)
        job.write_table(TEST, asked)
        job.write_table("strata", pa.table({"item": np.arange(len(items)), "bucket": np.arange(len(items)) % 2}))
        folds = {WARM: {"interactions": len(known)}, TEST: {"interactions": len(asked)}}
        counts = {"users": len(users), "items": len(items), "queries": len(users)}
        job.write_json("summary", counts | {"folds": folds, "shown": [["held out", len(asked)]]})

    def split_checks(self, job, seed, n_kept):
        return query_checks(job, seed, (TEST,))
'''


def sequences(folder):
    rng = np.random.default_rng(1)
    lines = ["user,item,time"]
    for user in range(60):
        items = rng.permutation(40)[: rng.integers(2, 9)]
        lines += [f"u{user},i{item},{1000 + 10 * (place // 2)}" for place, item in enumerate(items.tolist())]
    (folder / "events.csv").write_text("\n".join(lines) + "\n")
    items = [f"i{item},{'ab'[item % 2]}" for item in range(40)]
    (folder / "items.csv").write_text("\n".join(["item,domain", *items]) + "\n")


def catalogue(folder):
    rng = np.random.default_rng(2)
    words = [" ".join(f"w{n}" for n in rng.integers(30, size=6)) for _ in range(30)]
    rows = [f"c{n},{words[n // 2]} x{n},{'' if n % 3 else f'c{n ^ 1}|c{(n + 6) % 60}'}" for n in range(60)]
    (folder / "courses.csv").write_text("\n".join(["item,text,links", *rows]) + "\n")


@pytest.fixture(scope="module")
def protocols(tmp_path_factory):
    folder = tmp_path_factory.mktemp("protocols")
    workspace = Workspace(folder, {}, keep_scores=True)
    sequences(folder)
    catalogue(folder)
    (folder / "own_protocol.py").write_text(COMPLETION)
    events = {"adapter": "table", "interactions": "events.csv", "items": "items.csv", "columns": {"user": "user"}}
    courses = {"adapter": "linked-items", "items": "courses.csv"}
    experiments = {
        "next": {
            "protocol": {"name": "next-item", "domain": "domain", "order": "random"},
            "data": events,
            "content": [{"field": "domain", "as": "categories"}],
            "systems": {"stack": {"min_pairs": 5, "trees": 5}},
            "seeds": [1, 2],
        },
        "links": {
            "protocol": {"name": "related-items", "lens": "held_out_links", "held_out": 0.5},
            "data": courses,
            "content": [{"field": "text", "as": "text"}],
            "seeds": [1],
            "primary": "tfidf",
        },
        "own": {
            "protocol": {"name": "own_protocol:Completion", "share": 0.4},
            "data": events,
            "content": [{"field": "domain", "as": "categories"}],
            "seeds": [1],
            "primary": "popularity",
        },
    }
    (folder / "config.yaml").write_text(yaml.safe_dump({"experiments": experiments}))
    workspace.run()
    return workspace


def board(workspace, name):
    with open(workspace.folder / f"results/{name}/tables/leaderboard.csv", newline="") as stream:
        return {(row["system"], row["fold"], row["metric"]): row["mean"] for row in csv.DictReader(stream)}


def verdict(workspace, name):
    return json.loads((workspace.folder / f"results/{name}/audit/verdict.json").read_text())


def test_a_fourth_protocol_is_one_file_and_gets_everything_that_the_others_get(protocols):
    rows = board(protocols, "own")
    for system in ("popularity", "random", "constant"):
        assert rows[system, "test", "ndcg@10"] and rows[system, "test", "recall@5"]
    assert {fold for _, fold, _ in rows} == {"test"}
    found = verdict(protocols, "own")
    assert found["chosen"] is None and found["primary"] == "popularity" and all(found["checks"].values())
    page = (protocols.folder / "results/own/report/index.html").read_text()
    assert "on the other half" in page and "The other half of what each user took." in page and "test-cold" not in page


def test_the_three_protocols_pass_the_same_audit_and_have_the_same_tables(protocols):
    files = [
        {
            p.relative_to(protocols.folder / "results" / name)
            for p in (protocols.folder / "results" / name).glob("tables/*")
        }
        for name in ("next", "links", "own")
    ]
    assert files[0] == files[1] == files[2] and len(files[0]) > 15
    for name in ("next", "links", "own"):
        assert all(verdict(protocols, name)["checks"].values())
    assert verdict(protocols, "next")["chosen"] in ("popularity", "stack")
    assert (
        board(protocols, "links")["tfidf", "test", "ndcg@10"] > board(protocols, "links")["constant", "test", "ndcg@10"]
    )


def test_non_interference_is_proved_in_both_protocols(protocols):
    targets = [f"results/{name}/audit/noninterference.json" for name in ("next", "links")]
    protocols.run(*targets)
    for target in targets:
        proof = json.loads((protocols.folder / target).read_text())
        assert [check["result"] for check in proof["checks"]] == ["passed", "passed"], proof["checks"]
        assert all(run["labels_changed"] and run["compared"] > 5 for run in proof["runs"].values())
