"""The audit: each planted fault is found by the check that is named after it, and clean runs pass (C1, C2, C3, P3)."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from frostline import audit, content, evaluate, fit_donor, fit_method, score, select, split
from frostline.artifacts import SIDECAR, Job
from frostline.audit.verdict import give_verdict
from frostline.errors import FrostlineError
from frostline.invariants import split_checks, split_files
from frostline.protocols.cold_items import ColdItems
from frostline.results import Results

SEEDS = (1, 2)
SYSTEMS = {
    "random": "control",
    "constant": "control",
    "grouped_popularity_personal": "baseline",
    "als+knn": "system",
    "als+linmap": "system",
}
SPLIT = {
    "kind": "stratified",
    "test": 0.2,
    "val": 0.2,
    "strata": ["category", "popularity"],
    "popularity_buckets": 2,
    "min_interactions": 2,
    "val_folds": 2,
}
CONTENT = {"tags": {"as": "categories"}, "year": {"as": "number"}, "title": {"as": "text"}}
PARAMS = {
    "protocol": "cold-items",
    "words": asdict(ColdItems.words),
    "comparison": None,
    "donors": True,
    "systems": SYSTEMS,
    "seeds": SEEDS,
    "replicates": "draws",
    "folds": ("val", "test"),
    "k": (5,),
    "primary": "ndcg@5",
    "ties": "expected",
    "baseline": "grouped_popularity_personal",
    "split": SPLIT,
    "category": "tags",
    "content": CONTENT,
    "brought": [],
}
IN_TRAIN, OWN_LABELS, ONE_FOLD, LOST, HISTORY, SHARES = (  # C2, C2, C1, C1, C1, C3
    "cold items are not in train",
    "labels hold only their own fold's items",
    "each item is in one fold",
    "no interaction is lost",
    "every query has a history",
    "strata give their shares",
)
LEAK, CHOICE, CHANGED, STALE = (  # C2, C5
    "no label, and no popularity of a cold item, is an ancestor of content, donors, models or scores",
    "no test label is an ancestor of a choice, or of anything before evaluation",
    "every file is what its provenance says",
    "all results descend from the same versions of their inputs",
)
CHECKS = (IN_TRAIN, OWN_LABELS, ONE_FOLD, LOST, HISTORY, SHARES, LEAK, CHOICE, CHANGED, STALE)


def job(run, inputs, outputs, **params):
    run(Job(run.__module__.rpartition(".")[2], inputs, outputs, params))


def put(stage, path, value):
    made = Job(stage, {}, {"it": path})
    made.write_json("it", value) if path.endswith("json") else made.write_table("it", value)


def run_ingest(path="results/ingest", times=False, **extra):
    """Users of two tastes and items of two kinds, so that there is something to learn."""
    rng = np.random.default_rng(0)
    kind, taste = rng.integers(0, 2, 60), rng.integers(0, 2, 50)
    user, item = np.nonzero(rng.random((50, 60)) < np.where(taste[:, None] == kind, 0.3, 0.05))
    table = {"user": [f"u{n:02}" for n in user], "item": [f"i{n:02}" for n in item], "weight": np.ones(len(user))}
    if times:  # items appear one after the other
        table["time"] = 1000 * item + rng.integers(0, 20_000, len(item))
        table["since_first"] = np.zeros(len(item), dtype=np.int64)
    put("ingest", f"{path}/interactions.parquet", pa.table(table))
    tags = [["ab"[k], "x"] if n % 3 else ["ab"[k]] for n, k in enumerate(kind)]
    columns = {"item_id": [f"i{n:02}" for n in range(60)], "tags": tags, "year": [1990.0 + n % 9 for n in range(60)]}
    columns |= {"title": [f"the {'ab'[k]}{n % 7} of {n % 11}" for n, k in enumerate(kind)]} | extra
    put("ingest", f"{path}/items.parquet", pa.table(columns))
    put("ingest", f"{path}/quality.json", {"interactions": {"kept": len(user)}})


def at(seed, name):
    return f"results/seed-{seed}/{name}"


def run_split(seed, **changes):
    names = ("items", "queries", "train", "val", "test", "strata")
    outputs = {name: at(seed, f"split/{name}.parquet") for name in names} | {"summary": at(seed, "split/summary.json")}
    inputs = {"interactions": "results/ingest/interactions.parquet", "catalogue": "results/ingest/items.parquet"}
    job(split.run, inputs, outputs, split=SPLIT | changes, category="tags", seed=seed, protocol="cold-items")


def run_content(seed):
    outputs = {name: at(seed, f"content/{name}.npz") for name in ("warm", "val", "test")}
    inputs = {"catalogue": "results/ingest/items.parquet", "items": at(seed, "split/items.parquet")}
    job(
        content.run,
        inputs,
        outputs | {"vocabulary": at(seed, "content/vocabulary.json")},
        content=CONTENT,
    )


def run_donor(seed, peek=(), factors=4):
    inputs = {name: at(seed, f"split/{name}.parquet") for name in ("train", "items", "queries", *peek)}
    options = {"factors": factors, "iterations": 3}
    job(fit_donor.run, inputs, {"donor": at(seed, "donors/als/donor.npz")}, donor="als", options=options, seed=seed)


def run_system(seed, system, peek=()):
    method = system.rpartition("+")[2]
    folder = at(seed, f"systems/{system}")
    knows = {"queries": at(seed, "split/queries.parquet")}
    if "popularity" in system:
        knows |= {name: at(seed, f"split/{name}.parquet") for name in ("train", "items")}
    if SYSTEMS[system] != "control":
        knows["content"] = at(seed, "content/warm.npz")
    if "+" in system:
        knows["donor0"] = at(seed, "donors/als/donor.npz")
    knows |= {f"peek{number}": path for number, path in enumerate(peek)}
    of = {"method": method, "points": [{"donor": 0, "options": {}}], "seed": seed}
    if method == "linmap":
        job(fit_method.run, knows, {"model": f"{folder}/model.npz"}, **of)
        knows = knows | {"model": f"{folder}/model.npz"}
    cold = {f"cold_{fold}": at(seed, f"content/{fold}.npz") for fold in ("val", "test")}
    job(score.run, knows | cold, {f"scores_{fold}": f"{folder}/{fold}/scores.npy" for fold in ("val", "test")}, **of)
    run_evaluate(seed, system)


def run_evaluate(seed, system):
    folder = at(seed, f"systems/{system}")
    for fold in ("val", "test"):
        inputs = {name: at(seed, f"split/{name}.parquet") for name in ("items", "queries")}
        inputs["history"] = at(seed, "split/train.parquet")
        inputs |= {"labels": at(seed, f"split/{fold}.parquet"), "scores": f"{folder}/{fold}/scores.npy"}
        outputs = {name: f"{folder}/{fold}/{name}.parquet" for name in ("per_query", "per_item")}
        outputs["pooled"] = f"{folder}/{fold}/pooled.json"
        params = {
            "candidates": "fold",
            "k": PARAMS["k"],
            "primary": PARAMS["primary"],
            "ties": "expected",
            "fold": fold,
            "system": system,
            "seed": seed,
        }
        job(evaluate.run, inputs, outputs, **params, **({"val_folds": 2} if fold == "val" else {}))


def run_select(seed, peek=()):
    inputs = {f"pooled[{system}]": at(seed, f"systems/{system}/val/pooled.json") for system in SYSTEMS}
    inputs |= {name: at(seed, f"split/{name}.parquet") for name in peek}
    job(select.run, inputs, {"chosen": at(seed, "chosen.json")}, systems=SYSTEMS, primary=PARAMS["primary"], seed=seed)


def audit_job():
    inputs = {"quality": "results/ingest/quality.json", "catalogue": "results/ingest/items.parquet"}
    for seed in SEEDS:
        inputs |= {f"{fold}_content[{seed}]": at(seed, f"content/{fold}.npz") for fold in ("warm", "test")}
        for name in ("items", "queries", "train", "val", "test", "strata"):
            inputs[f"{name}[{seed}]"] = at(seed, f"split/{name}.parquet")
        inputs[f"summary[{seed}]"], inputs[f"chosen[{seed}]"] = at(seed, "split/summary.json"), at(seed, "chosen.json")
        for system in SYSTEMS:
            for fold in ("val", "test"):
                for name in ("per_query.parquet", "per_item.parquet", "pooled.json"):
                    inputs[f"{name.partition('.')[0]}[{seed},{system},{fold}]"] = at(
                        seed, f"systems/{system}/{fold}/{name}"
                    )
    outputs = ("split", "lineage", "content", "ties", "verdict")
    return Job("audit", inputs, {name: f"results/audit/{name}.json" for name in outputs}, PARAMS)


def run_audit():
    """Names of the checks that fail, with what they say."""
    audit.run(audit_job())
    verdict = json.loads(Path("results/audit/verdict.json").read_text())
    checks = {check["name"]: check for part in verdict["evidence"] for check in part["checks"]}
    judged = {name: check["result"] != "failed" for name, check in checks.items() if check["result"] != "not run"}
    assert verdict["checks"] == judged and {*CHECKS} - {SHARES} < set(judged)
    return {name: check["detail"] for name, check in checks.items() if check["result"] not in ("passed", "not run")}


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """A whole small run, all of it made by the stages themselves."""
    folder = tmp_path_factory.mktemp("clean")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run_ingest()
        for seed in SEEDS:
            run_split(seed)
            run_content(seed)
            run_donor(seed)
            for system in SYSTEMS:
                run_system(seed, system)
            run_select(seed)
    return folder


@pytest.fixture
def place(clean, tmp_path, monkeypatch):
    """A copy of the run to plant faults in, as the working folder."""
    shutil.copytree(clean, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_clean_run_passes_every_check(place):
    assert run_audit() == {}


def test_C2_the_graph_shows_the_arrows_that_a_leak_would_add_to(place):
    run_audit()
    graph = json.loads(Path("results/audit/lineage.json").read_text())["graph"]
    readers = {}
    for edge in graph:
        for file in edge["files"]:
            readers.setdefault((edge["source"], file), set()).add(edge["target"])
    assert readers["split", "test.parquet"] == {"evaluate", "audit"}
    assert readers["ingest", "interactions.parquet"] == {"split"}
    assert readers["split", "strata.parquet"] == {"audit"}
    assert readers["split", "train.parquet"] == {"fit_donor", "score", "evaluate", "audit"}
    assert readers["fit_donor", "donor.npz"] == {"fit_method", "score"}
    assert readers["score", "scores.npy"] == {"evaluate"}


def test_temporary_scores_may_be_gone(place):
    for file in Path("results").rglob("scores.npy*"):
        file.unlink()
    assert run_audit() == {}


def take(table, row):
    return {name: values[row : row + 1] for name, values in table.items()}


def joined(one, other):
    return {name: np.concatenate([one[name], other[name]]) for name in one}


def without(table, row):
    return {name: np.delete(values, row) for name, values in table.items()}


def plant(files, fault):
    fold, items = files["items"]["fold"].copy(), files["items"]
    if fault == "a cold item's interaction is moved to train":
        files["train"] = joined(files["train"], take(files["test"], 0))
        files["test"] = without(files["test"], 0)
    elif fault == "a test label is moved to val":
        files["val"] = joined(files["val"], take(files["test"], 0))
        files["test"] = without(files["test"], 0)
    elif fault == "a val label is moved to test":
        files["test"] = joined(files["test"], take(files["val"], 0))
        files["val"] = without(files["val"], 0)
    elif fault == "a warm interaction is among the labels":
        files["test"] = joined(files["test"], take(files["train"], 0))
        files["train"] = without(files["train"], 0)
    elif fault == "an interaction is lost":
        files["test"] = without(files["test"], 3)
    elif fault == "an interaction is there twice":
        files["train"] = joined(files["train"], take(files["train"], 0))
    elif fault == "users without history are not counted":
        files["left_out"] += 1
    elif fault == "an item is listed twice":
        files["items"] = items | {"item_id": np.concatenate([items["item_id"][:1], items["item_id"][:-1]])}
    elif fault == "items are not sorted":
        files["items"] = items | {"item_id": items["item_id"][::-1]}
    elif fault == "a query has no history":
        files["queries"] = {"query": np.append(files["queries"]["query"], "nobody")}
    elif fault == "a stratum is off its share":
        stratum = files["strata"]["stratum"].copy()
        swap = [
            np.flatnonzero((stratum == label) & (fold == name))
            for label, name in (("a / 0", "test"), ("b / 0", "warm"))
        ]
        stratum[swap[0][:2]], stratum[swap[1][:2]] = "b / 0", "a / 0"
        files["strata"] = files["strata"] | {"stratum": stratum}


@pytest.mark.parametrize(
    "fault, check, says",
    [
        ("none", None, ""),
        ("a cold item's interaction is moved to train", IN_TRAIN, "train holds 1 interactions of cold items"),
        ("a test label is moved to val", OWN_LABELS, "1 interactions in val and 0 in test are of other items"),
        ("a val label is moved to test", OWN_LABELS, "0 interactions in val and 1 in test are of other items"),
        (
            "a warm interaction is among the labels",
            OWN_LABELS,
            "0 interactions in val and 1 in test are of other items",
        ),
        ("an interaction is lost", LOST, "are accounted for"),
        ("an interaction is there twice", LOST, "are accounted for"),
        ("users without history are not counted", LOST, "are accounted for"),
        ("an item is listed twice", ONE_FOLD, "items repeat, are unsorted, or a fold is empty"),
        ("items are not sorted", ONE_FOLD, "items repeat, are unsorted, or a fold is empty"),
        ("a query has no history", HISTORY, "1 queries have none"),
        ("a stratum is off its share", SHARES, "stratum "),
    ],
)
def test_C1_C2_C3_a_fault_in_the_split_is_found_by_its_own_check(fault, check, says, place):
    files = split_files(audit_job(), 1)
    kept = sum(len(files[name]["item"]) for name in ("train", "val", "test"))
    assert kept == json.loads(Path("results/ingest/quality.json").read_text())["interactions"]["kept"]
    plant(files, fault)
    found = {name: problem for name, problem in split_checks(files, kept, PARAMS).items() if problem}
    assert set(found) == ({check} if check else set()) and says in "".join(found.values())


def test_C2_a_fault_in_the_files_reaches_the_verdict(place):
    """As above, but in train.parquet on disk, with the sidecar of an honest split."""
    table = Job("t", {"it": at(2, "split/train.parquet")}, {}).read_table("it")
    items = Job("t", {"it": at(2, "split/items.parquet")}, {}).read_table("it")["fold"].to_pylist()
    row = {"query": [0], "item": [items.index("test")], "weight": [1.0]}
    put("split", at(2, "split/train.parquet"), pa.concat_tables([table, pa.table(row).cast(table.schema)]))
    found = run_audit()
    assert found[IN_TRAIN] == "seed 2: train holds 1 interactions of cold items" and STALE in found


def test_C2_a_donor_that_descends_from_test_labels_is_found(place):
    run_donor(1, peek=["test"])
    for system in ("als+knn", "als+linmap"):
        run_system(1, system)
    run_select(1)
    found = run_audit()
    assert set(found) == {LEAK, CHOICE}
    assert f"{at(1, 'donors/als/donor.npz')} descends from {at(1, 'split/test.parquet')}" in found[LEAK]
    assert "seed-2" not in found[LEAK]


def test_C2_a_leak_is_found_by_the_sidecars_of_its_descendants_alone(place):
    """The donor's own sidecar is put in order again afterwards: too late, what came of it tells."""
    sidecar = Path(at(1, f"donors/als/donor.npz{SIDECAR}"))
    honest = sidecar.read_bytes()
    run_donor(1, peek=["val"])
    for system in ("als+knn", "als+linmap"):
        run_system(1, system)
    run_select(1)
    sidecar.write_bytes(honest)
    found = run_audit()
    assert set(found) == {LEAK} and f"{at(1, 'split/val.parquet')}" in found[LEAK]


def test_C5_a_choice_that_descends_from_test_labels_is_found(place):
    run_select(2, peek=["test"])
    found = run_audit()
    assert set(found) == {CHOICE}
    assert found[CHOICE] == f"{at(2, 'chosen.json')} descends from {at(2, 'split/test.parquet')}"


@pytest.mark.parametrize("file", ["split/test.parquet", "systems/random/val/per_query.parquet", "chosen.json"])
def test_a_changed_file_is_found(file, place):
    path = Path(at(1, file))
    sidecar = Path(f"{path}{SIDECAR}").read_bytes()
    if file.endswith("parquet"):
        put(
            "x", str(path), Job("t", {"it": str(path)}, {}).read_table("it").replace_schema_metadata({"touched": "yes"})
        )
        Path(f"{path}{SIDECAR}").write_bytes(sidecar)
    else:
        path.write_bytes(path.read_bytes() + b"\n")
    found = run_audit()
    assert set(found) == {CHANGED} and found[CHANGED] == str(path)


def test_a_mix_of_old_and_new_results_is_found(place):
    run_donor(1, factors=3)
    run_system(1, "als+knn")  # and not als+linmap
    run_select(1)
    found = run_audit()
    assert set(found) == {STALE} and at(1, "donors/als/donor.npz") in found[STALE]
    run_system(1, "als+linmap")
    run_select(1)
    assert run_audit() == {}


def test_scores_of_an_older_split_are_found(place):
    run_split(1, test=0.25)
    found = run_audit()
    assert STALE in found and at(1, "split/items.parquet") in found[STALE]


def figures(effects, seeds=(1, 2, 3), n_users=150, n_items=60, noise=0.25):
    """Results of systems whose true means are known; users and items vary alike for all of them."""
    per_query, per_item, pooled = {}, {}, {}
    for seed in seeds:
        rng = np.random.default_rng(seed)
        base = rng.random((n_users, n_items)) * noise
        for number, (system, effect) in enumerate(effects.items()):
            level = effect[seed] if isinstance(effect, dict) else effect
            own = base + level + np.random.default_rng([seed, number]).normal(0, noise / 4, (n_users, n_items))
            values, shares = own.mean(axis=1), own.sum(axis=0) / n_items
            per_query[seed, system] = pa.table({"query": [f"u{n}" for n in range(n_users)], "ndcg@5": values})
            relevance = np.full(n_items, n_users / n_items)
            per_item[seed, system] = pa.table(
                {"item": [f"i{n}" for n in range(n_items)], "relevance": relevance, "ndcg@5": shares}
            )
            pooled[seed, system] = {"mean": {"ndcg@5": float(values.mean())}}
    return Results("test", tuple(seeds), tuple(effects), per_query, per_item, pooled)


def verdict(results, chosen, kinds=None, on_val=lambda system, seed: 0.5):
    kinds = {system: "baseline" if system == "base" else "system" for system in results.systems} | (kinds or {})
    params = {"primary": "ndcg@5", "baseline": "base", "seeds": results.seeds, "systems": kinds, "replicates": "draws"}
    params |= {"words": {"decision": "transfer"}}
    choices = {
        seed: {"system": choice, "val": {system: on_val(system, seed) for system in results.systems}}
        for seed, choice in zip(results.seeds, chosen, strict=True)
    }
    return give_verdict(results, choices, params)


def test_P3_of_systems_that_as_many_seeds_chose_the_better_on_val_is_named():
    results = figures({"base": 0.2, "good": 0.3, "better": 0.3}, seeds=(1, 2))
    for better in ("good", "better"):
        found = verdict(
            results, ["good", "better"], on_val=lambda system, seed, best=better: 0.5 + 0.1 * (system == best)
        )
        assert found["chosen"] == better and found["chosen_by_seed"] == {"1": "good", "2": "better"}


def test_P3_a_clear_winner_is_worth_its_transfer():
    results = figures({"base": 0.2, "good": 0.3, "bad": 0.1})
    found = verdict(results, ["good"] * 3)
    assert found["decision"] == "transfer" and 0.05 < found["ci_low"] < found["difference"] < found["ci_high"] < 0.15
    assert found["difference"] == pytest.approx(found["chosen_mean"] - found["baseline_mean"])
    assert (found["chosen"], found["baseline"], found["metric"]) == ("good", "base", "ndcg@5")
    assert found["hindsight"] == {"system": "good", "mean": found["chosen_mean"], "gap": 0}


@pytest.mark.parametrize("effect", [0.2, 0.201, 0.1])
def test_P3_the_baseline_is_kept_where_the_interval_includes_zero(effect):
    results = figures({"base": 0.2, "other": effect})
    found = verdict(results, ["other"] * 3)
    assert found["decision"] == "baseline" and found["ci_low"] <= 0
    assert (found["ci_high"] < 0) == (effect == 0.1)


def test_P3_the_baseline_itself_differs_by_exactly_nothing():
    found = verdict(figures({"base": 0.2, "other": 0.3, "third": 0.1}), ["base"] * 3)
    assert (found["difference"], found["ci_low"], found["ci_high"], found["decision"]) == (0, 0, 0, "baseline")
    assert found["hindsight"]["system"] == "other" and found["hindsight"]["gap"] == pytest.approx(0.1, abs=0.02)


def test_P3_each_seed_is_judged_by_its_own_choice():
    """Rulings 2: what is reported is the mean over seeds of each seed's own choice."""
    results = figures({"base": 0.2, "a": {1: 0.4, 2: 0.0, 3: 0.4}, "b": {1: 0.0, 2: 0.4, 3: 0.0}})
    found = verdict(results, ["a", "b", "a"])
    means = [results.pooled[seed, system]["mean"]["ndcg@5"] for seed, system in ((1, "a"), (2, "b"), (3, "a"))]
    assert found["chosen_mean"] == pytest.approx(np.mean(means)) and found["decision"] == "transfer"
    assert found["chosen"] == "a" and found["chosen_by_seed"] == {"1": "a", "2": "b", "3": "a"}
    assert 0.1 < found["ci_low"] < found["ci_high"] < 0.3
    swapped = verdict(results, ["b", "a", "b"])
    assert swapped["decision"] == "baseline" and swapped["ci_high"] < 0 and swapped["chosen"] == "b"


def test_P3_a_draw_of_votes_goes_by_name_and_hindsight_leaves_out_controls_and_the_oracle():
    effects = {"base": 0.2, "zeta": 0.3, "alpha": 0.25, "oracle": 0.9, "random": 0.8}
    results = figures(effects, seeds=(1, 2))
    found = verdict(results, ["zeta", "alpha"], {"oracle": "oracle", "random": "control"})
    assert found["chosen"] == "alpha" and found["hindsight"]["system"] == "zeta"


def chosen_by(files, figures_, kinds=None):
    systems = {name: "system" for name in figures_} | (kinds or {})
    for name, value in figures_.items():
        files.put(f"{name}.json", {"mean": {"ndcg@5": value}})
    inputs = {f"pooled[{name}]": f"{name}.json" for name in figures_}
    files.run(select.run, inputs, {"chosen": "chosen.json"}, systems=systems, primary="ndcg@5")
    return files.get("chosen.json")


def test_C5_the_choice_is_the_best_on_val_ties_by_name(files):
    assert chosen_by(files, {"b": 0.5, "c": 0.4, "a": 0.5}) == {
        "system": "a",
        "metric": "ndcg@5",
        "val": {"a": 0.5, "b": 0.5, "c": 0.4},
    }


def test_C16_controls_and_the_oracle_are_never_chosen(files):
    kinds = {"random": "control", "oracle": "oracle", "base": "baseline"}
    found = chosen_by(files, {"random": 0.9, "oracle": 1.0, "base": 0.3, "x": 0.2}, kinds)
    assert found["system"] == "base" and set(found["val"]) == {"base", "x"}


def test_a_figure_that_is_undefined_on_val_is_a_clear_error(files):
    with pytest.raises(
        FrostlineError, match=r"ndcg@5 of 'b' is undefined on val-cold items, so nothing can be chosen\. "
    ):
        chosen_by(files, {"a": 0.5, "b": None})
